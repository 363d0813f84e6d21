//===- Passes.td - propagation and partitioning ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class Sdy_Pass<string argument, string operation> : Pass<argument, operation> {
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

def SdyPopulateOpShardingRules : Sdy_Pass<"sdy-populate-op-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Add sharding rules: which dimensions of each op are split together";
  let description = [{
    Before: `%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...`
    After: the same with
    `sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>`
  }];
  let options = [Option<"isConservative", "conservative-propagation", "bool", "false",
                        "Block factors along which a device needs data of its neighbours">];
}

class Sdy_Propagation<string argument, string text> : Sdy_Pass<argument, "::mlir::ModuleOp"> {
  let summary = text;
  let description = [{
    Shardings spread from where they are given to operands and results, by the sharding rule of each op, until no more
    can be split. A closed dimension stays as it is; only axes that divide a dimension are added.

    Before: `%0 = stablehlo.add %a, %a : tensor<8x8xf32>`, with `%a` split by `[{"x", ?}, {?} ]`
    After: the same with `sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?} ]>]>`
  }];
  list<Option> common = [
    Option<"keepsShardingRules", "keep-sharding-rules", "bool", "false", "Leave the rules on the ops">,
    Option<"isConservative", "conservative-propagation", "bool", "false",
           "Split no axis, and nothing that needs data of its neighbours">,
    Option<"enableHaloExchange", "enable-halo-exchange", "bool", "false",
           "In the conservative mode, split windows that edges of neighbours make whole">];
  Option strategy = Option<"strategy", "propagation-strategy", "::mlir::sdy::PropagationStrategy",
                           "::mlir::sdy::PropagationStrategy::Aggressive", "The sharding that wins a conflict", [{::llvm::cl::values(
    clEnumValN(::mlir::sdy::PropagationStrategy::Aggressive, "aggressive", "the factor of the largest tensor"),
    clEnumValN(::mlir::sdy::PropagationStrategy::Basic, "basic", "none"),
    clEnumValN(::mlir::sdy::PropagationStrategy::BasicThenAggressive, "basic-then-aggressive",
               "first none, then as aggressive"))}]>;
  let options = !listconcat(common, [strategy]);
}

def SdyBasicPropagate
    : Sdy_Propagation<"sdy-basic-propagate", "Spread shardings where nothing is in conflict"> {
  let options = common;
}
def SdyAggressivePropagate
    : Sdy_Propagation<"sdy-aggressive-propagate", "Spread shardings, and settle conflicts by size">;
def SdyOpPriorityPropagate
    : Sdy_Propagation<"sdy-op-priority-propagate", "Spread shardings, first through ops that move no data">;
def SdyUserPriorityPropagate
    : Sdy_Propagation<"sdy-user-priority-propagate", "Spread shardings in the order of their priorities">;

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

class Sdy_InsertExplicitReshards<string argument> : Sdy_Pass<argument, "::mlir::func::FuncOp"> {
  let summary = "Insert reshards where ops, regions, calls and returns need another sharding";
  let description = [{
    After the pass the tensors of each op are split alike by its sharding rule, so that each device computes on what it
    holds. A factor that an op needs whole is gathered; partial results of a contraction are combined.

    Before: `%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...`, both split along the contraction
    After: the same, and `%1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {} ]> : tensor<8x16xf32>`
  }];
  let options = [Option<"enableFullVersion", "enable-full-version", "bool", "false",
                        "Reshard for all ops; else for calls, concatenations and partial results only">,
                 Option<"enableHaloExchange", "enable-halo-exchange", "bool", "false",
                        "Leave windows split where edges of neighbours make them whole">];
}
def SdyInsertExplicitReshards : Sdy_InsertExplicitReshards<"sdy-insert-explicit-reshards">;
def InsertExplicitReshards : Sdy_InsertExplicitReshards<"insert-explicit-reshards">;

