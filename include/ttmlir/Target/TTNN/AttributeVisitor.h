//===- AttributeVisitor.h - what attributes of TTNN hold --------*- C++ -*-===//
#ifndef TTMLIR_TARGET_TTNN_ATTRIBUTEVISITOR_H
#define TTMLIR_TARGET_TTNN_ATTRIBUTEVISITOR_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

// The name under which a binary knows an enum.
template <class Enum> inline constexpr llvm::StringLiteral enumName = "";
template <> inline constexpr llvm::StringLiteral enumName<ttcore::Arch> = "ttcore.arch";
template <> inline constexpr llvm::StringLiteral enumName<ttcore::AttentionMaskType> = "ttcore.attention_mask_type";
template <> inline constexpr llvm::StringLiteral enumName<ttcore::DataType> = "ttcore.data_type";
template <>
inline constexpr llvm::StringLiteral enumName<ttcore::MoEActivationFunction> = "ttcore.moe_activation_function";
template <> inline constexpr llvm::StringLiteral enumName<ttcore::ReduceType> = "ttcore.reduce_type";
template <> inline constexpr llvm::StringLiteral enumName<ttcore::Topology> = "ttcore.topology";
template <> inline constexpr llvm::StringLiteral enumName<BufferType> = "ttnn.buffer_type";
template <> inline constexpr llvm::StringLiteral enumName<Conv2dSliceType> = "ttnn.conv2d_slice_type";
template <> inline constexpr llvm::StringLiteral enumName<Layout> = "ttnn.layout";
template <> inline constexpr llvm::StringLiteral enumName<MathFidelity> = "ttnn.math_fidelity";
template <> inline constexpr llvm::StringLiteral enumName<PlacementType> = "ttnn.placement_type";
template <>
inline constexpr llvm::StringLiteral enumName<ShardDistributionStrategy> = "ttnn.shard_distribution_strategy";
template <> inline constexpr llvm::StringLiteral enumName<ShardOrientation> = "ttnn.shard_orientation";
template <> inline constexpr llvm::StringLiteral enumName<TensorMemoryLayout> = "ttnn.tensor_memory_layout";
template <> inline constexpr llvm::StringLiteral enumName<UnaryOpType> = "ttnn.unary_op_type";

/// Attributes that hold one enum value.
template <class Visit> bool visitEnum(Attribute attr, Visit visit) {
  auto visitAny = [&]<class... Attrs>() {
    return ((isa<Attrs>(attr) && (visit(cast<Attrs>(attr).getValue()), true)) || ...);
  };
  return visitAny.template
  operator()<ttcore::ArchAttr, ttcore::AttentionMaskTypeAttr, ttcore::DataTypeAttr, ttcore::MoEActivationFunctionAttr,
             ttcore::ReduceTypeAttr, ttcore::TopologyAttr, BufferTypeAttr, LayoutAttr, ShardDistributionStrategyAttr,
             ShardOrientationAttr, TensorMemoryLayoutAttr>();
}

