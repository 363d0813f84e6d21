// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @embed(%ids: tensor<3x9xi32>, %table: tensor<50x16xbf16>) -> tensor<3x9x16xbf16> {
  // CHECK: ttir.embedding
  %0 = "ttir.embedding"(%ids, %table) : (tensor<3x9xi32>, tensor<50x16xbf16>) -> tensor<3x9x16xbf16>
  return %0 : tensor<3x9x16xbf16>
}
func.func @gather_scatter(%x: tensor<6x20xf32>, %i: tensor<6x4xi32>, %s: tensor<6x4xf32>) -> tensor<6x20xf32> {
  // CHECK: "ttir.gather"{{.*}} <{dim = 1 : i32}>
  %0 = "ttir.gather"(%x, %i) <{dim = 1 : i32}> : (tensor<6x20xf32>, tensor<6x4xi32>) -> tensor<6x4xf32>
  // CHECK: "ttir.scatter"{{.*}} <{dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}>
  %1 = "ttir.scatter"(%x, %i, %0) <{dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}> : (tensor<6x20xf32>, tensor<6x4xi32>, tensor<6x4xf32>) -> tensor<6x20xf32>
  return %1 : tensor<6x20xf32>
}
func.func @order(%x: tensor<5x32xf32>) -> (tensor<5x32xf32>, tensor<5x32xi32>, tensor<5x3xf32>, tensor<5x3xi32>) {
  // CHECK: %values, %indices = "ttir.sort"{{.*}} <{descending = true, dim = 1 : si32, stable = false}>
  %v, %i = "ttir.sort"(%x) <{descending = true, dim = 1 : si32, stable = false}> : (tensor<5x32xf32>) -> (tensor<5x32xf32>, tensor<5x32xi32>)
  // CHECK: "ttir.topk"{{.*}} <{dim = -1 : i32, k = 3 : i32, largest = true, sorted = true}>
  %tv, %ti = "ttir.topk"(%x) <{dim = -1 : i32, k = 3 : i32, largest = true, sorted = true}> : (tensor<5x32xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)
  return %v, %i, %tv, %ti : tensor<5x32xf32>, tensor<5x32xi32>, tensor<5x3xf32>, tensor<5x3xi32>
}
