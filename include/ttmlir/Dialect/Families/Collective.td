//===- Collective.td - ops over the chips of a mesh ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A tensor type describes the part of one chip, except on the full side of mesh_shard. `cluster_axis` is the axis of
// the mesh along which chips exchange values: 0 along a column of chips, 1 along a row.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_COLLECTIVE_TD
#define TTMLIR_DIALECT_FAMILIES_COLLECTIVE_TD

include "ttmlir/Dialect/Families/Base.td"

def TT_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, Non0RankedMemRefOf<[AnyType]>], "ranked tensor or memref">;

class TT_CollectiveOp<Dialect dialect, string mnemonic, dag attributes, string text, string rule,
                      list<Trait> traits = []>
    : TT_PureOp<dialect, mnemonic, TT_Unary, attributes, text, rule, !listconcat([TT_CollectiveTrait], traits)> {
  let description = [{
    A collective over the mesh: each chip holds a tensor of this shape, and the chips along mesh axis `cluster_axis` work
    together. On an axis with one chip the result is the input.
  }];
}

// The size of the result depends on the mesh. If no mesh is known, it is the declared one.
class TT_AllGatherOp<Dialect dialect, dag extra = (ins)>
    : TT_CollectiveOp<dialect, "all_gather", !con((ins SI32Attr:$all_gather_dim, UI32Attr:$cluster_axis), extra),
                      "The tensors of the chips along `cluster_axis` one after another, on each of them.", "allGather",
                      [TT_MovesValues, TT_CombinesShards]>;

class TT_ReduceScatterOp<Dialect dialect, dag extra = (ins)>
    : TT_CollectiveOp<dialect, "reduce_scatter",
                      !con((ins TTCore_ReduceTypeAttr:$reduce_type, SI32Attr:$scatter_dim, UI32Attr:$cluster_axis),
                           extra),
                      "The tensors along `cluster_axis` combined, each chip keeping its part of `scatter_dim`.",
                      "reduceScatter", [TT_CombinesShards]>;

class TT_AllReduceOp<Dialect dialect, string mnemonic, dag extra = (ins)>
    : TT_CollectiveOp<dialect, mnemonic, !con((ins TTCore_ReduceTypeAttr:$reduce_type, UI32Attr:$cluster_axis), extra),
                      "The tensors of the chips along `cluster_axis` combined, on each of them.",
                      "allReduce", [TT_CombinesShards]>;

class TT_MeshPartitionOp<Dialect dialect>
    : TT_CollectiveOp<dialect, "mesh_partition", (ins SI32Attr:$dim, OptionalAttr<UI32Attr>:$cluster_axis),
                      "Each chip keeps its part of `dim`.", "meshPartition", [TT_MovesValues]>;
def TTIR_MeshPartitionOp : TT_MeshPartitionOp<TTIR_Dialect>;
def TTNN_MeshPartitionOp : TT_MeshPartitionOp<TTNN_Dialect>;

def TTIR_AllGatherOp : TT_AllGatherOp<TTIR_Dialect>;
def TTIR_ReduceScatterOp : TT_ReduceScatterOp<TTIR_Dialect>;
def TTIR_AllReduceOp : TT_AllReduceOp<TTIR_Dialect, "all_reduce">;
def TTIR_AllReduceAsyncOp : TT_AllReduceOp<TTIR_Dialect, "all_reduce_async">;
def TTIR_AllToAllOp : TT_CollectiveOp<TTIR_Dialect, "all_to_all",
    (ins SI32Attr:$split_dim, SI32Attr:$concat_dim, SI32Attr:$split_count, I64ElementsAttr:$replica_groups),
    "Each chip of a group sends one part of `split_dim` to each chip, "
    "and puts what it gets together along `concat_dim`.",
    "allToAll", [TT_MovesValues]>;
def TTIR_CollectiveBroadcastOp : TT_CollectiveOp<TTIR_Dialect, "collective_broadcast",
    (ins I64ElementsAttr:$replica_groups), "The tensor of the first chip of each group, on all of the group.",
    "collectiveBroadcast", [TT_MovesValues, TT_FillsValues]>;
def TTIR_CollectivePermuteOp : TT_CollectiveOp<TTIR_Dialect, "collective_permute",
    (ins I64ElementsAttr:$source_target_pairs),
    "Each chip named as a target gets the tensor of its source, the others get zeros.",
    "collectivePermute", [TT_MovesValues, TT_FillsValues]>;

def TTIR_MeshShardOp : Op<TTIR_Dialect, "mesh_shard", [
    Pure, TT_CollectiveTrait, TT_MovesValues, TT_InferShape<TT_Unary, "meshShard", "shaped">]> {
  let summary = "Splits a tensor over a mesh, or joins its parts.";
  let description = [{
    `full_to_shard` divides dimension i by `shard_shape[i]`, `shard_to_full` multiplies it. `shard_dims[a]` is the
    dimension split along axis a of the mesh, -1 for none. Type `identity` states that the values already are where they
    belong; where nothing is split, its `shard_shape` has any number of 1, and `shard_dims` of -1. `replicate` and
    `maximal` keep the shape.
  }];
  let arguments = (ins TT_TensorOrMemRef:$input, TTCore_MeshShardTypeAttr:$shard_type,
                       TTCore_MeshShardDirectionAttr:$shard_direction, DenseI64ArrayAttr:$shard_shape,
                       DenseI64ArrayAttr:$shard_dims);
  let results = (outs TT_TensorOrMemRef:$result);
}

#endif // TTMLIR_DIALECT_FAMILIES_COLLECTIVE_TD
