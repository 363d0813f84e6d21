// SPDX-License-Identifier: Apache-2.0
// Cores of a set stand in Python as ttnn has them, also where there are none.
// RUN: ttmlir-opt %s --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x32xf32, #dram>, <interleaved>>
#k = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x2xui16, #dram>, <interleaved>>
#m = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x4xui16, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 128 + d1 * 32 + d2, d3), <1x1>, memref<128x64xf32, #dram>, <interleaved>>
#v = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 128 + d1 * 32 + d2, d3), <1x1>, memref<128x32xf32, #dram>, <interleaved>>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x2xf32, #dram>, <interleaved>>
#o = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 8 + d1, d2), <1x1>, memref<16x32xf32, #dram>, <interleaved>>
// CHECK: ttnn.experimental.moe_compute(
// CHECK: mux_core_range_set=ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x=0, y=0), ttnn.CoreCoord(x=1, y=0))])
// CHECK: mux_core_range_set=ttnn.CoreRangeSet([])
func.func @experts(%x: tensor<8x32xf32, #x>, %which: tensor<8x2xui16, #k>, %scores: tensor<8x2xf32, #s>, %where: tensor<1x4xui16, #m>, %w: tensor<1x4x32x64xf32, #w>, %v: tensor<1x4x32x32xf32, #v>) -> (tensor<2x8x32xf32, #o>, tensor<2x8x32xf32, #o>) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.moe_compute"(%x, %which, %scores, %where, %w, %v, %d) <{cluster_axis = 0 : ui32, has_bias = false, intermediate_size = 32 : ui32, layer_id = 0 : ui32, mux_core_range_set = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (1,0)>]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 1>, output_height_shard_dim = 4 : ui32}> : (tensor<8x32xf32, #x>, tensor<8x2xui16, #k>, tensor<8x2xf32, #s>, tensor<1x4xui16, #m>, tensor<1x4x32x64xf32, #w>, tensor<1x4x32x32xf32, #v>, !ttnn.device) -> tensor<2x8x32xf32, #o>
  %1 = "ttnn.moe_compute"(%x, %which, %scores, %where, %w, %v, %d) <{cluster_axis = 0 : ui32, has_bias = false, intermediate_size = 32 : ui32, layer_id = 0 : ui32, mux_core_range_set = #ttnn.core_range_set<>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 1>, output_height_shard_dim = 4 : ui32}> : (tensor<8x32xf32, #x>, tensor<8x2xui16, #k>, tensor<8x2xf32, #s>, tensor<1x4xui16, #m>, tensor<1x4x32x64xf32, #w>, tensor<1x4x32x32xf32, #v>, !ttnn.device) -> tensor<2x8x32xf32, #o>
  return %0, %1 : tensor<2x8x32xf32, #o>, tensor<2x8x32xf32, #o>
}
