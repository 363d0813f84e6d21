// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#i = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x10xui32, #dram>, <interleaved>>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<70x128xbf16, #dram>, <interleaved>>
#e = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 10 + d1, d2), <1x1>, memref<20x128xbf16, #dram>, <interleaved>>
func.func @f(%x: tensor<64x128xbf16, #x>, %w: tensor<128xbf16, #w>, %b: tensor<128xbf16, #w>, %ids: tensor<2x10xui32, #i>, %table: tensor<70x128xbf16, #t>) -> tensor<2x10x128xbf16, #e> {
  // CHECK: "ttnn.rms_norm"{{.*}} <{epsilon = 9.99999974E-6 : f32, operandSegmentSizes = array<i32: 1, 1, 0>}>
  %0 = "ttnn.rms_norm"(%x, %w) <{epsilon = 1.000000e-05 : f32, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x128xbf16, #x>, tensor<128xbf16, #w>) -> tensor<64x128xbf16, #x>
  // CHECK: "ttnn.layer_norm"{{.*}} <{epsilon = 9.99999996E-13 : f32, operandSegmentSizes = array<i32: 1, 1, 1>}>
  %1 = "ttnn.layer_norm"(%0, %w, %b) <{epsilon = 9.99999996E-13 : f32, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<64x128xbf16, #x>, tensor<128xbf16, #w>, tensor<128xbf16, #w>) -> tensor<64x128xbf16, #x>
  // CHECK: ttnn.embedding
  %2 = "ttnn.embedding"(%ids, %table) : (tensor<2x10xui32, #i>, tensor<70x128xbf16, #t>) -> tensor<2x10x128xbf16, #e>
  return %2 : tensor<2x10x128xbf16, #e>
}
