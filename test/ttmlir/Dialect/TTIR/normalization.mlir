// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @norms(%x: tensor<2x10x40xf32>, %w: tensor<40xf32>, %b: tensor<40xf32>) -> tensor<2x10x40xf32> {
  // CHECK: "ttir.softmax"{{.*}} <{dimension = -1 : si32, numericStable = true}>
  %0 = "ttir.softmax"(%x) <{dimension = -1 : si32, numericStable = true}> : (tensor<2x10x40xf32>) -> tensor<2x10x40xf32>
  // CHECK: "ttir.layer_norm"{{.*}} <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 40>, operandSegmentSizes = array<i32: 1, 1, 1>}>
  %1 = "ttir.layer_norm"(%0, %w, %b) <{epsilon = 1.000000e-05 : f32, normalized_shape = array<i64: 40>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<2x10x40xf32>, tensor<40xf32>, tensor<40xf32>) -> tensor<2x10x40xf32>
  // CHECK: "ttir.rms_norm"{{.*}} <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 40>, operandSegmentSizes = array<i32: 1, 1, 0>}>
  %2 = "ttir.rms_norm"(%1, %w) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 40>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x10x40xf32>, tensor<40xf32>) -> tensor<2x10x40xf32>
  return %2 : tensor<2x10x40xf32>
}
func.func @bn(%x: tensor<2x12x6x6xf32>, %s: tensor<12xf32>, %o: tensor<12xf32>, %m: tensor<12xf32>, %v: tensor<12xf32>) -> tensor<2x12x6x6xf32> {
  // CHECK: "ttir.batch_norm_inference"{{.*}} <{dimension = 1 : i32, epsilon = 1.000000e-03 : f32}>
  %0 = "ttir.batch_norm_inference"(%x, %s, %o, %m, %v) <{dimension = 1 : i32, epsilon = 1.000000e-03 : f32}> : (tensor<2x12x6x6xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<2x12x6x6xf32>
  return %0 : tensor<2x12x6x6xf32>
}
