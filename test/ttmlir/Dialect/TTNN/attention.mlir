// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#q = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 512 + d1 * 64 + d2, d3), <1x1>, memref<16x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#k = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 256 + d1 * 64 + d2, d3), <1x1>, memref<8x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @sdpa(%q: tensor<1x8x64x64xbf16, #q>, %k: tensor<1x4x64x64xbf16, #k>, %v: tensor<1x4x64x64xbf16, #k>) -> tensor<1x8x64x64xbf16, #q> {
  // CHECK: "ttnn.scaled_dot_product_attention"{{.*}} <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.250000e-01 : f32}>
  %0 = "ttnn.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.250000e-01 : f32}> : (tensor<1x8x64x64xbf16, #q>, tensor<1x4x64x64xbf16, #k>, tensor<1x4x64x64xbf16, #k>) -> tensor<1x8x64x64xbf16, #q>
  return %0 : tensor<1x8x64x64xbf16, #q>
}
