// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<4x?xf32>, %z: tensor<2xcomplex<f32>>) -> tensor<4x?xi1> {
  // CHECK: chlo.erfc %{{.*}} : tensor<4x?xf32> -> tensor<4x?xf32>
  %0 = chlo.erfc %x : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: chlo.asinh %{{.*}} : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %1 = chlo.asinh %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  // CHECK: chlo.is_inf %{{.*}} : tensor<4x?xf32> -> tensor<4x?xi1>
  %2 = chlo.is_inf %0 : tensor<4x?xf32> -> tensor<4x?xi1>
  return %2 : tensor<4x?xi1>
}

// CHECK-LABEL: @top_k
func.func @top_k(%x: tensor<3x8xbf16>) -> (tensor<3x2xbf16>, tensor<3x2xi32>) {
  // CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  // CHECK: chlo.top_k(%{{.*}}, k = 2, is_stable = false) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  %2, %3 = chlo.top_k(%x, k = 2, is_stable = false) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  return %0, %1 : tensor<3x2xbf16>, tensor<3x2xi32>
}
