//===- TTNNConfigAttrs.td - configuration attributes of TTNN ops -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNCONFIGATTRS_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNCONFIGATTRS_TD

include "ttmlir/Dialect/TTNN/IR/TTNNLayoutAttrs.td"

def TTNN_UnaryWithParamAttr : TTNN_Attr<"UnaryWithParam", "unary_with_param"> {
  let summary = "An elementwise op with its parameters.";
  let parameters = (ins EnumParameter<TTNN_UnaryOpType>:$op_type, OptionalArrayRefParameter<"FloatAttr">:$params);
  let assemblyFormat = "`<` `op_type` `=` qualified($op_type) (`,` `params` `=` `[` $params^ `]`)? `>`";
}

def TTNN_Conv2dConfigAttr : TTNN_Attr<"Conv2dConfig", "conv2d_config"> {
  let summary = "The configuration of a 2-d convolution on the chip.";
  let parameters = (ins OptionalParameter<"std::optional<::mlir::tt::ttcore::DataType>">:$weights_dtype,
                        OptionalParameter<"UnaryWithParamAttr">:$activation,
                        OptionalParameter<"BoolAttr">:$deallocate_activation,
                        OptionalParameter<"BoolAttr">:$reallocate_halo_output,
                        TTNN_OptionalUInt32:$act_block_h_override,
                        TTNN_OptionalUInt32:$act_block_w_div,
                        OptionalParameter<"BoolAttr">:$reshard_if_not_optimal,
                        OptionalParameter<"BoolAttr">:$override_sharding_config,
                        OptionalParameter<"std::optional<TensorMemoryLayout>">:$shard_layout,
                        OptionalParameter<"CoreRangeSetAttr">:$core_grid,
                        OptionalParameter<"BoolAttr">:$transpose_shards,
                        OptionalParameter<"std::optional<Layout>">:$output_layout,
                        OptionalParameter<"BoolAttr">:$enable_act_double_buffer,
                        OptionalParameter<"BoolAttr">:$enable_weights_double_buffer,
                        OptionalParameter<"BoolAttr">:$enable_kernel_stride_folding,
                        OptionalParameter<"BoolAttr">:$config_tensors_in_dram);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TTNN_Conv2dSliceConfigAttr : TTNN_Attr<"Conv2dSliceConfig", "conv2d_slice_config"> {
  let summary = "The slices of a 2-d convolution.";
  let parameters = (ins EnumParameter<TTNN_Conv2dSliceType>:$slice_type, TTNN_UInt32:$num_slices);
  let assemblyFormat = "`<` $slice_type `,` $num_slices `>`";
}

def TTNN_Conv3dConfigAttr : TTNN_Attr<"Conv3dConfig", "conv3d_config"> {
  let summary = "The configuration of a 3-d convolution on the chip.";
  let parameters = (ins OptionalParameter<"std::optional<::mlir::tt::ttcore::DataType>">:$weights_dtype,
                        TTNN_OptionalUInt32:$t_out_block,
                        TTNN_OptionalUInt32:$w_out_block,
                        TTNN_OptionalUInt32:$h_out_block,
                        TTNN_OptionalUInt32:$c_out_block,
                        TTNN_OptionalUInt32:$c_in_block,
                        OptionalParameter<"std::optional<::mlir::tt::ttcore::GridAttr>">:$compute_with_storage_grid_size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TTNN_DeviceComputeKernelConfig : TTNN_Attr<"DeviceComputeKernelConfig", "device_compute_kernel_config"> {
  let summary = "Precision options of a compute op.";
  let parameters = (ins OptionalParameter<"std::optional<MathFidelity>">:$math_fidelity,
                        OptionalParameter<"BoolAttr">:$math_approx_mode,
                        OptionalParameter<"BoolAttr">:$fp32_dest_acc_en, OptionalParameter<"BoolAttr">:$packer_l1_acc,
                        OptionalParameter<"BoolAttr">:$dst_full_sync_en);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TTNN_LayerNormShardedMultiCoreProgramConfigAttr :
    TTNN_Attr<"LayerNormShardedMultiCoreProgramConfig", "layernorm_sharded_multicore_program_config"> {
  let summary = "Block sizes of a sharded layer norm.";
  let parameters = (ins "CoreCoordAttr":$compute_with_storage_grid_size, TTNN_UInt64:$subblock_w, TTNN_UInt64:$block_h,
                        TTNN_UInt64:$block_w, "bool":$inplace);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TTNN_MatmulMultiCoreReuseMultiCast1DProgramConfigAttr :
    TTNN_Attr<"MatmulMultiCoreReuseMultiCast1DProgramConfig", "matmul_multi_core_reuse_multi_cast_1d_program_config"> {
  let summary = "Block sizes of a matmul that multicasts along one axis.";
  let parameters = (ins "CoreCoordAttr":$compute_with_storage_grid_size, TTNN_UInt64:$in0_block_w,
                        TTNN_UInt64:$out_subblock_h, TTNN_UInt64:$out_subblock_w, TTNN_UInt64:$out_block_h,
                        TTNN_UInt64:$out_block_w, TTNN_UInt64:$per_core_m, TTNN_UInt64:$per_core_n, "bool":$fuse_batch,
                        OptionalParameter<"UnaryWithParamAttr">:$fused_activation, "bool":$mcast_in0,
                        "bool":$gather_in0, "CoreRangeSetAttr":$hop_cores, TTNN_UInt64:$num_global_cb_receivers,
                        "bool":$untilize_out);
  let assemblyFormat = [{
    `<` struct(qualified($compute_with_storage_grid_size), $in0_block_w, $out_subblock_h, $out_subblock_w,
    $out_block_h, $out_block_w, $per_core_m, $per_core_n, $fuse_batch, qualified($fused_activation), $mcast_in0,
    $gather_in0, qualified($hop_cores), $num_global_cb_receivers, $untilize_out) `>`
  }];
}

def TTNN_MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr :
    TTNN_Attr<"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
              "matmul_multi_core_reuse_multi_cast_dram_sharded_program_config"> {
  let summary = "Block sizes of a matmul whose weights are sharded in DRAM.";
  let parameters = (ins TTNN_UInt64:$in0_block_w, TTNN_UInt64:$per_core_m, TTNN_UInt64:$per_core_n,
                        OptionalParameter<"UnaryWithParamAttr">:$fused_activation);
  let assemblyFormat = "`<` struct($in0_block_w, $per_core_m, $per_core_n, qualified($fused_activation)) `>`";
}

def TTNN_MatmulMultiCoreReuseMultiCastProgramConfigAttr :
    TTNN_Attr<"MatmulMultiCoreReuseMultiCastProgramConfig", "matmul_multi_core_reuse_multi_cast_program_config"> {
  let summary = "Block sizes of a matmul that multicasts along two axes.";
  let parameters = (ins "CoreCoordAttr":$compute_with_storage_grid_size, TTNN_UInt64:$in0_block_w,
                        TTNN_UInt64:$out_subblock_h, TTNN_UInt64:$out_subblock_w, TTNN_UInt64:$out_block_h,
                        TTNN_UInt64:$out_block_w, TTNN_UInt64:$per_core_m, TTNN_UInt64:$per_core_n,
                        "bool":$transpose_mcast, OptionalParameter<"UnaryWithParamAttr">:$fused_activation,
                        "bool":$fuse_batch);
  let assemblyFormat = [{
    `<` struct(qualified($compute_with_storage_grid_size), $in0_block_w, $out_subblock_h, $out_subblock_w,
    $out_block_h, $out_block_w, $per_core_m, $per_core_n, $transpose_mcast, qualified($fused_activation),
    $fuse_batch) `>`
  }];
}

def TTNN_MatmulMultiCoreReuseProgramConfigAttr :
    TTNN_Attr<"MatmulMultiCoreReuseProgramConfig", "matmul_multi_core_reuse_program_config"> {
  let summary = "Block sizes of a matmul without multicast.";
  let parameters = (ins "CoreCoordAttr":$compute_with_storage_grid_size, TTNN_UInt64:$in0_block_w,
                        TTNN_UInt64:$out_subblock_h, TTNN_UInt64:$out_subblock_w, TTNN_UInt64:$per_core_m,
                        TTNN_UInt64:$per_core_n);
  let assemblyFormat = [{
    `<` struct(qualified($compute_with_storage_grid_size), $in0_block_w, $out_subblock_h, $out_subblock_w,
    $per_core_m, $per_core_n) `>`
  }];
}

def TTNN_SDPAProgramConfigAttr : TTNN_Attr<"SDPAProgramConfig", "sdpa_program_config"> {
  let summary = "Chunk sizes of an attention op.";
  let parameters = (ins "CoreCoordAttr":$compute_with_storage_grid_size,
                        OptionalParameter<"CoreRangeSetAttr">:$sub_core_grids, TTNN_UInt64:$q_chunk_size,
                        TTNN_UInt64:$k_chunk_size, OptionalParameter<"BoolAttr">:$exp_approx_mode,
                        TTNN_OptionalUInt32:$max_cores_per_head_batch);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNCONFIGATTRS_TD
