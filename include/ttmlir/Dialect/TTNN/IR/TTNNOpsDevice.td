//===- TTNNOpsDevice.td - devices, memory, layouts, programs ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNOPSDEVICE_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNOPSDEVICE_TD

include "ttmlir/Dialect/Families/Creation.td"
include "ttmlir/Dialect/Families/Elementwise.td"
include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.td"
include "ttmlir/Dialect/TTNN/IR/TTNNTypes.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

def TTNN_GetDeviceOp : Op<TTNN_Dialect, "get_device", [Pure, TT_RunsOnce]> {
  let summary = "The mesh of devices that the program runs on.";
  let arguments = (ins OptionalAttr<TTNN_MeshShapeAttr>:$mesh_shape, OptionalAttr<TTNN_MeshOffsetAttr>:$mesh_offset);
  let results = (outs TTNN_Device:$device);
  let hasVerifier = 1;
}

// The values stay; their memory or order changes as the result's encoding states.
class TTNN_LayoutOp<string mnemonic, string text, dag device = (ins), list<Trait> traits = []>
    : TT_PureOp<TTNN_Dialect, mnemonic, !con(TT_Unary, device), (ins), text, "same",
                !listconcat([TT_MovesValues], traits)> {
  let description = [{
    Changes where or how a tensor lies in memory, or its data type. The values stay, but for rounding to the data type.
  }];
  let hasFolder = 1;
}

def TTNN_ToDeviceOp : TTNN_LayoutOp<"to_device", "Moves a tensor from the host to the device.", (ins TTNN_Device:$device)>;
def TTNN_FromDeviceOp : TTNN_LayoutOp<"from_device", "Moves a tensor from the device to the host.", (ins),
                                      [TT_GivesHostTensor]>;
def TTNN_ToLayoutOp : TTNN_LayoutOp<"to_layout", "Brings a tensor into tiles, or out of them.">;
def TTNN_ToMemoryConfigOp : TTNN_LayoutOp<"to_memory_config", "Moves a tensor to another memory or sharding.">;
def TTNN_ToTensorSpecOp : TTNN_LayoutOp<"to_tensor_spec", "Gives a tensor another layout, memory and data type at once.">;

def TTNN_DeallocateOp : Op<TTNN_Dialect, "deallocate", [MemoryEffects<[MemFree]>]> {
  let summary = "Frees the memory of a tensor; with `force` also if others share it.";
  let arguments = (ins AnyRankedTensor:$input, TT_Bool<"false">:$force);
}

def TTNN_AllocOp : Op<TTNN_Dialect, "alloc", [TT_Creates]> {
  let summary = "A tensor at a given address.";
  let arguments = (ins I64Attr:$address, I64Attr:$size, TTNN_BufferTypeAttr:$buffer_type);
  let results = (outs TT_FreshTensor:$result);
  let hasVerifier = 1;
}

def TTNN_CopyOp : Op<TTNN_Dialect, "copy", [
    MemoryEffects<[MemWrite]>, TT_CheckShape<(ins AnyRankedTensor:$src, AnyRankedTensor:$dst), "copy">]> {
  let summary = "Writes one tensor into another.";
  let arguments = (ins AnyRankedTensor:$src, AnyRankedTensor:$dst);
}

def TTNN_WriteTensorOp : Op<TTNN_Dialect, "write_tensor", [
    MemoryEffects<[MemWrite]>,
    TT_CheckShape<(ins AnyRankedTensor:$host_tensor, AnyRankedTensor:$device_tensor), "copy">]> {
  let summary = "Writes a tensor of the host into one of the device.";
  let arguments = (ins AnyRankedTensor:$host_tensor, AnyRankedTensor:$device_tensor, TT_Bool<"false">:$blocking,
                       DefaultValuedAttr<UI32Attr, "0">:$cq_id);
}

// Another op may write the file.
def TTNN_LoadTensorOp : Op<TTNN_Dialect, "load_tensor", [MemoryEffects<[MemRead]>]> {
  let summary = "A tensor read from a file.";
  let arguments = (ins Optional<TTNN_Device>:$device, StrAttr:$file_path);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def TTNN_DumpTensorOp : Op<TTNN_Dialect, "dump_tensor", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a tensor to a file.";
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$file_path);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

def TTNN_DistributeTensorOp : Op<TTNN_Dialect, "distribute_tensor", [
    Pure, TT_CollectiveTrait, TT_MovesValues,
    TT_CheckShape<(ins AnyRankedTensor:$input, TTNN_Device:$mesh_device), "distribute">]> {
  let summary = "Distributes a host tensor over a mesh; the result is one device's part.";
  let arguments = (ins AnyRankedTensor:$input, TTNN_Device:$mesh_device, TTNN_MeshMapperConfigAttr:$mapper_config,
                       OptionalAttr<UI32Attr>:$cq_id);
  let results = (outs AnyRankedTensor:$result);
}

