//===- Facts.td - what ops do to values ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A fact is stated once, on the op's row. C++ queries the trait (`op->hasTrait<tt::trait::MovesValues>()`, see
// Families/Facts.h). tools/opgen writes its name into `ops.json` and `Api.inc`, where Python and the runtime read it.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_FACTS_TD
#define TTMLIR_DIALECT_FAMILIES_FACTS_TD

include "mlir/IR/OpBase.td"

class TT_Fact<string trait, string name> : NativeOpTrait<trait> {
  let cppNamespace = "::mlir::tt::trait";
  string fact = name;
}

def TT_MovesValues : TT_Fact<"MovesValues", "moves_values">;
def TT_ForwardsValues : TT_Fact<"ForwardsValues", "forwards_values">;
def TT_FillsValues : TT_Fact<"FillsValues", "fills_values">;
def TT_DrawsValues : TT_Fact<"DrawsValues", "draws_values">;
def TT_DependsOnPlace : TT_Fact<"DependsOnPlace", "depends_on_place">;
def TT_JoinsShards : TT_Fact<"JoinsShards", "joins_shards">;
def TT_WritesCache : TT_Fact<"WritesCache", "writes_cache">;
def TT_Convolves : TT_Fact<"Convolves", "convolves">;
def TT_TakesWeight : TT_Fact<"TakesWeight", "takes_weight">;
def TT_Compares : TT_Fact<"Compares", "compares">;
def TT_ComputesTruth : TT_Fact<"ComputesTruth", "computes_truth">;
def TT_ReadsBits : TT_Fact<"ReadsBits", "reads_bits">;
def TT_CombinesShards : TT_Fact<"CombinesShards", "combines_shards">;
def TT_ChangesSharding : TT_Fact<"ChangesSharding", "changes_sharding">;
def TT_AppliesRegion : TT_Fact<"AppliesRegion", "applies_region">;
def TT_ControlsFlow : TT_Fact<"ControlsFlow", "controls_flow">;
def TT_RunsFunctions : TT_Fact<"RunsFunctions", "runs_functions">;
def TT_RunsOnce : TT_Fact<"RunsOnce", "runs_once">;
def TT_GivesHostTensor : TT_Fact<"GivesHostTensor", "gives_host_tensor">;
def TT_ListsShardings : TT_Fact<"ListsShardings", "lists_shardings">;
def TT_HoldsModule : TT_Fact<"HoldsModule", "holds_module">;
def TT_ReplacedEarly : TT_Fact<"ReplacedEarly", "replaced_early">;

def TT_AwaitsBlock : TT_Fact<"AwaitsBlock", "awaits_block">;
def TT_ReleasesBlock : TT_Fact<"ReleasesBlock", "releases_block">;
def TT_CopiesMemory : TT_Fact<"CopiesMemory", "copies_memory">;
def TT_ConvertsTiles : TT_Fact<"ConvertsTiles", "converts_tiles">;
def TT_ConfiguresUnit : TT_Fact<"ConfiguresUnit", "configures_unit">;

def TT_Creates : TT_Fact<"Creation", "creates_values">;
def TT_SumsProducts : TT_Fact<"Product", "sums_products">;
def TT_ChangesQuantization : TT_Fact<"ChangesQuantization", "changes_quantization">;
def TT_KeepsShape : TT_Fact<"KeepsShape", "keeps_shape">;
def TT_Rearranges : TT_Fact<"Rearranges", "rearranges_values">;
def TT_KeepsOrder : TT_Fact<"KeepsOrder", "keeps_order">;
def TT_Repeats : TT_Fact<"Repeats", "repeats_values">;
def TT_TakesStart : TT_Fact<"TakesStart", "takes_start">;
def TT_KeepsConstants : TT_Fact<"KeepsConstants", "keeps_constants">;

def TT_KeepsRange : TT_Fact<"KeepsRange", "keeps_range">;
def TT_Divides : TT_Fact<"Divides", "divides">;
def TT_KeepsEqual : TT_Fact<"KeepsEqual", "keeps_equal">;

def TT_Pointwise : TT_Fact<"Pointwise", "pointwise">;
def TT_Linear : TT_Fact<"Linear", "linear">;
def TT_LinearInFirst : TT_Fact<"LinearInFirst", "linear_in_first">;
def TT_LinearInEach : TT_Fact<"LinearInEach", "linear_in_each">;

// The number that leaves the other operand as it is: of floats and of integers, or NAN for none. It is the second operand
// or, of an op that commutes, either. Integers have -INFINITY for the lowest number of their type and INFINITY for the
// highest. `absorbing`: the integer that is the result wherever an operand is this integer.
class TT_Neutral<string ofFloats, string ofIntegers, bit commutes = 0, string absorbing = "::std::nullopt">
    : NativeOpTrait<"NeutralOpInterface::Trait", [], [{
      static ::mlir::tt::NeutralNumbers neutralNumbers() {
        return {}] # ofFloats # ", " # ofIntegers # ", " # !if(commutes, "true", "false") # ", " # absorbing # [{};
      }
    }]> {
  let cppNamespace = "::mlir::tt";
}

// The relation between dimensions of results and of operands: a function of the op and the mode
// (Families/FactorsInterface.h).
class TT_Factors<string function> : NativeOpTrait<"FactorsOpInterface::Trait", [], [{
      static ::std::optional<::ttmlir::shapes::Factors> factorsOf(::mlir::Operation *op, ::ttmlir::shapes::FactorMode mode) {
        return }] # function # [{(op, mode);
      }
    }]> {
  let cppNamespace = "::mlir::tt";
}

// The scalar function that the op computes for each element, by its name in ttmlir/scalars/Functions.h, and the
// function for elements of i1 if it differs. An op of StableHLO or CHLO is folded by this function, has its cost, and
// becomes the TTIR op of this name, if there is one and no pattern lowers the op.
class TT_Computes<string function, string ofPred = ""> : NativeOpTrait<"ScalarOpInterface::Trait", [], [{
      static ::mlir::tt::ScalarNames scalarNames() { return {"}] # function # [{", "}] # ofPred # [{"}; }
    }]> {
  let cppNamespace = "::mlir::tt";
  list<string> computes = [function, !if(!empty(ofPred), function, ofPred)]; // for tools/opgen
}

#endif // TTMLIR_DIALECT_FAMILIES_FACTS_TD