def SdyReshardToCollectives : Sdy_Pass<"sdy-reshard-to-collectives", "::mlir::func::FuncOp"> {
  let summary = "Replace reshards by collectives";
  let description = [{
    As few collectives as do, such that no device holds more at any time than before or after.

    Before: `%0 = sdy.reshard %a <@mesh, [{}, {"x"} ]> : tensor<8x8xf32>`, with `%a` split by `[{"x"}, {} ]`
    After: `%0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"} ]> : tensor<8x8xf32>`
  }];
  let options = [Option<"keepRedundantReshards", "keep-redundant-reshards", "bool", "false",
                        "Leave reshards that change nothing">];
}

def SdyCanonicalizeCollectives : Sdy_Pass<"sdy-canonicalize-collectives", "::mlir::func::FuncOp"> {
  let summary = "Merge and remove redundant reshards and collectives";
  let description = [{
    Before: `%1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{} ]>`, `%2 = sdy.all_slice [{"y"} ] %1 ...`
    After: `%1 = sdy.reduce_scatter [{"y"} ] %0 out_sharding=<@mesh, [{"y"} ]>`
  }];
}

def SdyShardingConstraintToReshard : Sdy_Pass<"sdy-sharding-constraint-to-reshard", "::mlir::func::FuncOp"> {
  let summary = "Replace sharding constraints by reshards";
  let description = "Propagation has applied the constraints; the pass reshards each value to its constraint.";
}

def SdyCloseShardings : Sdy_Pass<"sdy-close-shardings", "::mlir::ModuleOp"> {
  let summary = "Close all dimensions";
  let description = "Priorities and replicated axes go, too. Before: `[{\"x\", ?}, {?}]`. After: `[{\"x\"}, {}]`.";
}

def SdyDropShardingRules : Sdy_Pass<"sdy-drop-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Remove sharding rules except those of users";
  let description = "Rules that are marked `custom` stay.";
}

def SdyRemoveShardingGroups : Sdy_Pass<"sdy-remove-sharding-groups", "::mlir::ModuleOp"> {
  let summary = "Remove sharding groups";
  let description = "Propagation has brought their members to one sharding.";
}

def SdyDropShardingAndMesh : Sdy_Pass<"sdy-drop-sharding-and-mesh", "::mlir::ModuleOp"> {
  let summary = "Remove shardings and meshes";
  let description = "Drops the shardings of arguments, results and ops. A mesh that a collective or computation still names stays.";
}

def SdyInlineMeshes : Sdy_Pass<"sdy-inline-meshes", "::mlir::ModuleOp"> {
  let summary = "Inline meshes into shardings";
  let description = "Before: `<@mesh, [{\"x\"}]>`. After: `<mesh<[\"x\"=2]>, [{\"x\"}]>`.";
}

def SdyRemoveSubAxesInInputOutputShardings
    : Sdy_Pass<"sdy-remove-sub-axes-in-input-output-shardings", "::mlir::ModuleOp"> {
  let summary = "Truncate open dimensions of main's arguments and results before the first sub-axis";
  let description = "Callers hold whole axes.";
}

def SdyUpdateNonDivisibleInputOutputShardings
    : Sdy_Pass<"sdy-update-non-divisible-input-output-shardings", "::mlir::ModuleOp"> {
  let summary = "Remove axes that do not divide a dimension of an argument or result";
  let description = "Before: `tensor<6xf32>` split by `\"x\"` of size 4. After: split by `\"x\":(1)2`.";
}

//===----------------------------------------------------------------------===//
// Import: before propagation
//===----------------------------------------------------------------------===//

def SdyAddDataFlowEdges : Sdy_Pass<"sdy-add-data-flow-edges", "::mlir::ModuleOp"> {
  let summary = "Add data flow edges for values that enter regions";
  let description = [{
    A loop's operand, arguments and result, or the results of all branches, hold the same value at different times. An
    edge op behind the result has the sharding of all.

    Before: `%0 = stablehlo.while(%x = %a) ...`
    After: the same, and `%1 = sdy.data_flow_edge %0 : tensor<8x8xf32>`, which all users take
  }];
}

