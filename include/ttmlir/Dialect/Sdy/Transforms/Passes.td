//===- Passes.td - propagation and partitioning ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

def SdyPopulateOpShardingRules : Pass<"sdy-populate-op-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Say which dimensions of each op are split together";
  let description = [{
    Before: `%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...`
    After: the same with
    `sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>`
  }];
  let options = [Option<"isConservative", "conservative-propagation", "bool", "false",
                        "Block factors along which a device needs data of its neighbours">];
}

class Sdy_Propagation<string argument, string text> : Pass<argument, "::mlir::ModuleOp"> {
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
           "Split no axis, and nothing that needs data of its neighbours">];
  Option strategy = Option<"strategy", "propagation-strategy", "::mlir::sdy::PropagationStrategy",
                           "::mlir::sdy::PropagationStrategy::Aggressive", "Who wins a conflict", [{::llvm::cl::values(
    clEnumValN(::mlir::sdy::PropagationStrategy::Aggressive, "aggressive", "the factor of the largest tensor"),
    clEnumValN(::mlir::sdy::PropagationStrategy::Basic, "basic", "none"),
    clEnumValN(::mlir::sdy::PropagationStrategy::BasicThenAggressive, "basic-then-aggressive", "first none, then as aggressive"))}]>;
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

class Sdy_InsertExplicitReshards<string argument> : Pass<argument, "::mlir::func::FuncOp"> {
  let summary = "Reshard what ops, regions, calls and returns need split in another way";
  let description = [{
    After the pass the tensors of each op are split alike by its sharding rule, so that each device computes on what it
    holds. A factor that an op needs whole is gathered; partial results of a contraction are combined.

    Before: `%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...`, both split along the contraction
    After: the same, and `%1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {} ]> : tensor<8x16xf32>`
  }];
  let options = [Option<"enableFullVersion", "enable-full-version", "bool", "false",
                        "Reshard for all ops; else for calls, concatenations and partial results only">];
}
def SdyInsertExplicitReshards : Sdy_InsertExplicitReshards<"sdy-insert-explicit-reshards">;
def InsertExplicitReshards : Sdy_InsertExplicitReshards<"insert-explicit-reshards">;

def SdyReshardToCollectives : Pass<"sdy-reshard-to-collectives", "::mlir::func::FuncOp"> {
  let summary = "Replace reshards by collectives";
  let description = [{
    As few collectives as do, such that no device holds more at any time than before or after.

    Before: `%0 = sdy.reshard %a <@mesh, [{}, {"x"} ]> : tensor<8x8xf32>`, with `%a` split by `[{"x"}, {} ]`
    After: `%0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"} ]> : tensor<8x8xf32>`
  }];
  let options = [Option<"keepRedundantReshards", "keep-redundant-reshards", "bool", "false",
                        "Leave reshards that change nothing">];
}

def SdyShardingConstraintToReshard : Pass<"sdy-sharding-constraint-to-reshard", "::mlir::func::FuncOp"> {
  let summary = "Replace sharding constraints by reshards";
  let description = "What propagation was told to do has been done; what is left is to bring each value to it.";
}

def SdyCloseShardings : Pass<"sdy-close-shardings", "::mlir::ModuleOp"> {
  let summary = "Close all dimensions";
  let description = "Priorities and replicated axes go, too. Before: `[{\"x\", ?}, {?}]`. After: `[{\"x\"}, {}]`.";
}

def SdyDropShardingRules : Pass<"sdy-drop-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Remove sharding rules, but for those of users";
}

def SdyRemoveShardingGroups : Pass<"sdy-remove-sharding-groups", "::mlir::ModuleOp"> {
  let summary = "Remove sharding groups";
}

def SdyDropShardingAndMesh : Pass<"sdy-drop-sharding-and-mesh", "::mlir::ModuleOp"> {
  let summary = "Remove shardings and meshes";
}

def SdyInlineMeshes : Pass<"sdy-inline-meshes", "::mlir::ModuleOp"> {
  let summary = "Write meshes where they are used";
  let description = "Before: `<@mesh, [{\"x\"}]>`. After: `<mesh<[\"x\"=2]>, [{\"x\"}]>`.";
}

def SdyRemoveSubAxesInInputOutputShardings
    : Pass<"sdy-remove-sub-axes-in-input-output-shardings", "::mlir::ModuleOp"> {
  let summary = "Cut open dimensions of the arguments and results of main before the first part of an axis";
}

def SdyUpdateNonDivisibleInputOutputShardings
    : Pass<"sdy-update-non-divisible-input-output-shardings", "::mlir::ModuleOp"> {
  let summary = "Cut axes that do not divide a dimension of an argument or result";
  let description = "Before: `tensor<6xf32>` split by `\"x\"` of size 4. After: split by `\"x\":(1)2`.";
}

#endif // TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD
