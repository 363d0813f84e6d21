//===- TTNNOpsCompute.td - TTNN compute and data movement ops -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNOPSCOMPUTE_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNOPSCOMPUTE_TD

include "ttmlir/Dialect/Families/Collective.td"
include "ttmlir/Dialect/Families/Creation.td"
include "ttmlir/Dialect/Families/DataMovement.td"
include "ttmlir/Dialect/Families/Matmul.td"
include "ttmlir/Dialect/Families/Normalization.td"
include "ttmlir/Dialect/Families/Reduction.td"
include "ttmlir/Dialect/Families/Routing.td"
include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.td"
include "ttmlir/Dialect/TTNN/IR/TTNNTypes.td"

// How the op's kernels compute on the chip.
defvar TTNN_ComputeConfig = (ins OptionalAttr<TTNN_DeviceComputeKernelConfig>:$compute_config);

//===----------------------------------------------------------------------===//
// Products, reductions, norms
//===----------------------------------------------------------------------===//

def TTNN_MatmulProgramConfig : AnyAttrOf<[
    TTNN_MatmulMultiCoreReuseProgramConfigAttr, TTNN_MatmulMultiCoreReuseMultiCastProgramConfigAttr,
    TTNN_MatmulMultiCoreReuseMultiCast1DProgramConfigAttr, TTNN_MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr],
    "matmul program config">;
defvar TTNN_MatmulExtra = !con((ins OptionalAttr<TTNN_MatmulProgramConfig>:$matmul_program_config,
                                    OptionalAttr<StrAttr>:$activation), TTNN_ComputeConfig);

def TTNN_MatmulOp : TT_MatmulOp<TTNN_Dialect, TTNN_MatmulExtra>;
def TTNN_LinearOp : TT_LinearOp<TTNN_Dialect, "linear", TTNN_MatmulExtra>;

def TTNN_SparseMatmulOp : TT_SparseMatmulOp<TTNN_Dialect,
    !con((ins OptionalAttr<TTNN_MatmulMultiCoreReuseMultiCast1DProgramConfigAttr>:$program_config),
         TTNN_ComputeConfig)>;

def TTNN_AllToAllDispatchMetadataOp : TT_DispatchMetadataOp<TTNN_Dialect,
    (ins Optional<AnyRankedTensor>:$dispatched_buffer, Optional<AnyRankedTensor>:$indices_buffer,
         Optional<AnyRankedTensor>:$scores_buffer, Optional<TTNN_GlobalSemaphore>:$cross_device_semaphore),
    [AttrSizedOperandSegments]>;

def TTNN_MoeComputeOp : TT_MoeComputeOp<TTNN_Dialect,
    (ins AnyRankedTensor:$matmul_w0_w1_tensor, AnyRankedTensor:$matmul_w2_tensor,
         Optional<AnyRankedTensor>:$optional_output_tensor, Optional<TTNN_GlobalSemaphore>:$cross_device_semaphore,
         TTNN_Device:$device),
    !con(TT_FusedSizes, (ins BoolAttr:$has_bias), TT_FusedActivation,
         (ins OptionalAttr<UI32Attr>:$num_links, OptionalAttr<TTCore_TopologyAttr>:$topology,
              TTNN_CoreRangeSetAttr:$mux_core_range_set))>;
defvar TTNN_ExpertSizes = (ins UI32Attr:$hidden_size, UI32Attr:$intermediate_size);
def TTNN_PrepareMoEComputeW0W1WeightsOp : TT_PureOp<TTNN_Dialect, "prepare_moe_compute_w0_w1_weights",
    (ins AnyRankedTensor:$w0, AnyRankedTensor:$w1, Optional<AnyRankedTensor>:$bias_0,
         Optional<AnyRankedTensor>:$bias_1, TTNN_Device:$device), TTNN_ExpertSizes,
    "The first two weights of moe_compute side by side, their biases as a last row.", "packFirstWeights",
    [TT_MovesValues, AttrSizedOperandSegments]> {
  let description = [{
    Of two weights [layers, experts, hidden_size, intermediate_size] the result is [layers, experts, hidden_size, or one
    more with biases, 2 * intermediate_size]. The ecosystem's kernels read another order, by the memory banks of a chip.
  }];
}
def TTNN_PrepareMoEComputeW2WeightsOp : TT_PureOp<TTNN_Dialect, "prepare_moe_compute_w2_weights",
    (ins AnyRankedTensor:$w2, Optional<AnyRankedTensor>:$bias_2, TTNN_Device:$device), TTNN_ExpertSizes,
    "The last weight of moe_compute, its bias as a last row.", "packLastWeight", [TT_MovesValues]> {
  let description = [{
    Of [layers, experts, intermediate_size, hidden_size] the result has as many rows, or one more with a bias.
  }];
}
def TTNN_AllocateMoeComputeSemaphoreOp : TT_FusedExpertsOp<TTNN_Dialect, "allocate_moe_compute_semaphore",
    (ins TTNN_Device:$device),
    (ins UI32Attr:$output_height_shard_dim, UI32Attr:$hidden_size, OptionalAttr<UI32Attr>:$initial_value,
         TTNN_CoreRangeSetAttr:$mux_core_range_set)> {
  let summary = "A semaphore for moe_compute; not run: semaphores are not simulated.";
  let results = (outs TTNN_GlobalSemaphore:$result);
}

