//===- DebugOps.td - the debug dialect -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_DEBUG_IR_DEBUGOPS_TD
#define TTMLIR_DIALECT_DEBUG_IR_DEBUGOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Families/Facts.td"

def Debug_Dialect : Dialect {
  let name = "debug";
  let summary = "Marks places of a program to look at.";
  let description = [{
    The ops stand among those of TTIR or TTNN, survive the lowering, and are part of the compiled program. They change no
    value. Their effect depends on the caller that runs the program; without an observer they cost nothing.
  }];
  let cppNamespace = "::mlir::tt::debug";
}

/// Ops that name something by a nonempty string.
class Debug_Op<string mnemonic, list<Trait> traits, string text, dag names> : Op<Debug_Dialect, mnemonic, traits> {
  let summary = text;
  let description = text;
  let arguments = !con((ins AnyRankedTensor:$operand), names);
  let hasVerifier = !ne(!size(names), 0);
  let extraClassDefinition = !if(!ne(!size(names), 0), [{
    ::llvm::LogicalResult $cppClass::verify() { return detail::verifyNames(*this); }
  }], "");
}

/// Marks a value. The result is the operand.
class Debug_Mark<string mnemonic, string text, dag names = (ins)>
    : Debug_Op<mnemonic, [Pure, TT_MovesValues, SameOperandsAndResultType], text, names> {
  let results = (outs AnyRankedTensor:$result);
}

/// Has an effect at a point of the program, with the value at that point.
class Debug_Effect<string mnemonic, string text, dag names = (ins)>
    : Debug_Op<mnemonic, [MemoryEffects<[MemWrite]>], text, names>;

def Debug_AnnotateOp : Debug_Mark<"annotate", "A value with a note.", (ins StrAttr:$annotation)>;
def Debug_HookOp : Debug_Mark<"hook", "A value at which the hooks of a run may act.">;
def Debug_SnapshotOp : Debug_Mark<"snapshot", "Marks a value that the caller keeps.">;
def Debug_TimestampOp : Debug_Mark<"timestamp", "Records the time of a value.">;
def Debug_BeginTraceOp : Debug_Mark<"begin_trace", "Marks the start of a trace.", (ins StrAttr:$trace_id)>;
def Debug_EndTraceOp : Debug_Mark<"end_trace", "Marks the end of a trace.", (ins StrAttr:$trace_id)>;
def Debug_ProfilerStartOp : Debug_Mark<"profiler_start", "Marks the start of a scope of the profiler.",
                                       (ins StrAttr:$scope_id)>;
def Debug_ProfilerEndOp : Debug_Mark<"profiler_end", "Marks the end of a scope of the profiler.",
                                       (ins StrAttr:$scope_id)>;
def Debug_RegionStartOp : Debug_Mark<"region_start", "Marks the start of a region of the program.",
                                       (ins StrAttr:$region_id)>;
def Debug_RegionEndOp : Debug_Mark<"region_end", "Marks the end of a region of the program.",
                                     (ins StrAttr:$region_id)>;

def Debug_OverwriteOp : Op<Debug_Dialect, "overwrite", [Pure, SameOperandsAndResultType]> {
  let summary = "The value of `src` in the place of `dst`.";
  let description = summary;
  let arguments = (ins AnyRankedTensor:$dst, AnyRankedTensor:$src);
  let results = (outs AnyRankedTensor:$result);
}

def Debug_BreakpointOp : Debug_Effect<"breakpoint", "Stops here, with a prompt or a callback.">;
def Debug_PrintOp : Debug_Effect<"print", "Prints a message and the value.", (ins StrAttr:$message)>;
def Debug_DumpOp : Debug_Effect<"dump", "Writes the value to a file.", (ins StrAttr:$file_path)>;
def Debug_MemorySnapshotOp : Debug_Effect<"memory_snapshot", "Writes the resident buffers of the device's memories.",
                                          (ins StrAttr:$file_path)>;

def Debug_HostCallOp : Op<Debug_Dialect, "host_call", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Calls a function of the process that runs the program.";
  let description = [{
    The function is known to the process by its name. It gets the values as they are at this place of the program, in row
    major order, and what it gives is the results. Calls happen in the order of the program, each as often as the program
    comes to it.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, StrAttr:$function);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return detail::verifyNames(*this); }
  }];
}

#endif // TTMLIR_DIALECT_DEBUG_IR_DEBUGOPS_TD
