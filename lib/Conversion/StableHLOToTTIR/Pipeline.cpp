//===- Pipeline.cpp - from StableHLO to TTIR in a device module -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

bool AbsentPartParser::parse(llvm::cl::Option &option, StringRef name, StringRef value, bool &out) {
  if (llvm::cl::parser<bool>::parse(option, name, value, out))
    return true;
  // The description says "Only false", and why.
  return out &&
         option.error("true is not possible: " + option.HelpStr.split(": ").second + "; expected false, or nothing");
}

void tt::createStableHLOToTTIRPipeline(OpPassManager &manager, const StableHLOToTTIRPipelineOptions &options) {
  manager.addPass(ttir::createTTIRNumberOps());
  if (options.arithDialectConversionsEnabled)
    manager.addNestedPass<func::FuncOp>(createConvertArithToStableHLO());
  manager.addPass(createConvertSdyToTTCore());
  if (options.enableAggressiveSimplification) {
    // Constants stay where they are and as many as they are: merging them saves nothing on the device.
    GreedyRewriteConfig config;
    config.enableConstantCSE(false);
    manager.addPass(createCanonicalizerPass(config));
  }
  manager.addPass(createStableHLOEraseTokens());
  manager.addPass(createStableHLOComplexDataTypeConversion());
  manager.addPass(createStableHLOLegalizeQuantToMath());
  manager.addNestedPass<func::FuncOp>(createExpandStableHLO());
  manager.addPass(createOutlineStableHLOControlFlow({options.legalizeCompositeToCallEnabled}));
  manager.addNestedPass<func::FuncOp>(createConvertStableHLOToTTIR());
  manager.addPass(ttcore::createTTCoreWrapDeviceModulePass());
}

void tt::registerStableHLOToTTIRPipeline() {
  PassPipelineRegistration<StableHLOToTTIRPipelineOptions>(
      "stablehlo-to-ttir-pipeline", "Lower StableHLO, with meshes of the sdy dialect, to TTIR in a device module",
      createStableHLOToTTIRPipeline);
}
