// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @eltwise(%a: tensor<64x48xf32, #d>, %b: tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d> {
  // CHECK: ttnn.add
  %0 = "ttnn.add"(%a, %b) : (tensor<64x48xf32, #d>, tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: ttnn.multiply
  %1 = "ttnn.multiply"(%0, %b) : (tensor<64x48xf32, #d>, tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: ttnn.divide
  %2 = "ttnn.divide"(%1, %a) : (tensor<64x48xf32, #d>, tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: ttnn.relu
  %3 = "ttnn.relu"(%2) : (tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: "ttnn.leaky_relu"{{.*}} <{parameter = 2.500000e-01 : f32}>
  %4 = "ttnn.leaky_relu"(%3) <{parameter = 2.500000e-01 : f32}> : (tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: "ttnn.pow_scalar"{{.*}} <{rhs = 2.000000e+00 : f32}>
  %5 = "ttnn.pow_scalar"(%4) <{rhs = 2.000000e+00 : f32}> : (tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: ttnn.where
  %6 = "ttnn.where"(%5, %a, %b) : (tensor<64x48xf32, #d>, tensor<64x48xf32, #d>, tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  // CHECK: "ttnn.clamp_scalar"{{.*}} <{max = 4.000000e+00 : f32, min = 0.000000e+00 : f32}>
  %7 = "ttnn.clamp_scalar"(%6) <{max = 4.000000e+00 : f32, min = 0.000000e+00 : f32}> : (tensor<64x48xf32, #d>) -> tensor<64x48xf32, #d>
  return %7 : tensor<64x48xf32, #d>
}