/// Calls `visit(name, value)` for every parameter of a structured attribute;
/// false if it is none.
template <class Visit> class StructVisitor {
public:
  StructVisitor(Attribute attr, Visit visit) : attr(attr), visit(visit) {}

  bool run() {
    return fields<Conv2dConfigAttr>([&](auto a) {
             visit("weights_dtype", a.getWeightsDtype());
             visit("activation", a.getActivation());
             visit("deallocate_activation", a.getDeallocateActivation());
             visit("reallocate_halo_output", a.getReallocateHaloOutput());
             visit("act_block_h_override", a.getActBlockHOverride());
             visit("act_block_w_div", a.getActBlockWDiv());
             visit("reshard_if_not_optimal", a.getReshardIfNotOptimal());
             visit("override_sharding_config", a.getOverrideShardingConfig());
             visit("shard_layout", a.getShardLayout());
             visit("core_grid", a.getCoreGrid());
             visit("transpose_shards", a.getTransposeShards());
             visit("output_layout", a.getOutputLayout());
             visit("enable_act_double_buffer", a.getEnableActDoubleBuffer());
             visit("enable_weights_double_buffer", a.getEnableWeightsDoubleBuffer());
             visit("enable_kernel_stride_folding", a.getEnableKernelStrideFolding());
             visit("config_tensors_in_dram", a.getConfigTensorsInDram());
           }) ||
           fields<Conv2dSliceConfigAttr>([&](auto a) {
             visit("slice_type", a.getSliceType());
             visit("num_slices", a.getNumSlices());
           }) ||
           fields<Conv3dConfigAttr>([&](auto a) {
             visit("weights_dtype", a.getWeightsDtype());
             visit("t_out_block", a.getTOutBlock());
             visit("w_out_block", a.getWOutBlock());
             visit("h_out_block", a.getHOutBlock());
             visit("c_out_block", a.getCOutBlock());
             visit("c_in_block", a.getCInBlock());
           }) ||
           fields<CoreCoordAttr>([&](auto a) {
             visit("x", a.getX());
             visit("y", a.getY());
           }) ||
           fields<CoreRangeAttr>([&](auto a) {
             visit("start_coord", a.getStartCoord());
             visit("end_coord", a.getEndCoord());
           }) ||
           fields<CoreRangeSetAttr>([&](auto a) { visit("core_ranges", a.getCoreRanges()); }) ||
           fields<DeviceComputeKernelConfigAttr>([&](auto a) {
             visit("math_fidelity", a.getMathFidelity());
             visit("math_approx_mode", a.getMathApproxMode());
             visit("fp32_dest_acc_en", a.getFp32DestAccEn());
             visit("packer_l1_acc", a.getPackerL1Acc());
             visit("dst_full_sync_en", a.getDstFullSyncEn());
           }) ||
           fields<LayerNormShardedMultiCoreProgramConfigAttr>([&](auto a) {
             visit("compute_with_storage_grid_size", a.getComputeWithStorageGridSize());
             visit("subblock_w", a.getSubblockW());
             visit("block_h", a.getBlockH());
             visit("block_w", a.getBlockW());
             visit("inplace", a.getInplace());
           }) ||
           fields<MatmulMultiCoreReuseProgramConfigAttr>([&](auto a) {
             visitMatmulBlocks(a);
             visit("per_core_m", a.getPerCoreM());
             visit("per_core_n", a.getPerCoreN());
           }) ||
           fields<MatmulMultiCoreReuseMultiCastProgramConfigAttr>([&](auto a) {
             visitMatmulMultiCast(a);
             visit("transpose_mcast", a.getTransposeMcast());
             visit("fused_activation", a.getFusedActivation());
             visit("fuse_batch", a.getFuseBatch());
           }) ||
           fields<MatmulMultiCoreReuseMultiCast1DProgramConfigAttr>([&](auto a) {
             visitMatmulMultiCast(a);
             visit("fuse_batch", a.getFuseBatch());
             visit("fused_activation", a.getFusedActivation());
             visit("mcast_in0", a.getMcastIn0());
             visit("gather_in0", a.getGatherIn0());
             visit("hop_cores", a.getHopCores());
             visit("num_global_cb_receivers", a.getNumGlobalCbReceivers());
             visit("untilize_out", a.getUntilizeOut());
           }) ||
           fields<MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr>([&](auto a) {
             visit("in0_block_w", a.getIn0BlockW());
             visit("per_core_m", a.getPerCoreM());
             visit("per_core_n", a.getPerCoreN());
             visit("fused_activation", a.getFusedActivation());
           }) ||
           fields<MemoryConfigAttr>([&](auto a) {
             visit("tensor_memory_layout", a.getTensorMemoryLayout());
             visit("buffer_type", a.getBufferType());
             visit("shard_spec", a.getShardSpec());
             visit("nd_shard_spec", a.getNdShardSpec());
           }) ||
           fields<MeshComposerConfigAttr>([&](auto a) {
             visit("dims", a.getDims());
             visit("mesh_shape_override", a.getMeshShapeOverride());
           }) ||
           fields<MeshMapperConfigAttr>([&](auto a) {
             visit("placements", a.getPlacements());
             visit("mesh_shape_override", a.getMeshShapeOverride());
           }) ||
           fields<MeshOffsetAttr>([&](auto a) {
             visit("y", a.getY());
             visit("x", a.getX());
           }) ||
           fields<MeshShapeAttr>([&](auto a) {
             visit("y", a.getY());
             visit("x", a.getX());
           }) ||
           fields<NDShardSpecAttr>([&](auto a) {
             visit("core_range_set", a.getCoreRangeSet());
             visit("shape", a.getShape());
             visit("shard_orientation", a.getShardOrientation());
             visit("shard_distribution_strategy", a.getShardDistributionStrategy());
           }) ||
           fields<PlacementAttr>([&](auto a) {
             visit("type", a.getType());
             visit("dim", a.getDim());
           }) ||
           fields<SDPAProgramConfigAttr>([&](auto a) {
             visit("compute_with_storage_grid_size", a.getComputeWithStorageGridSize());
             visit("sub_core_grids", a.getSubCoreGrids());
             visit("q_chunk_size", a.getQChunkSize());
             visit("k_chunk_size", a.getKChunkSize());
             visit("exp_approx_mode", a.getExpApproxMode());
             visit("max_cores_per_head_batch", a.getMaxCoresPerHeadBatch());
           }) ||
           fields<ShardSpecAttr>([&](auto a) {
             visit("core_range_set", a.getCoreRangeSet());
             visit("shape", a.getShape());
             visit("shard_orientation", a.getShardOrientation());
           }) ||
           fields<UnaryWithParamAttr>([&](auto a) {
             visit("op_type", a.getOpType());
             visit("params", a.getParams());
           });
  }

private:
  template <class Attr, class Fields> bool fields(Fields list) {
    auto typed = dyn_cast<Attr>(attr);
    if (typed)
      list(typed);
    return bool(typed);
  }
  template <class Attr> void visitMatmulBlocks(Attr a) {
    visit("compute_with_storage_grid_size", a.getComputeWithStorageGridSize());
    visit("in0_block_w", a.getIn0BlockW());
    visit("out_subblock_h", a.getOutSubblockH());
    visit("out_subblock_w", a.getOutSubblockW());
  }
  template <class Attr> void visitMatmulMultiCast(Attr a) {
    visitMatmulBlocks(a);
    visit("out_block_h", a.getOutBlockH());
    visit("out_block_w", a.getOutBlockW());
    visit("per_core_m", a.getPerCoreM());
    visit("per_core_n", a.getPerCoreN());
  }

  Attribute attr;
  Visit visit;
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_ATTRIBUTEVISITOR_H
