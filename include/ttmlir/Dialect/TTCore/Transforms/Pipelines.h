//===- Pipelines.h - registration of public pipelines -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINES_H

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::tt::ttcore {

/// The nested modules that a pipeline lowers.
enum class Inside { Device, None };

/// A pipeline without options refuses every option.
struct NoOptions : PipelineOptions<NoOptions> {};

/// Registers a pipeline by name. It begins with ttcore-check-modules, which reports functions that would stay
/// unchanged. Its options are described for every entrance (PipelineOptions.h).
template <class Options = NoOptions, class Build>
void registerPipeline(StringRef name, StringRef text, Inside inside, Build build) {
  addPipelineDescription(name, text, [] { return Options().described().vec(); });
  PassPipelineRegistration<Options>(name, text, [inside, build](OpPassManager &manager, const Options &options) {
    manager.addPass(createTTCoreCheckModules({/*isFlat=*/inside == Inside::None}));
    if constexpr (std::is_invocable_v<const Build &, OpPassManager &>)
      build(manager);
    else
      build(manager, options);
  });
}

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINES_H
