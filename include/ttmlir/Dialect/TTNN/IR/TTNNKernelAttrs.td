//===- TTNNKernelAttrs.td - programs of generic ops --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNKERNELATTRS_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNKERNELATTRS_TD

include "ttmlir/Dialect/TTNN/IR/TTNNLayoutAttrs.td"

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

class TTNN_KernelArgAttr<string name, string attrMnemonic, string index, string text>
    : TTNN_Attr<name, attrMnemonic> {
  let summary = text;
  let parameters = !dag(ins, ["size_t"], [index]);
  let assemblyFormat = "`<` $" # index # " `>`";
}

def TTNN_KernelArgAddressOfTensorAttr : TTNN_KernelArgAttr<"KernelArgAddressOfTensor", "kernel_arg_address_of_tensor",
    "tensor_index", "Kernel argument: the address of an operand of the op.">;
def TTNN_KernelArgCBBufferIndexAttr : TTNN_KernelArgAttr<"KernelArgCBBufferIndex", "kernel_arg_cb_buffer_index",
    "buffer_index", "Kernel argument: a circular buffer.">;
def TTNN_KernelArgGlobalSemaphoreAttr : TTNN_KernelArgAttr<"KernelArgGlobalSemaphore", "kernel_arg_global_semaphore",
    "global_semaphore_index", "Kernel argument: a global semaphore.">;
def TTNN_KernelArgScalarAttr : TTNN_KernelArgAttr<"KernelArgScalar", "kernel_arg_scalar",
    "operand_index", "Kernel argument: a scalar operand.">;
def TTNN_KernelArgSemaphoreAtAttr : TTNN_KernelArgAttr<"KernelArgSemaphoreAt", "kernel_arg_semaphore_at",
    "semaphore_index", "Kernel argument: a semaphore of the program.">;
def TTNN_KernelArgTensorAccessorArgsAttr : TTNN_KernelArgAttr<"KernelArgTensorAccessorArgs",
    "kernel_arg_tensor_accessor_args", "operand_index", "Kernel argument: how an operand is laid out.">;

