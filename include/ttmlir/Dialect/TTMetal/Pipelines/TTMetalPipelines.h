//===- TTMetalPipelines.h - pipelines from TTIR to TTMetal ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H
#define TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H

#include "ttmlir/Dialect/D2M/Transforms/Policies.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

namespace mlir::tt::ttmetal {

/// All pipelines of kernels take the same options; each uses those of its passes.
struct D2MPipelineOptions : ttnn::TTNNDeviceOptions {
  ListOption<int64_t> overrideDeviceShape{
      *this, "override-device-shape",
      llvm::cl::desc("Rows and columns of cores to use, instead of the whole worker grid")};
  Option<std::string, ttnn::TargetFormatParser> globalDataFormat{
      *this, "global-data-format-target",
      llvm::cl::desc("Compute all floats in this format; none: the module's own formats"), llvm::cl::init("")};
  Option<unsigned> numStreamBuffers{
      *this, "num-stream-buffers",
      llvm::cl::desc("Number of blocks in a circular buffer that is read from other cores"), llvm::cl::init(2)};
  Option<bool> disableToLayoutFolding{*this, "disable-tolayout-folding",
                                      llvm::cl::desc("Do not fold conversions of tiles that were converted from rows"),
                                      llvm::cl::init(false)};
  Option<bool> elementwiseFusion{*this, "enable-elementwise-fusion",
                                 llvm::cl::desc("Compute chains of elementwise ops in one kernel"),
                                 llvm::cl::init(true)};
  Option<bool> collapseTensors2D{
      *this, "collapse-tensors-2d",
      llvm::cl::desc("Distribute the leading dimensions of a tensor as rows; otherwise the part of a core is whole "
                     "matrices or a part of one, where these are whole tiles"),
      llvm::cl::init(true)};
  Option<bool> eltwiseReductionFusion{
      *this, "enable-eltwise-reduction-fusion",
      llvm::cl::desc("Compute what one reduction alone reads inside the kernel of the reduction"),
      llvm::cl::init(false)};
  ListOption<int64_t> availableL1AddrRange{
      *this, "available-l1-addr-range",
      llvm::cl::desc("Begin and end address of buffers in L1; none: all memory that the firmware leaves")};
  Option<int64_t> testAssumeL1Capacity{*this, "test-assume-l1-capacity",
                                       llvm::cl::desc("Bytes of L1 per core; 0: those of the chip"), llvm::cl::init(0)};
  Option<bool> forceSpillToDram{*this, "force-spill-to-dram-if-legal",
                                llvm::cl::desc("Place all buffers in DRAM that can lie there; otherwise those for "
                                               "which L1 has no room"),
                                llvm::cl::init(false)};
  Option<bool> allowL1OutputSpilling{
      *this, "allow-l1-output-spilling",
      llvm::cl::desc("Place outputs of kernels in DRAM, too, where L1 has no room for all buffers"),
      llvm::cl::init(true)};
  Option<ttcore::MemorySpace> defaultInputMemspace{*this, "default-input-memspace",
                                                   llvm::cl::desc("Memory of the buffers that the host writes"),
                                                   TT_D2M_MEMORY_VALUES, llvm::cl::init(ttcore::MemorySpace::DeviceL1)};
  Option<ttcore::MemorySpace> defaultOutputMemspace{
      *this, "default-output-memspace", llvm::cl::desc("Memory of the buffers that kernels write"),
      TT_D2M_MEMORY_VALUES, llvm::cl::init(ttcore::MemorySpace::DeviceL1)};
  Option<d2m::StreamInsertPolicy> streamInsertPolicy{
      *this, "stream-insert-policy",
      llvm::cl::desc("Operands that kernels copy into circular buffers: those that lie elsewhere, or all"),
      TT_D2M_STREAM_VALUES, llvm::cl::init(d2m::StreamInsertPolicy::Infer)};
  Option<d2m::BufferSizePolicy> testBufferSizePolicy{
      *this, "test-buffer-size-policy",
      llvm::cl::desc("Blocks that kernels work on: chosen, of one tile, or as large as L1 allows"),
      TT_D2M_BUFFER_SIZE_VALUES, llvm::cl::init(d2m::BufferSizePolicy::Auto)};
  ListOption<int64_t> matmulInterchange{
      *this, "matmul-interchange",
      llvm::cl::desc("Order of the loops of a product, from outside: rows 0 and columns 1 in any order, then steps 2")};
  Option<bool> useTileMatmul{*this, "use-tile-matmul",
                             llvm::cl::desc("Multiply tile by tile, instead of in blocks of registers"),
                             llvm::cl::init(false)};
  Option<bool> disableL1Acc{*this, "disable-l1-acc",
                            llvm::cl::desc("Add the parts of a product in registers, instead of by the packer in L1"),
                            llvm::cl::init(false)};
  Option<bool> forceCompileTimeArgs{
      *this, "force-compile-time-args",
      llvm::cl::desc("Make the addresses of buffers arguments that are known when a kernel is compiled"),
      llvm::cl::init(false)};
  Option<bool> useTensorAccessorDMA{
      *this, "use-tensor-accessor-dma",
      llvm::cl::desc("Address buffers in DRAM by a TensorAccessor, whose page is the part of a core"),
      llvm::cl::init(false)};
  Option<bool> debugCoalescingInference{
      *this, "debug-d2m-coalescing-inference",
      llvm::cl::desc("Check the length of the pieces of every transfer by an enumeration, and remark on it"),
      llvm::cl::init(false)};
  Option<bool> multicastInference{
      *this, "enable-multicast-inference",
      llvm::cl::desc("Multicast blocks to rectangles of cores; otherwise each core reads its own"),
      llvm::cl::init(true)};
  Option<bool> opScheduler{*this, "enable-op-scheduler",
                           llvm::cl::desc("Order tile ops so that few tiles are live at a time"), llvm::cl::init(true)};
  Option<unsigned> maxDstTiles{
      *this, "max-dst-physical-size-tiles",
      llvm::cl::desc("Limit the tiles of the destination registers for a subblock of a product; 0: all"),
      llvm::cl::init(0)};
  Option<MathFidelity> mathFidelity{
      *this, "set-math-fidelity", llvm::cl::desc("Phases of a product"),
      llvm::cl::values(clEnumValN(MathFidelity::LoFi, "LoFi", "1"), clEnumValN(MathFidelity::HiFi2, "HiFi2", "2"),
                       clEnumValN(MathFidelity::HiFi3, "HiFi3", "3"), clEnumValN(MathFidelity::HiFi4, "HiFi4", "4")),
      llvm::cl::init(MathFidelity::HiFi4)};
  Option<bool> insertProfilerTraces{*this, "insert-profiler-traces",
                                    llvm::cl::desc("Insert zones of the profiler around the ops of kernels"),
                                    llvm::cl::init(false)};
  ListOption<std::string> profilerTraits{
      *this, "profiler-traits",
      llvm::cl::desc("Traits of the ops that get a zone: fpu, sfpu, init, unary, binary, ternary, device-zone (the "
                     "default), trid-noc, layout or all")};
  Option<bool> ttnnMode{
      *this, "ttnn-mode",
      llvm::cl::desc("Make programs of TTNN, whose tensors the kernels read and write (ttnn.generic)"),
      llvm::cl::init(false)};
};

/// Lowers TTIR to generics on buffers.
void createD2MFrontendPipeline(OpPassManager &manager, const D2MPipelineOptions &options);
/// Lowers generics to functions of threads, with addresses and registers.
void createD2MBackendPipeline(OpPassManager &manager, const D2MPipelineOptions &options);
/// Lowers functions of threads to kernels, and the remaining ops to commands.
void createD2MToTTMetalPipeline(OpPassManager &manager, const D2MPipelineOptions &options);
/// Lowers functions of threads to kernels, and generics to ttnn.generic.
void createD2MToTTNNPipeline(OpPassManager &manager, const D2MPipelineOptions &options);
struct TTNNThroughD2MOptions : ttcore::PipelineOptions<TTNNThroughD2MOptions> {
  Option<bool> elementwiseFusion{*this, "enable-elementwise-fusion",
                                 llvm::cl::desc("Compute chains of elementwise ops in one kernel"),
                                 llvm::cl::init(false)};
};
/// Lowers the functions that ttnn.d2m_subgraph calls to ttnn.generic.
void createTTNNThroughD2MPipeline(OpPassManager &manager, const TTNNThroughD2MOptions &options);
/// TTIR to generics on buffers, after the passes on whole modules.
void addGenerics(OpPassManager &manager, const D2MPipelineOptions &options);
/// Kernels to C++.
void createD2MEmitCPipeline(OpPassManager &manager);

/// Registers ttir-to-ttmetal-pipeline and its parts. docs/pipelines.md draws them.
void registerTTMetalPipelines();

} // namespace mlir::tt::ttmetal

#endif // TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H
