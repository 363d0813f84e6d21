// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @reduce(%x: tensor<3x14x26xf32>) -> (tensor<3x1x26xf32>, tensor<14xf32>, tensor<f32>, tensor<3x14xi32>) {
  // CHECK: "ttir.sum"{{.*}} <{dim_arg = [1 : i32], keep_dim = true}>
  %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<3x14x26xf32>) -> tensor<3x1x26xf32>
  // CHECK: "ttir.mean"{{.*}} <{dim_arg = [0 : i32, -1 : i32], keep_dim = false}>
  %1 = "ttir.mean"(%x) <{dim_arg = [0 : i32, -1 : i32], keep_dim = false}> : (tensor<3x14x26xf32>) -> tensor<14xf32>
  // CHECK: "ttir.max"{{.*}} <{keep_dim = false}>
  %2 = "ttir.max"(%x) <{keep_dim = false}> : (tensor<3x14x26xf32>) -> tensor<f32>
  // CHECK: "ttir.argmax"{{.*}} <{dim_arg = [2 : i32], keep_dim = false}>
  %3 = "ttir.argmax"(%x) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<3x14x26xf32>) -> tensor<3x14xi32>
  return %0, %1, %2, %3 : tensor<3x1x26xf32>, tensor<14xf32>, tensor<f32>, tensor<3x14xi32>
}
func.func @scan(%x: tensor<8x30xf32>) -> tensor<8x30xf32> {
  // CHECK: "ttir.cumsum"{{.*}} <{dim = 1 : i64}>
  %0 = "ttir.cumsum"(%x) <{dim = 1 : i64}> : (tensor<8x30xf32>) -> tensor<8x30xf32>
  return %0 : tensor<8x30xf32>
}
