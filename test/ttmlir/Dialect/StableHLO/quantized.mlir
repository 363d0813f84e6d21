// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --emit-portable-artifact | ttmlir-opt - | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-legalize-quant-to-math | FileCheck %s --check-prefix=MATH

!q = !quant.uniform<i8:f32, 0.5:3>
!fine = !quant.uniform<i8:f32, 0.0625>
!rows = !quant.uniform<i8:f32:0, {0.5, 0.25:2, 1.5}>
!columns = !quant.uniform<i8:f32:1, {0.5, 0.25:2, 1.5}>

// MATH-NOT: !quant
// CHECK-LABEL: @elementwise
// MATH-LABEL: func.func @elementwise(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi8>) -> tensor<2x3xi8>
func.func @elementwise(%x: tensor<2x3xf32>, %w: tensor<2x3x!q>) -> tensor<2x3x!fine> {
  // CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  // MATH: stablehlo.divide
  // MATH: stablehlo.round_nearest_even
  // MATH: stablehlo.convert %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!q>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 6.250000e-02>>
  %1 = stablehlo.add %0, %w : (tensor<2x3x!q>, tensor<2x3x!q>) -> tensor<2x3x!fine>
  return %1 : tensor<2x3x!fine>
}

// Scales of a dimension go with it; integers are moved.
// CHECK-LABEL: @movement
// MATH-LABEL: @movement
func.func @movement(%x: tensor<3x2x!rows>) -> tensor<2x3x!columns> {
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<3x2x!quant.uniform<i8:f32:0, {{.*}}>>) -> tensor<2x3x!quant.uniform<i8:f32:1, {{.*}}>>
  // MATH-NEXT: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<3x2xi8>) -> tensor<2x3xi8>
  // MATH-NEXT: return
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x2x!rows>) -> tensor<2x3x!columns>
  return %0 : tensor<2x3x!columns>
}

// CHECK-LABEL: @dequantize
// MATH-LABEL: @dequantize
func.func @dequantize(%x: tensor<4x!quant.uniform<u8<1:254>:f32, 0.5:128>>) -> tensor<4xf32> {
  // CHECK: stablehlo.uniform_dequantize %{{.*}} : (tensor<4x!quant.uniform<u8<1:254>:f32, 5.000000e-01:128>>) -> tensor<4xf32>
  // MATH: stablehlo.subtract
  // MATH: stablehlo.multiply
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<u8<1:254>:f32, 0.5:128>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @constant
// MATH-LABEL: @constant
func.func @constant() -> tensor<3x!rows> {
  // CHECK: stablehlo.constant() {value = dense<[1, 2, -3]> : tensor<3xi8>} : () -> tensor<3x!quant.uniform<i8:f32:0, {{.*}}>>
  // MATH: stablehlo.constant dense<[1, 2, -3]> : tensor<3xi8>
  %0 = stablehlo.constant() {value = dense<[1, 2, -3]> : tensor<3xi8>} : () -> tensor<3x!rows>
  return %0 : tensor<3x!rows>
}
