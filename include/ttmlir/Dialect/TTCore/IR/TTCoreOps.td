//===- TTCoreOps.td - ops of the TTCore dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCOREOPS_TD
#define TTMLIR_DIALECT_TTCORE_IR_TTCOREOPS_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreTypes.td"

def TTCore_DeviceOp : TTCore_Op<"device", [Symbol]> {
  let summary = "Names a device.";
  let arguments = (ins SymbolNameAttr:$sym_name, TTCore_DeviceAttr:$device_attr);
  let assemblyFormat = "$sym_name `=` $device_attr attr-dict";
}

/// A container of one builtin.module for one kind of processor.
class TTCore_ModuleOp<string mnemonic, string text>
    : TTCore_Op<mnemonic, [IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock, SymbolTable]> {
  let summary = text;
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "attr-dict-with-keyword $bodyRegion";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins), [{ $_state.addRegion()->emplaceBlock(); }]>];
}
def TTCore_DeviceModuleOp : TTCore_ModuleOp<"device_module", "Holds the module that runs on the device.">;
def TTCore_CPUModuleOp : TTCore_ModuleOp<"cpu_module", "Holds the module that runs on the host.">;

def TTCore_LoadCachedOp : TTCore_Op<"load_cached", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Results of a function of constant inputs, evaluated once and kept.";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`(` $callee `,` `[` $inputs `]` `)` attr-dict `:` functional-type($inputs, $results)";
}

/// An op that runs functions of the module each time. Nothing of it is visible but its results.
class TTCore_ControlOp<string mnemonic>
    : TTCore_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
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

def TTCore_OptimizationBarrierOp : TTCore_Op<"optimization_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Passes its inputs on; nothing is moved or folded across it.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCOREOPS_TD
