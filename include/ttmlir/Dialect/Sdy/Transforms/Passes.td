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

#endif // TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_TD
