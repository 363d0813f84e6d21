//===- Pipelines.h - registration of public pipelines -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINES_H

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::tt::ttcore {

/// Which modules inside of another one a pipeline lowers.
enum class Inside { Device, None };

/// Registers a pipeline by name. It begins with ttcore-check-modules: no function is left as it is without an error.
template <class Options = EmptyPipelineOptions, class Build>
void registerPipeline(StringRef name, StringRef text, Inside inside, Build build) {
  auto check = [inside](OpPassManager &manager) {
    manager.addPass(createTTCoreCheckModules({/*isFlat=*/inside == Inside::None}));
  };
  if constexpr (std::is_same_v<Options, EmptyPipelineOptions>)
    PassPipelineRegistration<>(name, text, [check, build](OpPassManager &manager) {
      check(manager);
      build(manager);
    });
  else
    PassPipelineRegistration<Options>(name, text, [check, build](OpPassManager &manager, const Options &options) {
      check(manager);
      build(manager, options);
    });
}

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINES_H
