//===- TTMetalPipelines.h - from TTIR to kernels and commands ---*- C++ -*-===//
#ifndef TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H
#define TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

namespace mlir::tt::ttmetal {

struct TTMetalPipelineOptions : ttnn::TTNNDeviceOptions {
  Option<MathFidelity> mathFidelity{
      *this, "math-fidelity", llvm::cl::desc("Phases of a product"),
      llvm::cl::values(clEnumValN(MathFidelity::LoFi, "LoFi", "1"), clEnumValN(MathFidelity::HiFi2, "HiFi2", "2"),
                       clEnumValN(MathFidelity::HiFi3, "HiFi3", "3"), clEnumValN(MathFidelity::HiFi4, "HiFi4", "4")),
      llvm::cl::init(MathFidelity::HiFi4)};
};

/// TTIR to generics on buffers.
void createD2MFrontendPipeline(OpPassManager &manager, const TTMetalPipelineOptions &options);
/// Those to functions of threads, with addresses and registers.
void createD2MBackendPipeline(OpPassManager &manager, const TTMetalPipelineOptions &options);
/// Those to commands and kernels in C++.
void createD2MToTTMetalPipeline(OpPassManager &manager, const TTMetalPipelineOptions &options);

/// Registers d2m-fe-pipeline, d2m-be-pipeline, d2m-to-ttmetal-pipeline and ttir-to-ttmetal-pipeline, which is all of
/// them. docs/pipelines.md draws it.
void registerTTMetalPipelines();

} // namespace mlir::tt::ttmetal

#endif // TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H