def SdyLiftInlinedMeshes : Sdy_Pass<"sdy-lift-inlined-meshes", "::mlir::ModuleOp"> {
  let summary = "Lift inlined meshes to symbols";
  let description = "Before: `<mesh<[\"x\"=2]>, [{\"x\"}]>`. After: `sdy.mesh @mesh = <[\"x\"=2]>`, `<@mesh, [{\"x\"}]>`.";
}

def SdyRemoveSizeOneAxes : Sdy_Pass<"sdy-remove-size-one-axes", "::mlir::ModuleOp"> {
  let summary = "Remove axes of size 1 from shardings";
  let description = "They split nothing, and stand in the way of axes that do. Meshes keep them.";
}

def SdyManualAxesCleanup : Sdy_Pass<"sdy-manual-axes-cleanup", "::mlir::ModuleOp"> {
  let summary = "Order manual axes as the mesh does, and add them to all shardings of the computation";
  let description = "A manual axis that splits no dimension of an operand or result is among its replicated ones.";
}

def SdyConstantOrScalarSplitter : Sdy_Pass<"sdy-constant-or-scalar-splitter", "::mlir::ModuleOp"> {
  let summary = "Clone constants and broadcasts of scalars for each use";
  let description = "So that the sharding of one use is not that of another. Constants become `sdy.constant`.";
}

def SdyApplyShardingConstraints : Sdy_Pass<"sdy-apply-sharding-constraints", "::mlir::ModuleOp"> {
  let summary = "Apply closed sharding constraints to values";
  let description = [{
    Before: `%0 = stablehlo.add %a, %a : ...` and `%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {} ]> : ...`
    After: `%0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : ...`
  }];
}

def SdyShardingGroupImport : Sdy_Pass<"sdy-sharding-group-import", "::mlir::ModuleOp"> {
  let summary = "Merge sharding groups that share a value, and unify the shardings of their members";
  let description = [{
    Groups are numbered from 0. If members have different shardings, a warning says so, and each is followed by an open
    constraint that takes its place.
  }];
}

def SdyPropagateShardingFromFuncToCall : Sdy_Pass<"sdy-propagate-sharding-from-func-to-call", "::mlir::ModuleOp"> {
  let summary = "Propagate the shardings of a callee's results to its calls";
  let description = "Calls that have shardings keep them.";
}

def SdyPreOrderFuncs : Sdy_Pass<"sdy-pre-order-funcs", "::mlir::ModuleOp"> {
  let summary = "Move each function after its callers";
  let description = "So that shardings are seen on their way from callers to callees.";
}

//===----------------------------------------------------------------------===//
// Export: after propagation
//===----------------------------------------------------------------------===//

def SdyPropagateToFuncResults : Sdy_Pass<"sdy-propagate-to-func-results", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings of returned values to results of functions other than main";
  let description = "The shardings of main are part of its interface.";
}

def SdyInsertFuncCallReshards : Sdy_Pass<"sdy-insert-func-call-reshards", "::mlir::ModuleOp"> {
  let summary = "Propagate the shardings of a callee's results to its calls, and reshard to the previous shardings";
  let description = "After the pass a call and its callee agree.";
}

def SdyConstantOrScalarMerger : Sdy_Pass<"sdy-constant-or-scalar-merger", "::mlir::func::FuncOp"> {
  let summary = "Merge constants, and broadcasts of a scalar, that have the same sharding";
  let description = "The inverse of sdy-constant-or-scalar-splitter, for what propagation did not tell apart.";
}

def SdySinkDataFlowEdges : Sdy_Pass<"sdy-sink-data-flow-edges", "::mlir::func::FuncOp"> {
  let summary = "Move the shardings of edges to the ops that own them, and remove the edges";
  let description = "The inverse of sdy-add-data-flow-edges.";
}

#endif // TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD
