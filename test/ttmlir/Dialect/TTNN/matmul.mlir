// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x8x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x16x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#c = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x16x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#bias = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x16x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @mm(%x: tensor<128x256xbf16, #a>, %w: tensor<256x512xbf16, #b>, %v: tensor<512xbf16, #bias>) -> tensor<128x512xbf16, #c> {
  // CHECK: "ttnn.matmul"{{.*}} <{transpose_a = false, transpose_b = false}>
  %0 = "ttnn.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<128x256xbf16, #a>, tensor<256x512xbf16, #b>) -> tensor<128x512xbf16, #c>
  // CHECK: ttnn.matmul
  %1 = "ttnn.matmul"(%x, %w) <{activation = "relu", compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true, packer_l1_acc = true>, matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_1d_program_config<compute_with_storage_grid_size = #ttnn.core_coord<8, 8>, in0_block_w = 2, out_subblock_h = 1, out_subblock_w = 1, out_block_h = 4, out_block_w = 1, per_core_m = 4, per_core_n = 1, fuse_batch = true, fused_activation = #ttnn.unary_with_param<op_type = relu>, mcast_in0 = true, gather_in0 = false, hop_cores = #ttnn.core_range_set<>, num_global_cb_receivers = 0, untilize_out = false>, transpose_a = false, transpose_b = false}> : (tensor<128x256xbf16, #a>, tensor<256x512xbf16, #b>) -> tensor<128x512xbf16, #c>
  // CHECK: "ttnn.linear"{{.*}} <{transpose_a = false, transpose_b = false}>
  %2 = "ttnn.linear"(%x, %w, %v) <{transpose_a = false, transpose_b = false}> : (tensor<128x256xbf16, #a>, tensor<256x512xbf16, #b>, tensor<512xbf16, #bias>) -> tensor<128x512xbf16, #c>
  return %2 : tensor<128x512xbf16, #c>
}
