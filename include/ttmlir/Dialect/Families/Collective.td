//===- Collective.td - ops over the chips of a mesh ------------*- tablegen -*-===//
//
// A tensor type is what one chip holds, except on the full side of mesh_shard. `cluster_axis` is the axis of the mesh
// along which chips exchange values: 0 for rows' direction, 1 for columns'.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_COLLECTIVE_TD
#define TTMLIR_DIALECT_FAMILIES_COLLECTIVE_TD

include "ttmlir/Dialect/Families/Base.td"

def TT_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, Non0RankedMemRefOf<[AnyType]>], "ranked tensor or memref">;

class TT_CollectiveOp<Dialect dialect, string mnemonic, dag attributes, string text, string rule>
    : TT_PureOp<dialect, mnemonic, TT_Unary, attributes, text, rule, [TT_CollectiveTrait]> {
  let description = [{
    A collective over the mesh: each chip holds a tensor of this shape, and the chips along mesh axis `cluster_axis` work
    together. On an axis with one chip the result is the input.
  }];
}

// The size of the result depends on the mesh.
class TT_ResizingCollectiveOp<Dialect dialect, string mnemonic, dag attributes, string text, string rule, string check>
    : Op<dialect, mnemonic, [Pure, TT_CollectiveTrait, TT_SuggestShape<TT_Unary, rule>]> {
  let description = [{
    A collective over the mesh: each chip holds a tensor of this shape, and the chips along mesh axis `cluster_axis` work
    together. The size of one dimension changes by the number of chips, which is checked when the module says its mesh.
  }];
  let summary = text;
  let arguments = !con(TT_Unary, attributes);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = TT_Check<check>.definition;
}

class TT_AllGatherOp<Dialect dialect, dag extra = (ins)>
    : TT_ResizingCollectiveOp<dialect, "all_gather", !con((ins SI32Attr:$all_gather_dim, UI32Attr:$cluster_axis), extra),
                              "The tensors of the chips along `cluster_axis` one after another, on each of them.",
                              "allGather(report, op.getInput(), op.getAllGatherDim(), op.getClusterAxis(), results)",
                              [{checkMeshMultiple(*this, "all_gather_dim", getAllGatherDim(), getClusterAxis(),
                                                  getInput(), getResult())}]>;

class TT_ReduceScatterOp<Dialect dialect, dag extra = (ins)>
    : TT_ResizingCollectiveOp<dialect, "reduce_scatter",
                              !con((ins TTCore_ReduceTypeAttr:$reduce_type, SI32Attr:$scatter_dim, UI32Attr:$cluster_axis),
                                   extra),
                              "The tensors along `cluster_axis` combined, each chip keeping its part of `scatter_dim`.",
                              "scatterOverMesh(report, op.getInput(), \"scatter_dim\", op.getScatterDim(), "
                              "op.getClusterAxis(), results)",
                              [{checkMeshMultiple(*this, "scatter_dim", getScatterDim(), getClusterAxis(),
                                                  getResult(), getInput())}]>;

class TT_AllReduceOp<Dialect dialect, string mnemonic, dag extra = (ins)>
    : TT_CollectiveOp<dialect, mnemonic, !con((ins TTCore_ReduceTypeAttr:$reduce_type, UI32Attr:$cluster_axis), extra),
                      "The tensors of the chips along `cluster_axis` combined, on each of them.",
                      "same(report, op.getInput(), results)">;

class TT_MeshPartitionOp<Dialect dialect>
    : TT_ResizingCollectiveOp<dialect, "mesh_partition", (ins SI32Attr:$dim, OptionalAttr<UI32Attr>:$cluster_axis),
                              "Each chip keeps its part of `dim`.",
                              "scatterOverMesh(report, op.getInput(), \"dim\", op.getDim(), op.getClusterAxis(), results)",
                              [{checkMeshMultiple(*this, "dim", getDim(), getClusterAxis(), getResult(), getInput())}]>;
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
    "allToAll(report, op.getInput(), op.getSplitDim(), op.getConcatDim(), op.getSplitCount(), "
    "op.getReplicaGroups(), results)">;
def TTIR_CollectiveBroadcastOp : TT_CollectiveOp<TTIR_Dialect, "collective_broadcast",
    (ins I64ElementsAttr:$replica_groups), "The tensor of the first chip of each group, on all of the group.",
    "collectiveBroadcast(report, op.getInput(), op.getReplicaGroups(), results)">;
def TTIR_CollectivePermuteOp : TT_CollectiveOp<TTIR_Dialect, "collective_permute",
    (ins I64ElementsAttr:$source_target_pairs),
    "Each chip named as a target gets the tensor of its source, the others get zeros.",
    "collectivePermute(report, op.getInput(), op.getSourceTargetPairs(), results)">;

def TTIR_MeshShardOp : Op<TTIR_Dialect, "mesh_shard", [
    Pure, TT_CollectiveTrait,
    TT_InferShape<TT_Unary, [{meshShard(report, op.getInput(), op.getShardType(), op.getShardDirection(), op.getShardShape(),
                              op.getShardDims(), results)}]>]> {
  let summary = "Splits a tensor over a mesh, or joins its parts.";
  let description = [{
    `full_to_shard` divides dimension i by `shard_shape[i]`, `shard_to_full` multiplies it. `shard_dims[a]` is the
    dimension split along axis a of the mesh, -1 for none. Type `identity` states that the values already are where they
    belong; `replicate` and `maximal` keep the shape.
  }];
  let arguments = (ins TT_TensorOrMemRef:$input, TTCore_MeshShardTypeAttr:$shard_type,
                       TTCore_MeshShardDirectionAttr:$shard_direction, DenseI64ArrayAttr:$shard_shape,
                       DenseI64ArrayAttr:$shard_dims);
  let results = (outs TT_TensorOrMemRef:$result);
}

#endif // TTMLIR_DIALECT_FAMILIES_COLLECTIVE_TD