def TTNN_KernelArgNamedArgAttr : TTNN_Attr<"KernelArgNamedArg", "kernel_named_arg"> {
  let summary = "Kernel argument with a name.";
  let parameters = (ins "StringAttr":$name, "uint32_t":$value);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TTNN_CoreRuntimeArgsAttr : TTNN_Attr<"CoreRuntimeArgs", "core_runtime_args"> {
  let summary = "Run-time arguments of a kernel on one core.";
  let parameters = (ins "CoreCoordAttr":$core_coord, ArrayRefParameter<"::mlir::Attribute">:$args);
  let assemblyFormat = "`<` struct($core_coord) `,` `args` `=` `[` $args `]` `>`";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// A kernel: its own parameters (`own`, printed by `head`), then its compile-time, common and per-core arguments.
class TTNN_KernelAttr<string name, string attrMnemonic, string text, dag own, string head>
    : TTNN_Attr<name, attrMnemonic> {
  let summary = text;
  let parameters = !con(own, (ins OptionalArrayRefParameter<"::mlir::Attribute">:$common_rt_args,
                                  OptionalArrayRefParameter<"CoreRuntimeArgsAttr">:$rt_args,
                                  OptionalArrayRefParameter<"::mlir::Attribute">:$ct_args));
  let assemblyFormat = "`<` " # head # " `,` `ct_args` `=` `[` (`]`) : ($ct_args^ `]`)?"
                       # " `,` `common_rt_args` `=` `[` (`]`) : ($common_rt_args^ `]`)?"
                       # " `,` `rt_args` `=` `[` (`]`) : ($rt_args^ `]`)? `>`";
  let genVerifyDecl = 1;
}

defvar symbolKernel = (ins "SymbolRefAttr":$symbol_ref, "CoreRangeSetAttr":$core_ranges);
defvar symbolKernelHead = "struct($symbol_ref, $core_ranges)";
defvar sourceKernel = (ins "StringAttr":$source, "CoreRangeSetAttr":$core_ranges);
defvar sourceKernelHead = "`source` `=` $source `,` struct($core_ranges)";

def TTNN_ReadKernelAttr : TTNN_KernelAttr<"ReadKernel", "read_kernel", "A reader kernel given by symbol.",
    symbolKernel, symbolKernelHead>;
def TTNN_WriteKernelAttr : TTNN_KernelAttr<"WriteKernel", "write_kernel", "A writer kernel given by symbol.",
    symbolKernel, symbolKernelHead>;
def TTNN_SourceReadKernelAttr : TTNN_KernelAttr<"SourceReadKernel", "source_read_kernel",
    "A reader kernel given as source text.", sourceKernel, sourceKernelHead>;
def TTNN_SourceWriteKernelAttr : TTNN_KernelAttr<"SourceWriteKernel", "source_write_kernel",
    "A writer kernel given as source text.", sourceKernel, sourceKernelHead>;

def TTNN_DataMovementKernelAttr : TTNN_KernelAttr<"DataMovementKernel", "data_movement_kernel",
    "A data movement kernel given by symbol.",
    !con(symbolKernel, (ins EnumParameter<TTNN_DataMovementProcessor>:$processor,
                            "::mlir::tt::ttcore::NocIndex":$noc_index, EnumParameter<TTNN_NocMode>:$noc_mode)),
    "struct($symbol_ref, $core_ranges, $processor, $noc_index, $noc_mode)">;

def TTNN_ComputeKernelAttr : TTNN_KernelAttr<"ComputeKernel", "compute_kernel", "A compute kernel given by symbol.",
    !con(symbolKernel, (ins EnumParameter<TTNN_ComputeKernelMathFidelity>:$math_fidelity, "bool":$fp32_dest_acc_en,
                            "bool":$dst_full_sync_en,
                            ArrayRefParameter<"ComputeKernelUnpackToDestMode">:$unpack_to_dest_modes,
                            "bool":$bfp8_pack_precise, "bool":$math_approx_mode)),
    "struct($symbol_ref, $core_ranges, $math_fidelity, $fp32_dest_acc_en, $dst_full_sync_en)"
    # " `,` `unpack_to_dest_modes` `=` `[` $unpack_to_dest_modes `]`"
    # " `,` struct($bfp8_pack_precise, $math_approx_mode)">;

def TTNN_SourceComputeKernelAttr : TTNN_KernelAttr<"SourceComputeKernel", "source_compute_kernel",
    "A compute kernel given as source text.",
    !con(sourceKernel, (ins EnumParameter<TTNN_ComputeKernelMathFidelity>:$math_fidelity, "bool":$fp32_dest_acc_en,
                            "bool":$dst_full_sync_en,
                            OptionalArrayRefParameter<"ComputeKernelUnpackToDestMode">:$unpack_to_dest_modes,
                            "bool":$bfp8_pack_precise, "bool":$math_approx_mode)),
    "`source` `=` $source `,` struct($core_ranges, $math_fidelity, $fp32_dest_acc_en, $dst_full_sync_en)"
    # " `,` `unpack_to_dest_modes` `=` `[` (`]`) : ($unpack_to_dest_modes^ `]`)?"
    # " `,` struct($bfp8_pack_precise, $math_approx_mode)">;

//===----------------------------------------------------------------------===//
// Circular buffers and semaphores
//===----------------------------------------------------------------------===//

def TTNN_KernelCBGlobalBufferAddressOfTensorAttr : TTNN_KernelArgAttr<"KernelCBGlobalBufferAddressOfTensor",
    "kernel_cb_global_buffer_address_of_tensor", "tensor_operand_index",
    "A circular buffer in the memory of an operand.">;

def TTNN_KernelCBFormatAttr : TTNN_Attr<"KernelCBFormat", "kernel_cb_format"> {
  let summary = "Format of the pages of a circular buffer.";
  let parameters = (ins "uint32_t":$buffer_index, "::mlir::tt::ttcore::DataType":$dtype, "uint32_t":$page_size);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def TTNN_KernelCBAttr : TTNN_Attr<"KernelCB", "kernel_cb"> {
  let summary = "A circular buffer of a program.";
  let parameters = (ins "uint32_t":$total_size, "CoreRangeSetAttr":$core_ranges,
                        ArrayRefParameter<"KernelCBFormatAttr">:$formats,
                        OptionalParameter<"KernelCBGlobalBufferAddressOfTensorAttr">:$buffer);
  let assemblyFormat = [{
    `<` struct($total_size, $core_ranges) `,` `formats` `=` `[` $formats `]`
    (`,` `buffer` `=` qualified($buffer)^)? `>`
  }];
  let genVerifyDecl = 1;
}

def TTNN_KernelSemaphoreAttr : TTNN_Attr<"KernelSemaphore", "kernel_semaphore"> {
  let summary = "A semaphore of a program.";
  let parameters = (ins "uint32_t":$id, EnumParameter<TTNN_KernelCoreType>:$core_type, "CoreRangeSetAttr":$core_ranges,
                        "uint32_t":$initial_value);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def TTNN_ProgramAttr : TTNN_Attr<"Program", "program"> {
  let summary = "Kernels, circular buffers and semaphores of a generic op.";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$kernels, OptionalArrayRefParameter<"KernelCBAttr">:$cbs,
                        OptionalArrayRefParameter<"KernelSemaphoreAttr">:$semaphores);
  let assemblyFormat = [{
    `<` `kernels` `=` `[` $kernels `]` `,` `cbs` `=` `[` (`]`) : ($cbs^ `]`)?
    `,` `semaphores` `=` `[` (`]`) : ($semaphores^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def TTNN_MeshRangeAttr : TTNN_Attr<"MeshRange", "mesh_range"> {
  let summary = "A rectangle of devices, both corners included.";
  let parameters = (ins "MeshOffsetAttr":$start_coord, "MeshOffsetAttr":$end_coord);
  let assemblyFormat = "`<` custom<CoordBracketStyle>($start_coord) `,` custom<CoordBracketStyle>($end_coord) `>`";
}

def TTNN_MeshProgramAttr : TTNN_Attr<"MeshProgram", "mesh_program"> {
  let summary = "A program and the devices it runs on.";
  let parameters = (ins "MeshRangeAttr":$mesh_range, "ProgramAttr":$program);
  let assemblyFormat = "`<` `range` `=` qualified($mesh_range) `,` `program` `=` qualified($program) `>`";
  let genVerifyDecl = 1;
}

def TTNN_MeshProgramDescriptorAttr : TTNN_Attr<"MeshProgramDescriptor", "mesh_program_descriptor"> {
  let summary = "Programs of a mesh.";
  let parameters = (ins ArrayRefParameter<"MeshProgramAttr">:$mesh_programs,
                        "::mlir::tt::ttcore::FabricConnectionConfigAttr":$fabric_connection_config);
  let assemblyFormat = [{
    `<` `[` qualified($mesh_programs) `]`
    `,` `fabric_connection_config` `=` qualified($fabric_connection_config) `>`
  }];
  let genVerifyDecl = 1;
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNKERNELATTRS_TD
