//===- Pipeline.cpp - from StableHLO to TTIR in a device module -----------===//

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

void tt::createStableHLOToTTIRPipeline(OpPassManager &manager, const StableHLOToTTIRPipelineOptions &options) {
  manager.addPass(ttir::createTTIRNumberOps());
  manager.addPass(createConvertSdyToTTCore());
  if (options.enableAggressiveSimplification) {
    // Constants stay where they are and as many as they are: merging them saves nothing on the device.
    GreedyRewriteConfig config;
    config.enableConstantCSE(false);
    manager.addPass(createCanonicalizerPass(config));
  }
  manager.addPass(createConvertStableHLOToTTIR());
  manager.addPass(ttcore::createTTCoreWrapDeviceModulePass());
}

void tt::registerStableHLOToTTIRPipeline() {
  PassPipelineRegistration<StableHLOToTTIRPipelineOptions>(
      "stablehlo-to-ttir-pipeline", "Lower StableHLO, with meshes of the sdy dialect, to TTIR in a device module",
      createStableHLOToTTIRPipeline);
}
