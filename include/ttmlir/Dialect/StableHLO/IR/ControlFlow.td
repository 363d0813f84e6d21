//===- ControlFlow.td - StableHLO control flow -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_CONTROLFLOW_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_CONTROLFLOW_TD

include "mlir/IR/OpAsmInterface.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

/// Regions that can use values defined outside, each with one block that ends in `return`.
class StableHLO_ControlOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat([TT_ForwardsValues, TT_ControlsFlow, RecursiveMemoryEffects,
                                          RecursivelySpeculatable, SingleBlockImplicitTerminator<"ReturnOp">], traits)> {
  let results = (outs Variadic<StableHLO_TensorOrToken>);
  let hasRegionVerifier = 1;
}

def StableHLO_CaseOp : StableHLO_ControlOp<"case"> {
  let summary = "Results of the branch with this index; an index without a branch selects the last one.";
  let arguments = (ins StableHLO_I32ScalarTensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
}

def StableHLO_IfOp : StableHLO_ControlOp<"if"> {
  let summary = "Results of one of two branches.";
  let arguments = (ins StableHLO_PredScalarTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
}

def StableHLO_WhileOp
    : StableHLO_ControlOp<"while", [TT_KeepsShape, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Runs a region on its own results while another says so.";
  let description = [{
    `%r:2 = stablehlo.while(%i = %zero, %x = %start) : tensor<i32>, tensor<f32> cond {...} do {...}`; both regions take
    what the loop carries.
  }];
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_MapOp
    : StableHLO_Op<"map",
                   [TT_AppliesRegion, TT_Pointwise, TT_KeepsShape, RecursiveMemoryEffects, RecursivelySpeculatable,
                           SameOperandsAndResultShape, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Runs a region on the scalars of all elements.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor);
  let regions = (region SizedRegion<1>:$computation);
  let hasRegionVerifier = 1;
}

def StableHLO_OptimizationBarrierOp
    : StableHLO_Op<"optimization_barrier", [Pure, TT_ForwardsValues, TT_KeepsShape, TT_LinearInFirst]> {
  let summary = "Passes its operands on; nothing is moved or folded across it.";
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$operand);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

def StableHLO_CompositeOp : StableHLO_Op<"composite", [TT_RunsFunctions, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An op of a name that a function decomposes.";
  let description = [{
    `stablehlo.composite "my.op" %a {composite_attributes = {n = 1 : i32}, decomposition = @f} : (tensor<2xf32>) ->
    tensor<2xf32>` gives what `call @f(%a)` gives.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<AnyType>);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let assemblyFormat = [{
    $name $inputs (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CustomCallOp : StableHLO_Op<"custom_call", [TT_Factors<"::mlir::stablehlo::customCallFactors">, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "An op that an implementation knows by name.";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
                       DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr, "1">:$api_version,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$called_computations,
                       OptionalAttr<ArrayAttr>:$operand_layouts, OptionalAttr<ArrayAttr>:$result_layouts,
                       OptionalAttr<TypedArrayAttrBase<StableHLO_OutputOperandAlias, "aliases">>:$output_operand_aliases,
                       OptionalAttr<ArrayAttr>:$result_tilings);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tuples and tokens
//===----------------------------------------------------------------------===//

def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure, TT_ReplacedEarly]> {
  let summary = "A token that follows others.";
  let arguments = (ins Variadic<StableHLO_Token>:$inputs);
  let results = (outs StableHLO_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))
  }];
}

def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure, TT_ReplacedEarly]> {
  let summary = "A token that follows nothing.";
  let results = (outs StableHLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_TupleOp : StableHLO_Op<"tuple", [Pure, TT_ForwardsValues, TT_ReplacedEarly]> {
  let summary = "Values as one.";
  let arguments = (ins Variadic<AnyType>:$val);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))";
  let hasVerifier = 1;
}

def StableHLO_GetTupleElementOp
    : StableHLO_Op<"get_tuple_element", [Pure, TT_ForwardsValues, TT_ReplacedEarly]> {
  let summary = "A value of a tuple.";
  let arguments = (ins AnyTuple:$operand, ConfinedAttr<I32Attr, [IntNonNegative]>:$index);
  let results = (outs AnyType);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_CONTROLFLOW_TD
