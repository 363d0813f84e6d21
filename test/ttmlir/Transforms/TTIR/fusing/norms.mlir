// RUN: ttmlir-opt %s --ttir-fusing --split-input-file | FileCheck %s

// The form of Llama: in f32, rounded, and then times the weight.
// CHECK-LABEL: @llama
// CHECK-NEXT: %[[Y:.*]] = "ttir.rms_norm"(%arg0, %arg1) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 64>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x8x64xbf16>, tensor<64xbf16>) -> tensor<2x8x64xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @llama(%x: tensor<2x8x64xbf16>, %w: tensor<64xbf16>) -> tensor<2x8x64xbf16> {
  %two = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %eps = "ttir.full"() <{fill_value = 1.0e-5 : f32, shape = array<i32: 1, 1, 1>}> : () -> tensor<1x1x1xf32>
  %0 = "ttir.typecast"(%x) : (tensor<2x8x64xbf16>) -> tensor<2x8x64xf32>
  %1 = "ttir.pow"(%0, %two) : (tensor<2x8x64xf32>, tensor<1xf32>) -> tensor<2x8x64xf32>
  %2 = "ttir.mean"(%1) <{dim_arg = [-1 : i32], keep_dim = true}> : (tensor<2x8x64xf32>) -> tensor<2x8x1xf32>
  %3 = "ttir.add"(%2, %eps) : (tensor<2x8x1xf32>, tensor<1x1x1xf32>) -> tensor<2x8x1xf32>
  %4 = "ttir.rsqrt"(%3) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
  %5 = "ttir.multiply"(%0, %4) : (tensor<2x8x64xf32>, tensor<2x8x1xf32>) -> tensor<2x8x64xf32>
  %6 = "ttir.typecast"(%5) : (tensor<2x8x64xf32>) -> tensor<2x8x64xbf16>
  %7 = "ttir.multiply"(%w, %6) : (tensor<64xbf16>, tensor<2x8x64xbf16>) -> tensor<2x8x64xbf16>
  return %7 : tensor<2x8x64xbf16>
}

// -----

