// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#k = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#r = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @red(%a: tensor<96x128xf32, #x>) -> (tensor<96x1xf32, #k>, tensor<128xf32, #r>) {
  // CHECK: "ttnn.sum"{{.*}} <{dim_arg = [1 : i32], keep_dim = true}>
  %0 = "ttnn.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<96x128xf32, #x>) -> tensor<96x1xf32, #k>
  // CHECK: "ttnn.mean"{{.*}} <{dim_arg = [0 : i32], keep_dim = false}>
  %1 = "ttnn.mean"(%a) <{dim_arg = [0 : i32], keep_dim = false}> : (tensor<96x128xf32, #x>) -> tensor<128xf32, #r>
  // CHECK: "ttnn.softmax"{{.*}} <{dimension = 1 : si32, numericStable = true}>
  %2 = "ttnn.softmax"(%a) <{dimension = 1 : si32, numericStable = true}> : (tensor<96x128xf32, #x>) -> tensor<96x128xf32, #x>
  return %0, %1 : tensor<96x1xf32, #k>, tensor<128xf32, #r>
}
