//===- TTMetalOps.td - ops of the TTMetal dialect ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTMETAL_IR_TTMETALOPS_TD
#define TTMLIR_DIALECT_TTMETAL_IR_TTMETALOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"
include "ttmlir/Dialect/TTMetal/IR/TTMetalEnums.td"

def TTMetal_Dialect : Dialect {
  let name = "ttmetal";
  let summary = "Commands of the host to a device: buffers, transfers, and kernels.";
  let cppNamespace = "::mlir::tt::ttmetal";
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class TTMetal_Attr<string name, string attrMnemonic, string text> : AttrDef<TTMetal_Dialect, name> {
  let mnemonic = attrMnemonic;
  let summary = text;
}

def TTMetal_MathFidelityAttr : EnumAttr<TTMetal_Dialect, TTMetal_MathFidelity, "math_fidelity"> {
  let assemblyFormat = "`<` $value `>`";
}

def TTMetal_CoreRangeAttr : TTMetal_Attr<"CoreRange", "core_range", "A rectangle of cores: its first one, its size."> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$offset, ArrayRefParameter<"int64_t">:$size);
  let assemblyFormat = "`<` custom<DimensionList>($offset) `,` custom<DimensionList>($size) `>`";
  let genVerifyDecl = 1;
}

def TTMetal_KernelArgAttr : TTMetal_Attr<"KernelArg", "kernel_arg",
                                         "An argument of a kernel that describes an operand of its program."> {
  let parameters = (ins "KernelArgType":$type, "uint32_t":$operandIndex);
  let assemblyFormat = "`<` $type `[` $operandIndex `]` `>`";
}

def TTMetal_KernelArgsAttr : TTMetal_Attr<"KernelArgs", "kernel_args", "Arguments of a kernel."> {
  let parameters = (ins OptionalArrayRefParameter<"KernelArgAttr">:$rt_args,
                        OptionalArrayRefParameter<"KernelArgAttr">:$ct_args);
  let assemblyFormat = [{
    `<` (`rt_args` `=` `[` $rt_args^ `]`)? (`ct_args` `=` `[` $ct_args^ `]`)? `>`
  }];
}

def TTMetal_NocConfigAttr : TTMetal_Attr<"NocConfig", "noc_config", "A kernel that moves data."> {
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel_symbol, "CoreRangeAttr":$core_range,
                        "KernelArgsAttr":$kernel_args, "NocIndex":$noc_index);
  let assemblyFormat = "`<` $kernel_symbol `,` $core_range `,` $kernel_args `,` $noc_index `>`";
}

def TTMetal_ComputeConfigAttr : TTMetal_Attr<"ComputeConfig", "compute_config", "A kernel that computes."> {
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel_symbol, "CoreRangeAttr":$core_range,
                        "KernelArgsAttr":$kernel_args, "MathFidelity":$math_fidelity, "bool":$fp32_dest_acc_en,
                        "bool":$dst_full_sync_en, "bool":$math_approx_mode,
                        OptionalArrayRefParameter<"UnpackToDestMode", "of each port; default where there is none">
                            :$unpack_to_dest_mode);
  let assemblyFormat = [{
    `<` $kernel_symbol `,` $core_range `,` $kernel_args `,` $math_fidelity `,` `fp32_dest_acc_en` `=` $fp32_dest_acc_en
    `,` `dst_full_sync_en` `=` $dst_full_sync_en `,` `math_approx_mode` `=` $math_approx_mode
    (`,` `unpack_to_dest_mode` `=` `[` $unpack_to_dest_mode^ `]`)? `>`
  }];
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

class TTMetal_Op<string mnemonic, string text, dag operands = (ins), list<Trait> traits = []>
    : Op<TTMetal_Dialect, mnemonic, traits> {
  let description = [{
    A command of the host to a device. Commands run in the order of the program.
  }];
  let summary = text;
  let arguments = operands;
}

def TTMetal_DeviceBuffer
    : ConfinedType<AnyNon0RankedMemRef, [CPred<"::mlir::tt::ttmetal::isDeviceBuffer($_self)">],
                   "memref with a #ttcore.shard layout in a memory of the device", "::mlir::MemRefType">;
def TTMetal_HostBuffer
    : ConfinedType<AnyMemRef, [CPred<"!::llvm::cast<::mlir::MemRefType>($_self).getMemorySpace()">],
                   "memref of the host", "::mlir::MemRefType">;

def TTMetal_CreateBufferOp : TTMetal_Op<"create_buffer", "A buffer at one address of every core.",
                                        (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$address)> {
  let results = (outs TTMetal_DeviceBuffer:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def TTMetal_DeallocateBufferOp : TTMetal_Op<"deallocate_buffer", "Gives the memory of a buffer back.",
                                            (ins TTMetal_DeviceBuffer:$input)> {
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def TTMetal_EnqueueWriteBufferOp : TTMetal_Op<"enqueue_write_buffer", "Writes values of the host to a buffer.",
                                              (ins TTMetal_HostBuffer:$input, TTMetal_DeviceBuffer:$output)> {
  let assemblyFormat = "$input `,` $output attr-dict `:` type($input) `,` type($output)";
}
def TTMetal_EnqueueReadBufferOp : TTMetal_Op<"enqueue_read_buffer", "Reads a buffer into memory of the host.",
                                             (ins TTMetal_DeviceBuffer:$input, TTMetal_HostBuffer:$output)> {
  let assemblyFormat = "$input `,` $output attr-dict `:` type($input) `,` type($output)";
}

def TTMetal_EnqueueProgramOp : TTMetal_Op<"enqueue_program", "Runs kernels on cores.",
    (ins Variadic<TTMetal_DeviceBuffer>:$buffers, Variadic<TTMetal_DeviceBuffer>:$cbs, DenseI64ArrayAttr:$cb_ports,
         ArrayAttr:$kernelConfigs),
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let description = [{
    `cbs` are the buffers that kernels see as circular buffers, at the ports `cb_ports`. `kernelConfigs` are
    #ttmetal.noc_config and #ttmetal.compute_config; their arguments count `cbs` and `buffers`.
  }];
  let assemblyFormat = [{
    `(` $buffers `)` `cbs` `(` $cbs `)` attr-dict `:` `(` type($buffers) `)` (`cbs` `(` type($cbs)^ `)`)?
  }];
  let hasVerifier = 1;
}

def TTMetal_MeshShardOp : TTMetal_Op<"mesh_shard", "Splits values of the host over the chips, or joins their parts.",
    (ins TTMetal_HostBuffer:$input, TTCore_MeshShardTypeAttr:$shard_type,
         TTCore_MeshShardDirectionAttr:$shard_direction, DenseI64ArrayAttr:$shard_shape,
         DenseI64ArrayAttr:$shard_dims)> {
  let results = (outs TTMetal_HostBuffer:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def TTMetal_FinishOp : TTMetal_Op<"finish", "Waits until everything that was requested is done."> {
  let assemblyFormat = "attr-dict";
}

#endif // TTMLIR_DIALECT_TTMETAL_IR_TTMETALOPS_TD