// As a sum, shaped and broadcast, over two dimensions; a quotient of a root; and a weight that is broadcast.
// CHECK-LABEL: @forms
// CHECK: "ttir.rms_norm"(%arg0) <{epsilon = 1.250000e-01 : f32, normalized_shape = array<i64: 8, 64>, operandSegmentSizes = array<i32: 1, 0, 0>}>
// CHECK-NEXT: %[[W:.*]] = "ttir.reshape"(%arg1) <{shape = [64 : i32]}>
// CHECK-NEXT: "ttir.rms_norm"(%arg0, %[[W]]) <{epsilon = 1.250000e-01 : f32, normalized_shape = array<i64: 64>, operandSegmentSizes = array<i32: 1, 1, 0>}>
// CHECK-NEXT: return
func.func @forms(%x: tensor<2x8x64xf32>, %w: tensor<1x1x64xf32>) -> (tensor<2x8x64xf32>, tensor<2x8x64xf32>) {
  %n = "ttir.full"() <{fill_value = 0.001953125 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %eps = "ttir.full"() <{fill_value = 0.125 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.multiply"(%x, %x) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32, 2 : i32], keep_dim = false}> : (tensor<2x8x64xf32>) -> tensor<2xf32>
  %2 = "ttir.multiply"(%1, %n) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %3 = "ttir.reshape"(%2) <{shape = [2 : i32, 1 : i32, 1 : i32]}> : (tensor<2xf32>) -> tensor<2x1x1xf32>
  %4 = "ttir.add"(%3, %eps) : (tensor<2x1x1xf32>, tensor<1xf32>) -> tensor<2x1x1xf32>
  %5 = "ttir.rsqrt"(%4) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %6 = "ttir.broadcast"(%5) <{broadcast_dimensions = array<i64: 1, 8, 64>}> : (tensor<2x1x1xf32>) -> tensor<2x8x64xf32>
  %7 = "ttir.multiply"(%6, %x) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %8 = "ttir.square"(%x) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %9 = "ttir.mean"(%8) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<2x8x64xf32>) -> tensor<2x8x1xf32>
  %10 = "ttir.add"(%9, %eps) : (tensor<2x8x1xf32>, tensor<1xf32>) -> tensor<2x8x1xf32>
  %11 = "ttir.sqrt"(%10) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
  %12 = "ttir.div"(%x, %11) : (tensor<2x8x64xf32>, tensor<2x8x1xf32>) -> tensor<2x8x64xf32>
  %13 = "ttir.broadcast"(%w) <{broadcast_dimensions = array<i64: 2, 8, 1>}> : (tensor<1x1x64xf32>) -> tensor<2x8x64xf32>
  %14 = "ttir.multiply"(%12, %13) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return %7, %14 : tensor<2x8x64xf32>, tensor<2x8x64xf32>
}

// -----

// Another value's square, columns, a mean that something else reads, and a sum that is no mean.
// CHECK-LABEL: @none
// CHECK-NOT: rms_norm
func.func @none(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x8xf32>) {
  %eps = "ttir.full"() <{fill_value = 0.125 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.multiply"(%y, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %2 = "ttir.add"(%1, %eps) : (tensor<8x1xf32>, tensor<1xf32>) -> tensor<8x1xf32>
  %3 = "ttir.rsqrt"(%2) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %4 = "ttir.multiply"(%x, %3) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %5 = "ttir.multiply"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = "ttir.mean"(%5) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %7 = "ttir.add"(%6, %eps) : (tensor<1x8xf32>, tensor<1xf32>) -> tensor<1x8xf32>
  %8 = "ttir.rsqrt"(%7) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %9 = "ttir.multiply"(%x, %8) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %10 = "ttir.multiply"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %11 = "ttir.mean"(%10) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %12 = "ttir.add"(%11, %eps) : (tensor<8x1xf32>, tensor<1xf32>) -> tensor<8x1xf32>
  %13 = "ttir.rsqrt"(%12) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %14 = "ttir.multiply"(%x, %13) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %15 = "ttir.multiply"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %16 = "ttir.sum"(%15) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %17 = "ttir.add"(%16, %eps) : (tensor<8x1xf32>, tensor<1xf32>) -> tensor<8x1xf32>
  %18 = "ttir.rsqrt"(%17) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %19 = "ttir.multiply"(%x, %18) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %4, %9, %14, %11, %19 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x8xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK-NEXT: "ttir.softmax"(%arg0) <{dimension = 1 : si32, numericStable = true}>
// CHECK: "ttir.div"
// CHECK-NEXT: return
func.func @softmax(%x: tensor<4x8x2xf32>) -> (tensor<4x8x2xf32>, tensor<4x8x2xf32>) {
  %least = "ttir.full"() <{fill_value = 0xFF800000 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
  %0 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  %1 = "ttir.maximum"(%0, %least) : (tensor<4x2xf32>, tensor<1x1xf32>) -> tensor<4x2xf32>
  %2 = "ttir.reshape"(%1) <{shape = [4 : i32, 1 : i32, 2 : i32]}> : (tensor<4x2xf32>) -> tensor<4x1x2xf32>
  %3 = "ttir.subtract"(%x, %2) : (tensor<4x8x2xf32>, tensor<4x1x2xf32>) -> tensor<4x8x2xf32>
  %4 = "ttir.exp"(%3) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
  %5 = "ttir.sum"(%4) <{dim_arg = [-2 : i32], keep_dim = true}> : (tensor<4x8x2xf32>) -> tensor<4x1x2xf32>
  %6 = "ttir.div"(%4, %5) : (tensor<4x8x2xf32>, tensor<4x1x2xf32>) -> tensor<4x8x2xf32>
  // Without the greatest value before, large powers are infinite.
  %7 = "ttir.exp"(%x) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
  %8 = "ttir.sum"(%7) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8x2xf32>) -> tensor<4x1x2xf32>
  %9 = "ttir.div"(%7, %8) : (tensor<4x8x2xf32>, tensor<4x1x2xf32>) -> tensor<4x8x2xf32>
  return %6, %9 : tensor<4x8x2xf32>, tensor<4x8x2xf32>
}

// -----

// What is rounded to integers before it is weighted is not a weighted norm.
// CHECK-LABEL: @integers
// CHECK-NEXT: "ttir.rms_norm"(%arg0)
// CHECK-NEXT: "ttir.typecast"
// CHECK-NEXT: "ttir.multiply"
func.func @integers(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xi32> {
  %0 = "ttir.rms_norm"(%x) <{normalized_shape = array<i64: 8>, epsilon = 1.0e-6 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.typecast"(%0) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  %2 = "ttir.multiply"(%1, %w) : (tensor<4x8xi32>, tensor<8xf32>) -> tensor<4x8xi32>
  return %2 : tensor<4x8xi32>
}

// -----

// CHECK-LABEL: @layer_norm
// CHECK-NEXT: "ttir.layer_norm"(%arg0, %arg1, %arg2) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 8>
// CHECK-NEXT: "ttir.layer_norm"(%arg0) <{epsilon
// What is added to each element is no bias.
// CHECK-NEXT: "ttir.add"
// CHECK-NEXT: return
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %epsilon = "ttir.full"() <{fill_value = 1.0e-05 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
  %0 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = "ttir.subtract"(%x, %0) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = "ttir.multiply"(%1, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = "ttir.add"(%3, %epsilon) : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %5 = "ttir.sqrt"(%4) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = "ttir.div"(%1, %5) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %7 = "ttir.multiply"(%6, %w) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %8 = "ttir.reshape"(%b) <{shape = [1 : i32, 8 : i32]}> : (tensor<8xf32>) -> tensor<1x8xf32>
  %9 = "ttir.add"(%8, %7) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = "ttir.layer_norm"(%x) <{normalized_shape = array<i64: 8>, epsilon = 1.0e-6 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = "ttir.add"(%10, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %9, %11 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The mean is over other dimensions than the norm, or something else uses the difference.
// CHECK-LABEL: @no_layer_norm
// CHECK-COUNT-2: "ttir.rms_norm"
// CHECK-NOT: "ttir.layer_norm"
func.func @no_layer_norm(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %epsilon = "ttir.full"() <{fill_value = 1.0e-05 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
  %0 = "ttir.mean"(%x) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %1 = "ttir.subtract"(%x, %0) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.multiply"(%1, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %4 = "ttir.add"(%3, %epsilon) : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %5 = "ttir.sqrt"(%4) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %6 = "ttir.div"(%1, %5) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %7 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %8 = "ttir.subtract"(%x, %7) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %9 = "ttir.multiply"(%8, %8) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %10 = "ttir.mean"(%9) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %11 = "ttir.add"(%10, %epsilon) : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %12 = "ttir.rsqrt"(%11) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %13 = "ttir.multiply"(%8, %12) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %6, %8, %13 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
