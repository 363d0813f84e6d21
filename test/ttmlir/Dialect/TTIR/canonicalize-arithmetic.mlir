// RUN: ttmlir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @laws
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK-NEXT: %[[R:.*]] = "ttir.relu"(%[[X]])
// CHECK-NEXT: return %[[R]], %[[X]], %[[X]], %[[I]], %[[I]]
func.func @laws(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = "ttir.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.neg"(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "ttir.maximum"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = "ttir.bitwise_not"(%i) : (tensor<4xi32>) -> tensor<4xi32>
  %6 = "ttir.bitwise_not"(%5) : (tensor<4xi32>) -> tensor<4xi32>
  %7 = "ttir.bitwise_and"(%i, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1, %3, %4, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// The first op rounds, or makes another shape; a number is not what is made 0 or 1 of it; -x of an unsigned x wraps.
// CHECK-LABEL: @no_laws
// CHECK: ttir.neg{{.*}} -> tensor<4xbf16>
// CHECK: ttir.neg
// CHECK: ttir.maximum
// CHECK: ttir.logical_and
// CHECK: ttir.neg
// CHECK: ttir.neg
// CHECK: return
func.func @no_laws(%x: tensor<4xf32>, %u: tensor<4xui32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xui32>) {
  %0 = "ttir.neg"(%x) : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = "ttir.neg"(%0) : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = "ttir.maximum"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xbf16>
  %3 = "ttir.logical_and"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "ttir.neg"(%u) : (tensor<4xui32>) -> tensor<4xui32>
  %5 = "ttir.neg"(%4) : (tensor<4xui32>) -> tensor<4xui32>
  return %1, %2, %3, %5 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xui32>
}

// CHECK-LABEL: @neutral
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[I]], %[[I]], %[[I]], %[[I]]
func.func @neutral(%x: tensor<2x4xf32>, %i: tensor<4xi32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %minus = "ttir.constant"() <{value = dense<-0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "ttir.zeros"() <{shape = array<i32: 1, 4>}> : () -> tensor<1x4xf32>
  %one = "ttir.ones"() <{shape = array<i32: 2, 4>}> : () -> tensor<2x4xf32>
  %zeros = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xi32>
  %bits = "ttir.full"() <{shape = array<i32: 1>, fill_value = -1 : i32}> : () -> tensor<1xi32>
  %0 = "ttir.add"(%minus, %x) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "ttir.subtract"(%x, %zero) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %2 = "ttir.multiply"(%one, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = "ttir.div"(%x, %one) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = "ttir.add"(%i, %zeros) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %5 = "ttir.bitwise_and"(%i, %bits) : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
  %6 = "ttir.bitwise_xor"(%zeros, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %7 = "ttir.logical_left_shift"(%i, %zeros) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// -0.0 + 0.0 is 0.0, and x - -0.0 is x + 0.0; 0 - x is -x; NaN * 0 is NaN; the result may be larger or be rounded.
// CHECK-LABEL: @not_neutral
// CHECK: ttir.add
// CHECK: ttir.subtract
// CHECK: ttir.subtract
// CHECK: ttir.multiply
// CHECK: ttir.multiply
// CHECK: ttir.div
// CHECK: ttir.subtract
// CHECK: return
func.func @not_neutral(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xbf16>, tensor<4xf32>) {
  %zero = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %minus = "ttir.full"() <{shape = array<i32: 4>, fill_value = -0.0 : f32}> : () -> tensor<4xf32>
  %row = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %one = "ttir.ones"() <{shape = array<i32: 2, 4>}> : () -> tensor<2x4xf32>
  %0 = "ttir.add"(%x, %zero) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.subtract"(%x, %minus) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.subtract"(%zero, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.multiply"(%x, %zero) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "ttir.multiply"(%x, %one) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = "ttir.div"(%x, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xbf16>
  %6 = "ttir.subtract"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: @integers_cancel
// CHECK-DAG: %[[Z:.*]] = "ttir.{{zeros|full}}"
// CHECK-NEXT: return %[[Z]], %[[Z]], %[[Z]]
func.func @integers_cancel(%i: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %zeros = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xi32>
  %0 = "ttir.subtract"(%i, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = "ttir.bitwise_xor"(%i, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = "ttir.multiply"(%zeros, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: @selections
// CHECK-SAME: (%[[C:.*]]: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[A]], %[[A]], %[[B]]
func.func @selections(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = "ttir.ones"() <{shape = array<i32: 1>}> : () -> tensor<1xi1>
  %false = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xi1>
  %0 = "ttir.where"(%c, %a, %a) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.where"(%true, %a, %b) : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.where"(%false, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @clamps
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[A:.*]] = "ttir.clamp_scalar"(%[[X]]) <{max = 5.000000e+00 : f32, min = 1.000000e+00 : f32}>
// CHECK-DAG: %[[B:.*]] = "ttir.clamp_scalar"(%[[X]]) <{max = 3.000000e+00 : f32, min = 3.000000e+00 : f32}>
// CHECK-DAG: %[[T:.*]] = "ttir.clamp_scalar"(%[[X]]) <{max = 2.000000e+00 : f32, min = 0.000000e+00 : f32}>
// CHECK: return %[[X]], %[[A]], %[[B]], %[[T]]
func.func @clamps(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %two = "ttir.full"() <{shape = array<i32: 1>, fill_value = 2.0 : f32}> : () -> tensor<1xf32>
  %0 = "ttir.clamp_scalar"(%x) <{min = 0xFF800000 : f32, max = 0x7F800000 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.clamp_scalar"(%x) <{min = 0.0 : f32, max = 5.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.clamp_scalar"(%1) <{min = 1.0 : f32, max = 9.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.clamp_scalar"(%x) <{min = 5.0 : f32, max = 6.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "ttir.clamp_scalar"(%3) <{min = 1.0 : f32, max = 3.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "ttir.clamp_tensor"(%x, %zero, %two) : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0, %2, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Limits in the wrong order give the upper one, so they do not merge; nor do limits of another shape's tensor, and zeros
// of both signs.
// CHECK-LABEL: @clamps_that_stay
// CHECK: clamp_scalar{{.*}}max = 0.0{{.*}}min = 5.0
// CHECK: clamp_scalar{{.*}}max = 9.0{{.*}}min = 1.0
// CHECK: clamp_tensor
// CHECK: clamp_scalar{{.*}}max = 6.0{{.*}}min = -0.0
// CHECK: clamp_scalar{{.*}}max = 4.0{{.*}}min = 0.0
func.func @clamps_that_stay(%x: tensor<4xf32>, %low: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %0 = "ttir.clamp_scalar"(%x) <{min = 5.0 : f32, max = 0.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.clamp_scalar"(%0) <{min = 1.0 : f32, max = 9.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.clamp_tensor"(%x, %low, %one) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.clamp_scalar"(%x) <{min = -0.0 : f32, max = 6.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "ttir.clamp_scalar"(%3) <{min = 0.0 : f32, max = 4.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @linear
// CHECK: "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}>
func.func @linear(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %0 = "ttir.linear"(%a, %b) <{transpose_a = false, transpose_b = true}> : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
