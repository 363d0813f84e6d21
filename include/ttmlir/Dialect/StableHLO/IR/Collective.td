//===- Collective.td - StableHLO ops across devices --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_COLLECTIVE_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_COLLECTIVE_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_ReplicaGroups : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxesAttr], "groups of devices">;

class StableHLO_Collective<string mnemonic, string text, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits> {
  let summary = text;
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

class StableHLO_Combining<string mnemonic, string text, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat([TT_AppliesRegion, SingleBlockImplicitTerminator<"ReturnOp">], traits)> {
  let summary = text;
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$computation);
  let hasRegionVerifier = 1;
}

def StableHLO_AllGatherOp : StableHLO_Collective<"all_gather", "The operands of a group of devices, concatenated.",
                                                     [TT_MovesValues, TT_Factors<"::mlir::stablehlo::allGatherFactors">]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, ConfinedAttr<I64Attr, [IntNonNegative]>:$all_gather_dim,
                       StableHLO_ReplicaGroups:$replica_groups, OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
}

def StableHLO_AllReduceOp : StableHLO_Combining<"all_reduce", "The operands of a group of devices, combined.",
                                                    [TT_KeepsShape, TT_Factors<"::mlir::tt::elementwiseFactors">]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
}

def StableHLO_AllToAllOp
    : StableHLO_Collective<"all_to_all", "Pieces of the operands, exchanged in a group of devices.",
                           [TT_MovesValues, TT_Factors<"::mlir::stablehlo::allToAllFactors">]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, ConfinedAttr<I64Attr, [IntNonNegative]>:$split_dimension,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$concat_dimension,
                       ConfinedAttr<I64Attr, [IntPositive]>:$split_count, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
}

def StableHLO_CollectiveBroadcastOp
    : StableHLO_Collective<"collective_broadcast", "The operands of the first device of each group.",
                           [TT_MovesValues, TT_FillsValues, TT_KeepsShape,
                            TT_Factors<"::mlir::tt::elementwiseFactors">]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$has_dynamic_root);
}

def StableHLO_CollectivePermuteOp
    : StableHLO_Collective<"collective_permute", "The operand of another device, or zeros.",
                           [TT_MovesValues, TT_FillsValues, TT_KeepsShape,
                            TT_Factors<"::mlir::tt::elementwiseFactors">]> {
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs StableHLO_Tensor);
}

def StableHLO_CollectiveReduceOp
    : StableHLO_Combining<"collective_reduce", "The operands of a group of devices, combined on its first.",
                          [TT_KeepsShape]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids,
                       UnitAttr:$has_dynamic_root);
}

def StableHLO_CrossReplicaSumOp
    : StableHLO_Collective<"cross-replica-sum", "The sum of the operands of a group of devices.",
                           [TT_KeepsShape, TT_Factors<"::mlir::tt::elementwiseFactors">]> {
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs StableHLO_Tensor);
}

def StableHLO_ReduceScatterOp
    : StableHLO_Combining<"reduce_scatter", "A piece of the combined operands of a group of devices for each.",
                          [TT_Factors<"::mlir::stablehlo::reduceScatterFactors">]> {
  let arguments = (ins StableHLO_Tensor:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$scatter_dimension,
                       StableHLO_ReplicaGroups:$replica_groups, OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs StableHLO_Tensor);
}

/// The number of the device.
class StableHLO_DeviceNumber<string mnemonic, string text> : StableHLO_Op<mnemonic, [Pure]> {
  let summary = text;
  let results = (outs StableHLO_UI32ScalarTensor);
  let assemblyFormat = "attr-dict `:` type(results)";
}
def StableHLO_PartitionIdOp : StableHLO_DeviceNumber<"partition_id", "The number of the device in its replica.">;
def StableHLO_ReplicaIdOp : StableHLO_DeviceNumber<"replica_id", "The number of the device's replica.">;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

def StableHLO_AsyncStartOp
    : StableHLO_Op<"async_start", [IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Starts the computation of a region asynchronously.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands);
  let results = (outs StableHLO_Future);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def StableHLO_AsyncDoneOp : StableHLO_Op<"async_done"> {
  let summary = "Waits for an asynchronous computation and returns its results.";
  let arguments = (ins StableHLO_Future:$operand);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_InfeedOp : StableHLO_Op<"infeed"> {
  let summary = "Values that the host sends.";
  let arguments = (ins StableHLO_Token:$token, DefaultValuedOptionalAttr<StrAttr, "\"\"">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<StableHLO_TensorOrToken>);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp : StableHLO_Op<"outfeed"> {
  let summary = "Values for the host.";
  let arguments = (ins Variadic<StableHLO_AnyTensor>:$inputs, StableHLO_Token:$token,
                       DefaultValuedOptionalAttr<StrAttr, "\"\"">:$outfeed_config);
  let results = (outs StableHLO_Token);
}

def StableHLO_RecvOp : StableHLO_Op<"recv"> {
  let summary = "Values from a channel.";
  let arguments = (ins StableHLO_Token:$token, StableHLO_ChannelHandle:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<StableHLO_TensorOrToken>);
}

def StableHLO_SendOp : StableHLO_Op<"send"> {
  let summary = "Values for a channel.";
  let arguments = (ins Variadic<StableHLO_AnyTensor>:$inputs, StableHLO_Token:$token,
                       StableHLO_ChannelHandle:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs StableHLO_Token);
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_COLLECTIVE_TD