def TTNN_IndexerScoreDsaOp : TT_PureOp<TTNN_Dialect, "indexer_score_dsa",
    (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$weights),
    (ins DefaultValuedAttr<UI32Attr, "0">:$chunk_start_idx, OptionalAttr<UI32Attr>:$cluster_axis),
    "Scores of each key for each position, by the indexer of sparse attention.", "indexerScores"> {
  let description = [{
    Of query [batch, heads, positions, size], key [batch, 1, keys, size] and weights [batch, heads, positions, 1]:
    sums over heads of relu(query * key^T) * weights, [batch, 1, positions, keys]; -inf for keys behind the position,
    which begins at `chunk_start_idx`. `cluster_axis` is not run.
  }];
}

def TTNN_SumOp : TT_ReductionOp<TTNN_Dialect, "sum", "Sum.", TTNN_ComputeConfig>;
def TTNN_MeanOp : TT_ReductionOp<TTNN_Dialect, "mean", "Arithmetic mean.", TTNN_ComputeConfig>;
def TTNN_MaxOp : TT_ReductionOp<TTNN_Dialect, "max", "Greatest value.", TTNN_ComputeConfig>;
def TTNN_MinOp : TT_ReductionOp<TTNN_Dialect, "min", "Smallest value.", TTNN_ComputeConfig>;

def TTNN_ProdOp : TT_PureOp<TTNN_Dialect, "prod", TT_Unary, (ins OptionalAttr<SI64Attr>:$dim_arg, BoolAttr:$keep_dim),
    "Product along one dimension, or of all values.",
    "reductionOfOne", [TT_ReductionTrait]>;
def TTNN_ArgMaxOp : TT_PureOp<TTNN_Dialect, "argmax", TT_Unary,
    (ins OptionalAttr<SI32Attr>:$dim, TT_Bool<"false">:$keep_dim),
    "Position of the first greatest value, along one dimension or in the whole tensor (row-major).",
    "argmax", [TT_ReductionTrait], "i32">;

def TTNN_SoftmaxOp : TT_SoftmaxOp<TTNN_Dialect, TTNN_ComputeConfig>;
def TTNN_RMSNormOp : TTNN_NormOp<"rms_norm", TT_RMSNormText, TTNN_ComputeConfig>;

class TTNN_BatchNormOp<string mnemonic, dag attributes, string text>
    : TT_PureOp<TTNN_Dialect, mnemonic,
                (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$running_mean,
                     Optional<AnyRankedTensor>:$running_var, Optional<AnyRankedTensor>:$weight,
                     Optional<AnyRankedTensor>:$bias),
                !con(attributes, TTNN_ComputeConfig), text, "batchNormInference", [AttrSizedOperandSegments]>;

def TTNN_BatchNormInferenceOp : TTNN_BatchNormOp<"batch_norm_inference", (ins TT_F32<"1e-05">:$epsilon),
    "(input - running_mean) / sqrt(running_var + epsilon) * weight + bias, per channel of an NCHW tensor.">;