def TTNN_AggregateTensorOp : Op<TTNN_Dialect, "aggregate_tensor", [
    Pure, TT_CollectiveTrait, TT_MovesValues, TT_JoinsShards, TT_GivesHostTensor,
    TT_CheckShape<(ins AnyRankedTensor:$input, TTNN_Device:$mesh_device), "aggregate">]> {
  let summary = "Joins the parts of a tensor that the devices of a mesh hold.";
  let arguments = (ins AnyRankedTensor:$input, TTNN_Device:$mesh_device, TTNN_MeshComposerConfigAttr:$composer_config);
  let results = (outs AnyRankedTensor:$result);
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

class TTNN_QuantizationOp<string mnemonic, dag parameters, string text>
    : TT_PureOp<TTNN_Dialect, mnemonic, !con(TT_Unary, parameters),
                (ins OptionalAttr<I32Attr>:$axis, OptionalAttr<TTCore_DataTypeAttr>:$output_dtype), text, mnemonic,
                [TT_ChangesQuantization]> {
  let description = [{
    quantized = round(value / scale) + zero_point with the parameters as tensors: one value, or one per index of `axis`.
  }];
}

def TTNN_QuantizeOp : TTNN_QuantizationOp<"quantize",
    (ins AnyRankedTensor:$scale, AnyRankedTensor:$zero_point), "round(input / scale) + zero_point.">;
def TTNN_DequantizeOp : TTNN_QuantizationOp<"dequantize",
    (ins AnyRankedTensor:$scale, AnyRankedTensor:$zero_point), "(input - zero_point) * scale.">;
def TTNN_RequantizeOp : TTNN_QuantizationOp<"requantize",
    (ins AnyRankedTensor:$in_scale, AnyRankedTensor:$in_zero_point, AnyRankedTensor:$out_scale,
         AnyRankedTensor:$out_zero_point),
    "dequantize with the `in` parameters, then quantize with the `out` parameters.">;

//===----------------------------------------------------------------------===//
// Traces and programs
//===----------------------------------------------------------------------===//

class TTNN_TraceOp<string mnemonic, dag operands, string text>
    : Op<TTNN_Dialect, mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let description = [{
    Recordings of the commands of a device: written to memory once, and run again without the host.
  }];
  let summary = text;
  let arguments = !con((ins TTNN_Device:$device), operands, (ins DefaultValuedAttr<UI32Attr, "0">:$cq_id));
}

def TTNN_BeginTraceCaptureOp : TTNN_TraceOp<"begin_trace_capture", (ins), "Begins to record commands."> {
  let results = (outs AnyRankedTensor:$trace_id);
}
def TTNN_EndTraceCaptureOp : TTNN_TraceOp<"end_trace_capture", (ins AnyRankedTensor:$trace_id), "Ends a recording.">;
def TTNN_ExecuteTraceOp : Op<TTNN_Dialect, "execute_trace", [
    MemoryEffects<[MemRead, MemWrite]>, TT_CheckShape<(ins TTNN_Device:$device, AnyRankedTensor:$trace_id), "executeTrace">]> {
  let summary = "Runs the commands of a recording.";
  let arguments = (ins TTNN_Device:$device, AnyRankedTensor:$trace_id, DefaultValuedAttr<UI32Attr, "0">:$cq_id,
                       TT_Bool<"false">:$blocking);
}

def TTNN_CaptureOrExecuteTraceOp : Op<TTNN_Dialect, "capture_or_execute_trace", [
    AttrSizedOperandSegments, TT_RunsFunctions, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a recording, and records it first if there is none.";
  let description = [{
    The function `allocate_slots_callee` makes tensors for the inputs, which stay. `capture_callee` takes them and
    calls, between begin_trace_capture and end_trace_capture, the function of what is recorded; it returns the number of
    the recording and the results. `execute_callee` runs the recording of that number on what is in the slots.
  }];
  let arguments = (ins TTNN_Device:$device, Variadic<AnyRankedTensor>:$inputs,
                       Variadic<TTNN_GlobalSemaphore>:$semaphore_inputs, FlatSymbolRefAttr:$allocate_slots_callee,
                       FlatSymbolRefAttr:$capture_callee, FlatSymbolRefAttr:$execute_callee);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = [{
    /// The recorded function, which the capture calls. Returns null, after an error, if there is none.
    ::mlir::FunctionOpInterface lookupTraced(::mlir::SymbolTableCollection &symbols);
  }];
}

def TTNN_GenericProgramAttr : AnyAttrOf<[TTNN_ProgramAttr, TTNN_MeshProgramDescriptorAttr], "program">;
def TTNN_GenericOp : Op<TTNN_Dialect, "generic", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Runs a program of kernels on tensors.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs_and_outputs, Variadic<AnyType>:$additional_args,
                       TTNN_GenericProgramAttr:$program);
}

def TTNN_CreateGlobalSemaphoreOp : Op<TTNN_Dialect, "create_global_semaphore", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A semaphore on the given cores of every device.";
  let arguments = (ins TTNN_Device:$device, OptionalAttr<UI32Attr>:$initial_value, TTNN_CoreRangeSetAttr:$core_range_set);
  let results = (outs TTNN_GlobalSemaphore:$result);
}
def TTNN_ResetGlobalSemaphoreOp : Op<TTNN_Dialect, "reset_global_semaphore", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sets a semaphore.";
  let arguments = (ins TTNN_GlobalSemaphore:$semaphore, UI32Attr:$value);
}

def TTNN_TTLangOp : Op<TTNN_Dialect, "tt_lang_op", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Runs a kernel of its own language; each input is read, written or both, as `arg_roles` says.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, StrAttr:$kernel_id, StrAttr:$version_tag, StrAttr:$arg_roles,
                       DefaultValuedAttr<StrAttr, "\"\"">:$shard_spec, OptionalAttr<StrAttr>:$kernel_artifact);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` `(` type($inputs) `)` `->` `(` type($results) `)`";
  let hasVerifier = 1;
}

def TTNN_D2MSubgraphOp : Op<TTNN_Dialect, "d2m_subgraph", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a function that is compiled to kernels.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, SymbolRefAttr:$d2m_func);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $d2m_func attr-dict `\n` `ins` `(` $inputs `:` type($inputs) `)` `\n`
    `outs` `(` $outputs `:` type($outputs) `)` (`:` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNOPSDEVICE_TD
