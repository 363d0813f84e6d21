// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @mm(%a: tensor<5x48x20xbf16>, %b: tensor<5x20x28xbf16>, %w: tensor<12x28xbf16>, %bias: tensor<12xbf16>) -> tensor<5x48x12xbf16> {
  // CHECK: "ttir.matmul"{{.*}} <{transpose_a = false, transpose_b = false}>
  %0 = "ttir.matmul"(%a, %b) <{transpose_a = false, transpose_b = false}> : (tensor<5x48x20xbf16>, tensor<5x20x28xbf16>) -> tensor<5x48x28xbf16>
  // CHECK: "ttir.linear"{{.*}} <{transpose_a = false, transpose_b = true}>
  %1 = "ttir.linear"(%0, %w, %bias) <{transpose_a = false, transpose_b = true}> : (tensor<5x48x28xbf16>, tensor<12x28xbf16>, tensor<12xbf16>) -> tensor<5x48x12xbf16>
  return %1 : tensor<5x48x12xbf16>
}
func.func @mm_defaults(%a: tensor<7x9xf32>, %b: tensor<9x4xf32>) -> tensor<7x4xf32> {
  // CHECK: "ttir.matmul"{{.*}} <{transpose_a = false, transpose_b = false}>
  %0 = "ttir.matmul"(%a, %b) : (tensor<7x9xf32>, tensor<9x4xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}
func.func @dot_general(%a: tensor<6x11x13xf32>, %b: tensor<6x13x17xf32>) -> tensor<6x11x17xf32> {
  // CHECK: "ttir.dot_general"{{.*}} <{batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 1>}>
  %0 = "ttir.dot_general"(%a, %b) <{batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 1>}> : (tensor<6x11x13xf32>, tensor<6x13x17xf32>) -> tensor<6x11x17xf32>
  return %0 : tensor<6x11x17xf32>
}
