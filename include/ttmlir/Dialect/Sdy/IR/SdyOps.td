//===- SdyOps.td - ops of the Shardy dialect ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_IR_SDYOPS_TD
#define TTMLIR_DIALECT_SDY_IR_SDYOPS_TD

include "ttmlir/Dialect/Families/Facts.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Sdy/IR/SdyAttrs.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits> {
  let description = [{
    As Shardy defines it: shardings name the axes of a mesh by which each dimension is split.
  }];
}

def Sdy_MeshOp : Sdy_Op<"mesh", [HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "Names a mesh.";
  let description = "Written as `sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>`.";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// The operand, with a sharding that is verified against it.
class Sdy_ShardedValue<string mnemonic, string text, list<Trait> traits = []>
    : Sdy_Op<mnemonic, !listconcat(traits, [TT_MovesValues, TT_ChangesSharding, SameOperandsAndResultType,
                                            DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let summary = text;
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}
def Sdy_ShardingConstraintOp
    : Sdy_ShardedValue<"sharding_constraint", "Asks for a sharding of a value; propagation decides the rest.",
                       [TT_Pointwise]>;
def Sdy_ReshardOp : Sdy_ShardedValue<"reshard", "The same value in another sharding.",
                                       [Pure, TT_LinearInFirst]>;

def Sdy_DataFlowEdgeOp
    : Sdy_Op<"data_flow_edge", [SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Unifies the shardings of values that flow into a region and those inside.";
  let arguments = (ins AnyShaped:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)";
}

def Sdy_FuncDataFlowEdgeOp
    : Sdy_Op<"func_data_flow_edge",
             [TT_Pointwise, SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Unifies the shardings of a function's argument or result and those of its calls.";
  let description = [{
    Of a function's argument or a call's result. Calls are inlined before shardings are propagated, and edges go then.
  }];
  let arguments = (ins AnyShaped:$operand);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier", [Pure, TT_Pointwise, SameOperandsAndResultType]> {
  let summary = "Lets shardings pass in one direction only.";
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Adds a value to a group whose members have the same sharding.";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, TT_Creates, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "A constant that is not folded or merged, so that each use can be sharded its own way.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends the region of an op and gives its results.";
  let arguments = (ins Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp
    : Sdy_Op<"manual_computation", [TT_ForwardsValues, TT_ListsShardings, RecursiveMemoryEffects,
                                    SingleBlockImplicitTerminator<"ReturnOp">, IsolatedFromAbove,
                                    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs the region on every device, on the local parts of tensors along some axes.";
  let description = [{
    Region arguments and returned values have the shape of a global tensor divided along the manual axes of its
    sharding; along all other axes tensors stay global.
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)`
    `in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)
    `out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes
    custom<SingleBlockRegionNoBlockId>($body) attr-dict `:` functional-type(operands, results)
  }];
}

def Sdy_NamedComputationOp
    : Sdy_Op<"named_computation", [TT_ForwardsValues, TT_ListsShardings, RecursiveMemoryEffects,
                                   RecursivelySpeculatable, IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A group of ops with a name.";
  let arguments = (ins Variadic<AnyType>:$operands, StrAttr:$name, OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)^)?
    custom<SingleBlockRegionNoBlockId>($body) attr-dict `:` functional-type($operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The same global tensor in another sharding, produced by one kind of communication.
class Sdy_Collective<string mnemonic, string text, dag before, string format, list<Trait> traits = []>
    : Sdy_Op<mnemonic, !listconcat(traits, [TT_ChangesSharding, SameOperandsAndResultType,
                                            DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let summary = text;
  let arguments = !con((ins AnyShaped:$tensor), before, (ins Sdy_TensorSharding:$out_sharding));
  let results = (outs AnyShaped:$result);
  let assemblyFormat = format # " $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

def Sdy_AllGatherOp : Sdy_Collective<"all_gather", "Removes axes from the end of each dimension's sharding.",
  (ins Sdy_ListOfAxisRefLists:$gathering_axes), "$gathering_axes", [TT_MovesValues]>;
def Sdy_AllSliceOp : Sdy_Collective<"all_slice", "Adds axes at the end of each dimension's sharding.",
  (ins Sdy_ListOfAxisRefLists:$slicing_axes), "$slicing_axes", [TT_MovesValues]>;
def Sdy_AllToAllOp : Sdy_Collective<"all_to_all", "Moves axes from one dimension's sharding to another's.",
  (ins Sdy_AllToAllParamList:$params), "$params", [TT_MovesValues]>;
def Sdy_CollectivePermuteOp
    : Sdy_Collective<"collective_permute", "Exchanges axes for others that split as much.", (ins), "",
                     [TT_MovesValues, TT_LinearInFirst]>;
def Sdy_AllReduceOp : Sdy_Collective<"all_reduce", "Combines the partial values along some axes.",
  (ins Sdy_AxisRefList:$reduction_axes, DefaultValuedAttr<Sdy_ReductionOp, "::mlir::sdy::ReductionOp::SUM">:$reduction_op),
  "($reduction_op^)? $reduction_axes">;
def Sdy_ReduceScatterOp
    : Sdy_Collective<"reduce_scatter", "Combines partial values along some axes, which then split dimensions.",
  (ins Sdy_ListOfAxisRefLists:$reduce_scatter_axes,
       DefaultValuedAttr<Sdy_ReductionOp, "::mlir::sdy::ReductionOp::SUM">:$reduction_op),
  "($reduction_op^)? $reduce_scatter_axes">;
def Sdy_ReplicatedToUnreducedOp
    : Sdy_Collective<"replicated_to_unreduced", "Turns copies along some axes into partial values.",
  (ins Sdy_AxisRefList:$axes), "$axes">;
def Sdy_ShardedToUnreducedOp
    : Sdy_Collective<"sharded_to_unreduced", "Turns parts of dimensions along some axes into partial values.",
  (ins Sdy_ListOfAxisRefLists:$axes), "$axes">;

#endif // TTMLIR_DIALECT_SDY_IR_SDYOPS_TD
