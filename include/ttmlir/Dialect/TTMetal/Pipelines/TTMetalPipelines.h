//===- TTMetalPipelines.h - pipelines from TTIR to TTMetal ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H
#define TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

namespace mlir::tt::ttmetal {

/// What commands and kernels are made with.
struct MetalOptions {
  explicit MetalOptions(ttcore::DescribedOptions &owner)
      : mathFidelity(owner, "math-fidelity", llvm::cl::desc("Phases of a product"),
                     llvm::cl::values(
                         clEnumValN(MathFidelity::LoFi, "LoFi", "1"), clEnumValN(MathFidelity::HiFi2, "HiFi2", "2"),
                         clEnumValN(MathFidelity::HiFi3, "HiFi3", "3"), clEnumValN(MathFidelity::HiFi4, "HiFi4", "4")),
                     llvm::cl::init(MathFidelity::HiFi4)) {}

  ttcore::DescribedOptions::Option<MathFidelity> mathFidelity;
};

/// How generics are formed.
struct GenericOptions {
  explicit GenericOptions(ttcore::DescribedOptions &owner)
      : elementwiseFusion(owner, "enable-elementwise-fusion",
                          llvm::cl::desc("Compute chains of elementwise ops in one kernel"), llvm::cl::init(true)) {}

  ttcore::DescribedOptions::Option<bool> elementwiseFusion;
};

// Each pipeline takes what its passes read.
struct D2MFrontendPipelineOptions : ttnn::TTNNDeviceOptions {
  GenericOptions generics{*this};
};
struct D2MToTTMetalPipelineOptions : ttcore::PipelineOptions<D2MToTTMetalPipelineOptions> {
  MetalOptions metal{*this};
};
struct TTMetalPipelineOptions : D2MFrontendPipelineOptions {
  MetalOptions metal{*this};
};

/// TTIR to generics on buffers.
void createD2MFrontendPipeline(OpPassManager &manager, const D2MFrontendPipelineOptions &options);
/// Those to functions of threads, with addresses and registers.
void createD2MBackendPipeline(OpPassManager &manager);
/// Those to commands and kernels in C++.
void createD2MToTTMetalPipeline(OpPassManager &manager, const MetalOptions &options);

/// Registers d2m-fe-pipeline, d2m-be-pipeline, d2m-to-ttmetal-pipeline and ttir-to-ttmetal-pipeline, which is all of
/// them. docs/pipelines.md draws it.
void registerTTMetalPipelines();

} // namespace mlir::tt::ttmetal

#endif // TTMLIR_DIALECT_TTMETAL_PIPELINES_TTMETALPIPELINES_H