// Updates the running mean and variance in place, so it has side effects.
def TTNN_BatchNormTrainingOp : Op<TTNN_Dialect, "batch_norm_training", [
    MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments,
    TT_InferShape<(ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$running_mean,
                       Optional<AnyRankedTensor>:$running_var, Optional<AnyRankedTensor>:$weight,
                       Optional<AnyRankedTensor>:$bias), "batchNormChannels">]> {
  let summary = "The NCHW input normalized by its own mean and variance per channel; updates the running ones.";
  let arguments = !con((ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$running_mean,
                            Optional<AnyRankedTensor>:$running_var, Optional<AnyRankedTensor>:$weight,
                            Optional<AnyRankedTensor>:$bias, TT_F32<"1e-05">:$epsilon, TT_F32<"0.1">:$momentum),
                       TTNN_ComputeConfig);
  let results = (outs AnyRankedTensor:$result);
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def TTNN_PermuteOp : TT_PermuteOp<TTNN_Dialect, (ins DefaultValuedOptionalAttr<F32Attr, "0.0f">:$pad_value)>;
def TTNN_PadOp : TT_PadOp<TTNN_Dialect, ".", "pad", (ins BoolAttr:$use_multicore)>;
def TTNN_RepeatOp : TT_PureOp<TTNN_Dialect, "repeat", TT_Unary, (ins TTNN_ShapeAttr:$repeat_dims),
    "The whole input repeated along each dimension.",
    "repeat", [TT_MovesValues, TT_Repeats]> {
  let hasFolder = 1;
}
def TTNN_AssignOp : Op<TTNN_Dialect, "assign", [TT_MovesValues, TT_InferShape<TT_Unary, "same">]> {
  let summary = "A copy of the input.";
  let description = "The result is a tensor of its own: two copies of one tensor may be written to, and are never merged.";
  let arguments = TT_Unary;
  let results = (outs TT_FreshTensor:$result);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

defvar TTNN_MaybeDevice = (ins Optional<TTNN_Device>:$device);

class TTNN_FilledOp<string mnemonic, string text>
    : TT_CreationOp<TTNN_Dialect, mnemonic, TTNN_MaybeDevice, (ins TTNN_ShapeAttr:$shape, TT_DType:$dtype), text,
                    "creation">;

def TTNN_ZerosOp : TTNN_FilledOp<"zeros", "Zeros.">;
def TTNN_OnesOp : TTNN_FilledOp<"ones", "Ones.">;
def TTNN_FullOp : TT_CreationOp<TTNN_Dialect, "full", TTNN_MaybeDevice,
    (ins TTNN_ShapeAttr:$shape, TT_Number:$fill_value, TT_DType:$dtype), "One value everywhere.",
    "creation", [], "@fill_value">;
def TTNN_ConstantOp : TT_CreationOp<TTNN_Dialect, "constant", TTNN_MaybeDevice, (ins ElementsAttr:$value, TT_DType:$dtype),
    "The values of an attribute.", "constant", [], "@value">;
def TTNN_ArangeOp : TT_CreationOp<TTNN_Dialect, "arange", TTNN_MaybeDevice,
    (ins SI64Attr:$start, SI64Attr:$end, SI64Attr:$step, TT_DType:$dtype),
    "start, start + step, ... up to, not including, end.",
    "arange">;

def TTNN_EmptyOp : Op<TTNN_Dialect, "empty", [TT_Creates,
    TT_InferShape<(ins TTNN_Device:$device), "creation", "f32">]> {
  let summary = "A tensor of any values, to be written.";
  let arguments = (ins TTNN_Device:$device, TTNN_ShapeAttr:$shape, TT_DType:$dtype);
  let results = (outs TT_FreshTensor:$result);
}
def TTNN_RandOp : Op<TTNN_Dialect, "rand", [TT_Creates, TT_DrawsValues,
    TT_InferShape<(ins TTNN_Device:$device), "creationOfSize", "f32">]> {
  let summary = "Values drawn evenly from [low, high); a seed of 0 gives others in every run.";
  let arguments = (ins TTNN_Device:$device, TTNN_ShapeAttr:$size, TT_F32<"0.0">:$low, TT_F32<"1.0">:$high,
                       DefaultValuedAttr<UI32Attr, "0">:$seed, TT_DType:$dtype);
  let results = (outs TT_FreshTensor:$result);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

defvar TTNN_FabricConfig = (ins OptionalAttr<UI32Attr>:$sub_device_id, OptionalAttr<UI32Attr>:$num_links,
                                OptionalAttr<TTCore_TopologyAttr>:$topology);

def TTNN_AllGatherOp : TT_AllGatherOp<TTNN_Dialect, TTNN_FabricConfig>;
def TTNN_ReduceScatterOp : TT_ReduceScatterOp<TTNN_Dialect, !con(TTNN_FabricConfig, TTNN_ComputeConfig)>;
def TTNN_AllReduceOp : TT_AllReduceOp<TTNN_Dialect, "all_reduce", TTNN_FabricConfig>;
def TTNN_AllReduceAsyncOp : TT_AllReduceOp<TTNN_Dialect, "all_reduce_async", TTNN_FabricConfig>;
// Groups and pairs of chips one after another: files and functions of this dialect have lists of integers.
def TTNN_AllToAllOp : TT_CollectiveOp<TTNN_Dialect, "all_to_all",
    (ins SI32Attr:$split_dim, SI32Attr:$concat_dim, SI32Attr:$split_count, DenseI64ArrayAttr:$replica_groups),
    "Each chip of a group of `split_count` sends one part of `split_dim` to each of them, and puts what it gets together "
    "along `concat_dim`.", "allToAll", [TT_MovesValues]>;
def TTNN_CollectivePermuteOp : TT_CollectiveOp<TTNN_Dialect, "collective_permute",
    (ins DenseI64ArrayAttr:$source_target_pairs),
    "Each chip named as a target gets the tensor of the source before it in the list, the others get zeros.",
    "collectivePermute", [TT_MovesValues, TT_FillsValues]>;
def TTNN_PointToPointOp : TT_PureOp<TTNN_Dialect, "point_to_point",
    (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$optional_output_tensor),
    (ins DenseI64ArrayAttr:$sender_coord, DenseI64ArrayAttr:$receiver_coord),
    "The tensor of one chip, sent to another.", "pointToPoint", [TT_CollectiveTrait, TT_MovesValues, TT_FillsValues]>;

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNOPSCOMPUTE_TD
