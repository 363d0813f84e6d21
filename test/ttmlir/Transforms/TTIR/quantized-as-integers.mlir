// RUN: ttmlir-opt %s "--pass-pipeline=builtin.module(func.func(ttir-quantized-as-integers))" --split-input-file | FileCheck %s

!q = !quant.uniform<i8:f32, 2.500000e-01:3>
!r = !quant.uniform<i32:f32, 5.000000e-01>

// CHECK-LABEL: @casts
// CHECK-SAME: (%arg0: tensor<4x28xf32>) -> (tensor<28x4xi32>, tensor<4x28xf32>)
// CHECK-DAG: %[[S:.*]] = "ttir.constant"() <{value = dense<2.500000e-01> : tensor<1xf32>}>
// CHECK-DAG: %[[Z:.*]] = "ttir.constant"() <{value = dense<3> : tensor<1xi32>}>
// CHECK: %[[A:.*]] = "ttir.quantize_unrolled"(%arg0, %[[S]], %[[Z]]) : (tensor<4x28xf32>, tensor<1xf32>, tensor<1xi32>) -> tensor<4x28xi32>
// CHECK-NEXT: %[[B:.*]] = "ttir.clamp_scalar"(%[[A]]) <{max = 127 : i32, min = -128 : i32}>
// CHECK-NEXT: %[[T:.*]] = "ttir.permute"(%[[B]]) {{.*}} -> tensor<28x4xi32>
// CHECK: %[[D:.*]] = "ttir.dequantize_unrolled"(%[[B]]
// Integers of 32 bits need no clamp.
// CHECK: %[[E:.*]] = "ttir.quantize_unrolled"(%[[D]]
// CHECK-NOT: clamp
// CHECK: %[[F:.*]] = "ttir.dequantize_unrolled"(%[[E]]
// CHECK-NEXT: return %[[T]], %[[F]]
func.func @casts(%x: tensor<4x28xf32>) -> (tensor<28x4x!q>, tensor<4x28xf32>) {
  %0 = "ttir.quantize"(%x) : (tensor<4x28xf32>) -> tensor<4x28x!q>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x28x!q>) -> tensor<28x4x!q>
  %2 = "ttir.requantize"(%0) : (tensor<4x28x!q>) -> tensor<4x28x!r>
  %3 = "ttir.dequantize"(%2) : (tensor<4x28x!r>) -> tensor<4x28xf32>
  return %1, %3 : tensor<28x4x!q>, tensor<4x28xf32>
}

// -----

!q = !quant.uniform<i8:f32, 2.500000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01:1}>

// Other ops compute with the numbers; scales of a dimension are those of its indices.
// CHECK-LABEL: @computed
// CHECK-SAME: (%arg0: tensor<2x8xi32>, %arg1: tensor<2x8xi32>) -> tensor<2x8xi32>
// CHECK: %[[A:.*]] = "ttir.dequantize_unrolled"(%arg0, {{.*}}) : (tensor<2x8xi32>, tensor<1xf32>, tensor<1xi32>) -> tensor<2x8xf32>
// CHECK: %[[B:.*]] = "ttir.dequantize_unrolled"(%arg1, {{.*}}) <{axis = 0 : i32}> : (tensor<2x8xi32>, tensor<2xf32>, tensor<2xi32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[C:.*]] = "ttir.add"(%[[A]], %[[B]]) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK: %[[D:.*]] = "ttir.quantize_unrolled"(%[[C]]
// CHECK: "ttir.clamp_scalar"(%[[D]])
// CHECK-NEXT: return
func.func @computed(%a: tensor<2x8x!q>, %b: tensor<2x8x!c>) -> tensor<2x8x!q> {
  %0 = "ttir.add"(%a, %b) : (tensor<2x8x!q>, tensor<2x8x!c>) -> tensor<2x8x!q>
  return %0 : tensor<2x8x!q>
}

// -----

!q = !quant.uniform<i8:f32, 2.500000e-01:3>
!u = !quant.uniform<u8:f32, 2.500000e-01:3>

// A constant holds the integers, not the numbers.
// CHECK-LABEL: @constants
// CHECK: "ttir.constant"() <{value = dense<[-1, 1]> : tensor<2xi32>}> : () -> tensor<2xi32>
// CHECK: "ttir.constant"() <{value = dense<[255, 1]> : tensor<2xi32>}> : () -> tensor<2xi32>
// CHECK-NEXT: return
func.func @constants() -> (tensor<2x!q>, tensor<2x!u>) {
  %0 = "ttir.constant"() <{value = dense<[-1, 1]> : tensor<2xi8>}> : () -> tensor<2x!q>
  %1 = "ttir.constant"() <{value = dense<[255, 1]> : tensor<2xui8>}> : () -> tensor<2x!u>
  return %0, %1 : tensor<2x!q>, tensor<2x!u>
}

// -----

!q = !quant.uniform<i8:f32, 2.500000e-01:3>

// The numbers are computed once, for all that read them.
// CHECK-LABEL: @once
// CHECK: %[[A:.*]] = "ttir.dequantize_unrolled"(%arg0
// CHECK-NOT: dequantize_unrolled
// CHECK: "ttir.add"(%[[A]], %[[A]])
// CHECK-NOT: dequantize_unrolled
// CHECK: "ttir.multiply"(%[[A]], %{{.*}})
// CHECK-NOT: dequantize_unrolled
// CHECK: return
func.func @once(%a: tensor<2x8x!q>, %x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = "ttir.add"(%a, %a) : (tensor<2x8x!q>, tensor<2x8x!q>) -> tensor<2x8xf32>
  %1 = "ttir.multiply"(%a, %x) : (tensor<2x8x!q>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}
