// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @casts(%x: tensor<6x12xf32>, %i: tensor<6x12xi32>) -> tensor<6x12xi32> {
  // CHECK: "ttir.typecast"{{.*}} <{conservative_folding = false}>
  %0 = "ttir.typecast"(%x) <{conservative_folding = false}> : (tensor<6x12xf32>) -> tensor<6x12xi32>
  // CHECK: ttir.bitwise_and
  %1 = "ttir.bitwise_and"(%0, %i) : (tensor<6x12xi32>, tensor<6x12xi32>) -> tensor<6x12xi32>
  // CHECK: ttir.logical_left_shift
  %2 = "ttir.logical_left_shift"(%1, %i) : (tensor<6x12xi32>, tensor<6x12xi32>) -> tensor<6x12xi32>
  // CHECK: ttir.bitcast_convert
  %3 = "ttir.bitcast_convert"(%x) : (tensor<6x12xf32>) -> tensor<6x12xi32>
  // CHECK: ttir.bitwise_xor
  %4 = "ttir.bitwise_xor"(%2, %3) : (tensor<6x12xi32>, tensor<6x12xi32>) -> tensor<6x12xi32>
  return %4 : tensor<6x12xi32>
}
