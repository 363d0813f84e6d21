//===- TTCoreOps.td - ops of the TTCore dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCOREOPS_TD
#define TTMLIR_DIALECT_TTCORE_IR_TTCOREOPS_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Families/Facts.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreTypes.td"

def TTCore_DeviceOp : TTCore_Op<"device", [Symbol]> {
  let summary = "Names a device.";
  let arguments = (ins SymbolNameAttr:$sym_name, TTCore_DeviceAttr:$device_attr);
  let assemblyFormat = "$sym_name `=` $device_attr attr-dict";
}

/// A container of one builtin.module for one kind of processor.
class TTCore_ModuleOp<string mnemonic, string text>
    : TTCore_Op<mnemonic, [TT_HoldsModule, IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock, SymbolTable]> {
  let summary = text;
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "attr-dict-with-keyword $bodyRegion";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins), [{ $_state.addRegion()->emplaceBlock(); }]>];
}
def TTCore_DeviceModuleOp : TTCore_ModuleOp<"device_module", "Holds the module that runs on the device.">;
def TTCore_CPUModuleOp : TTCore_ModuleOp<"cpu_module", "Holds the module that runs on the host.">;

def TTCore_LoadCachedOp : TTCore_Op<"load_cached", [Pure, TT_ForwardsValues, TT_RunsFunctions, TT_RunsOnce,
                                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Results of a function of constant inputs, evaluated once and kept.";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`(` $callee `,` `[` $inputs `]` `)` attr-dict `:` functional-type($inputs, $results)";
}

/// An op that runs functions of the module each time. Only its results are visible.
class TTCore_ControlOp<string mnemonic>
    : TTCore_Op<mnemonic, [Pure, TT_ForwardsValues, TT_ControlsFlow, TT_RunsFunctions,
                          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
}

def TTCore_WhileOp : TTCore_ControlOp<"while"> {
  let summary = "Runs a function on its own results while another says so.";
  let description = [{
    The first inputs, one for each result, are what the loop carries; the others stay as they are. Both functions take
    all of them. `cond` returns one number, and the loop ends when it is 0; `body` returns what is carried to the next
    turn: `ttcore.while(@more, @step, [%count, %x, %weight]) : (...) -> (tensor<si32>, tensor<4xf32>)`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$cond, FlatSymbolRefAttr:$body, Variadic<AnyRankedTensor>:$inputs);
  let assemblyFormat = "`(` $cond `,` $body `,` `[` $inputs `]` `)` attr-dict `:` functional-type($inputs, $results)";
}

def TTCore_CaseOp : TTCore_ControlOp<"case"> {
  let summary = "Runs the function of a list that a number selects.";
  let description = [{
    All functions take the inputs and return the results. A number that none has stands for the last.
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$branches, AnyRankedTensor:$index, Variadic<AnyRankedTensor>:$inputs);
  let assemblyFormat = [{
    `(` $branches `,` $index `,` `[` $inputs `]` `)` attr-dict `:` type($index) `,` functional-type($inputs, $results)
  }];
}

def TTCore_OptimizationBarrierOp : TTCore_Op<"optimization_barrier", [TT_ForwardsValues, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Passes its inputs on; nothing is moved or folded across it.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

def TTCore_CompositeOp : TTCore_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A function under a name of its own, for those who know an op that computes it.";
  let description = [{
    `decomposition` takes the inputs and returns the results. `ttir-decompose-composites` calls it in the op's place.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, StrAttr:$composite_name, FlatSymbolRefAttr:$decomposition,
                       OptionalAttr<DictionaryAttr>:$composite_attributes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Several values as one
//===----------------------------------------------------------------------===//

def TTCore_TupleOp : TTCore_Op<"tuple", [Pure, InferTypeOpAdaptor]> {
  let summary = "Values as one.";
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs TTCore_Tuple:$result);
  let assemblyFormat = "$operands attr-dict `:` custom<TupleOpType>(type($operands), type($result))";
}

def TTCore_GetTupleElementOp : TTCore_Op<"get_tuple_element", [Pure, InferTypeOpAdaptor]> {
  let summary = "One value of a tuple, counted from 0.";
  let arguments = (ins TTCore_Tuple:$operand, ConfinedAttr<I32Attr, [IntNonNegative]>:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Values that persist between calls
//===----------------------------------------------------------------------===//

def TTCore_GlobalOp : TTCore_Op<"global", [Symbol]> {
  let summary = "A value of the module, by its name; `index` says which of the caller's it is.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, OptionalAttr<SI32Attr>:$index);
  let assemblyFormat = "$sym_name `=` $type (` ` `[` $index^ `]`)? attr-dict";
}

def TTCore_GetGlobalOp : TTCore_Op<"get_global", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a `ttcore.global`.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$sym_name attr-dict `:` type($result)";
}

def TTCore_Key : AnyAttrOf<[StrAttr, IndexAttr]>;

def TTCore_GetKeyValueOp : TTCore_Op<"get_key_value", [MemoryEffects<[MemRead]>]> {
  let summary = "Value of a dictionary under a key: a name or a number.";
  let arguments = (ins TTCore_DictType:$dict, TTCore_Key:$key);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$dict `[` $key `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def TTCore_SetKeyValueOp : TTCore_Op<"set_key_value", [MemoryEffects<[MemWrite]>]> {
  let summary = "Puts values into a dictionary, in the place of those under the key.";
  let arguments = (ins TTCore_DictType:$dict, TTCore_Key:$key, Variadic<AnyType>:$values);
  let assemblyFormat = "$dict `[` $key `]` `=` $values attr-dict `:` type($dict) `,` type($values)";
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCOREOPS_TD
