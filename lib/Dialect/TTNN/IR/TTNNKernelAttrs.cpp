//===- TTNNKernelAttrs.cpp - verifiers of generic programs ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Arguments known at compile time: buffers and semaphores, named values, layouts of operands.
template <class... Kinds>
static LogicalResult verifyArguments(EmitError emitError, StringRef what, ArrayRef<Attribute> arguments) {
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (!isa<Kinds...>(argument))
      return emitError() << what << " argument " << index << " is " << argument << ", which is no kernel argument of"
                         << " this kind";
  return success();
}

static LogicalResult verifyKernel(EmitError emitError, CoreRangeSetAttr cores, ArrayRef<Attribute> common,
                                  ArrayRef<CoreRuntimeArgsAttr> perCore, ArrayRef<Attribute> compileTime) {
  if (cores.getCoreRanges().empty())
    return emitError() << "kernel runs on no core";
  if (failed(verifyArguments<KernelArgCBBufferIndexAttr, KernelArgSemaphoreAtAttr, KernelArgNamedArgAttr,
                             KernelArgTensorAccessorArgsAttr, KernelArgScalarAttr>(emitError, "compile-time",
                                                                                   compileTime)))
    return failure();
  auto verifyRunTime = [&](StringRef what, ArrayRef<Attribute> arguments) {
    return verifyArguments<KernelArgCBBufferIndexAttr, KernelArgSemaphoreAtAttr, KernelArgNamedArgAttr,
                           KernelArgAddressOfTensorAttr, KernelArgGlobalSemaphoreAttr, KernelArgScalarAttr>(
        emitError, what, arguments);
  };
  if (failed(verifyRunTime("common run-time", common)))
    return failure();
  for (CoreRuntimeArgsAttr core : perCore)
    if (failed(verifyRunTime("run-time", core.getArgs())))
      return failure();
  return success();
}

template <class Name>
static LogicalResult verifyPlainKernel(EmitError emitError, Name, CoreRangeSetAttr cores, ArrayRef<Attribute> common,
                                       ArrayRef<CoreRuntimeArgsAttr> perCore, ArrayRef<Attribute> compileTime) {
  return verifyKernel(emitError, cores, common, perCore, compileTime);
}

LogicalResult ReadKernelAttr::verify(EmitError emitError, SymbolRefAttr name, CoreRangeSetAttr cores,
                                     ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                     ArrayRef<Attribute> compileTime) {
  return verifyPlainKernel(emitError, name, cores, common, perCore, compileTime);
}
LogicalResult WriteKernelAttr::verify(EmitError emitError, SymbolRefAttr name, CoreRangeSetAttr cores,
                                      ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                      ArrayRef<Attribute> compileTime) {
  return verifyPlainKernel(emitError, name, cores, common, perCore, compileTime);
}
LogicalResult SourceReadKernelAttr::verify(EmitError emitError, StringAttr source, CoreRangeSetAttr cores,
                                           ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                           ArrayRef<Attribute> compileTime) {
  return verifyPlainKernel(emitError, source, cores, common, perCore, compileTime);
}
LogicalResult SourceWriteKernelAttr::verify(EmitError emitError, StringAttr source, CoreRangeSetAttr cores,
                                            ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                            ArrayRef<Attribute> compileTime) {
  return verifyPlainKernel(emitError, source, cores, common, perCore, compileTime);
}
LogicalResult DataMovementKernelAttr::verify(EmitError emitError, SymbolRefAttr, CoreRangeSetAttr cores,
                                             DataMovementProcessor, ttcore::NocIndex, NocMode,
                                             ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                             ArrayRef<Attribute> compileTime) {
  return verifyKernel(emitError, cores, common, perCore, compileTime);
}
LogicalResult ComputeKernelAttr::verify(EmitError emitError, SymbolRefAttr, CoreRangeSetAttr cores,
                                        ComputeKernelMathFidelity, bool, bool, ArrayRef<ComputeKernelUnpackToDestMode>,
                                        bool, bool, ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                        ArrayRef<Attribute> compileTime) {
  return verifyKernel(emitError, cores, common, perCore, compileTime);
}
LogicalResult SourceComputeKernelAttr::verify(EmitError emitError, StringAttr, CoreRangeSetAttr cores,
                                              ComputeKernelMathFidelity, bool, bool,
                                              ArrayRef<ComputeKernelUnpackToDestMode>, bool, bool,
                                              ArrayRef<Attribute> common, ArrayRef<CoreRuntimeArgsAttr> perCore,
                                              ArrayRef<Attribute> compileTime) {
  return verifyKernel(emitError, cores, common, perCore, compileTime);
}

//===----------------------------------------------------------------------===//
// Circular buffers and semaphores
//===----------------------------------------------------------------------===//

/// Circular buffers and semaphores of one core.
static constexpr uint32_t maxBuffers = 32, maxSemaphores = 16;

LogicalResult KernelCBFormatAttr::verify(EmitError emitError, uint32_t index, ttcore::DataType, uint32_t pageSize) {
  if (index >= maxBuffers)
    return emitError() << "buffer_index " << index << " is not below " << maxBuffers
                       << ", the number of circular buffers of a core";
  if (pageSize == 0)
    return emitError() << "page_size is 0; expected a positive number of bytes";
  return success();
}

LogicalResult KernelCBAttr::verify(EmitError emitError, uint32_t totalSize, CoreRangeSetAttr cores,
                                   ArrayRef<KernelCBFormatAttr> formats, KernelCBGlobalBufferAddressOfTensorAttr) {
  if (cores.getCoreRanges().empty())
    return emitError() << "circular buffer is on no core";
  for (KernelCBFormatAttr format : formats)
    if (totalSize % format.getPageSize() != 0)
      return emitError() << "total_size " << totalSize << " is not a multiple of page_size " << format.getPageSize();
  return success();
}

LogicalResult KernelSemaphoreAttr::verify(EmitError emitError, uint32_t id, KernelCoreType, CoreRangeSetAttr cores,
                                          uint32_t) {
  if (id >= maxSemaphores)
    return emitError() << "semaphore id " << id << " is not below " << maxSemaphores
                       << ", the number of semaphores of a core";
  if (cores.getCoreRanges().empty())
    return emitError() << "semaphore is on no core";
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult ProgramAttr::verify(EmitError emitError, ArrayRef<Attribute> kernels, ArrayRef<KernelCBAttr>,
                                  ArrayRef<KernelSemaphoreAttr>) {
  for (Attribute kernel : kernels)
    if (!isa<ReadKernelAttr, WriteKernelAttr, ComputeKernelAttr, DataMovementKernelAttr, SourceReadKernelAttr,
             SourceWriteKernelAttr, SourceComputeKernelAttr>(kernel))
      return emitError() << "expected a kernel, found " << kernel;
  return success();
}

LogicalResult MeshProgramAttr::verify(EmitError emitError, MeshRangeAttr range, ProgramAttr) {
  MeshOffsetAttr start = range.getStartCoord(), end = range.getEndCoord();
  if (start.getY() < 0 || start.getX() < 0 || end.getY() < start.getY() || end.getX() < start.getX())
    return emitError() << "mesh range from (" << start.getY() << ',' << start.getX() << ") to (" << end.getY() << ','
                       << end.getX() << ") is empty or negative";
  return success();
}

LogicalResult MeshProgramDescriptorAttr::verify(EmitError emitError, ArrayRef<MeshProgramAttr> programs,
                                                ttcore::FabricConnectionConfigAttr) {
  if (programs.empty())
    return emitError() << "mesh program descriptor has no programs";
  return success();
}
