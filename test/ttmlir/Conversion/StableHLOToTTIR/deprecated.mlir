// RUN: ttmlir-opt %s --convert-stablehlo-to-ttir | FileCheck %s --implicit-check-not=stablehlo.

// Ops that newer ones replace are lowered without a pass before.

// CHECK-LABEL: @dot
func.func @dot(%m: tensor<8x20xf32>, %n: tensor<20x7xf32>) -> tensor<8x7xf32> {
  // CHECK: "ttir.matmul"(%arg0, %arg1)
  %0 = stablehlo.dot %m, %n : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  return %0 : tensor<8x7xf32>
}

// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<3xf32>) -> tensor<2x4x3xf32> {
  // CHECK: "ttir.reshape"(%arg0)
  // CHECK: "ttir.broadcast"
  %0 = stablehlo.broadcast %x, sizes = [2, 4] : (tensor<3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: @einsum
func.func @einsum(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
  // CHECK: "ttir.matmul"
  %0 = stablehlo.einsum %x, %y, config = "ij,kj->ik" : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
