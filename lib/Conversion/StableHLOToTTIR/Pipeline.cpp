//===- Pipeline.cpp - from StableHLO to TTIR in a device module -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

bool AbsentPartParser::parse(llvm::cl::Option &option, StringRef name, StringRef value, bool &out) {
  if (llvm::cl::parser<bool>::parse(option, name, value, out))
    return true;
  // The description says "Only false", and why.
  return out && option.error("true is not possible: " + values(option).reason + "; expected false, or nothing");
}

ttcore::OptionValues AbsentPartParser::values(const llvm::cl::Option &option) {
  return ttcore::OptionValues::choice({{"false", ""}}, option.HelpStr.split(": ").second);
}

void tt::createStableHLOToTTIRPipeline(OpPassManager &manager, const StableHLOToTTIRPipelineOptions &options) {
  manager.addPass(ttcore::createTTCoreUnwrapDeviceModulePass());
  manager.addPass(shlo::createStablehloRefineShapes());
  manager.addNestedPass<func::FuncOp>(shlo::createStablehloCanonicalizeDynamism());
  manager.addNestedPass<func::FuncOp>(shlo::createStablehloCheckShapeAssertions());
  manager.addPass(ttir::createTTIRNumberOps());
  if (options.arithDialectConversionsEnabled)
    manager.addNestedPass<func::FuncOp>(createConvertArithToStableHLO());
  manager.addPass(createConvertSdyToTTCore());
  if (options.enableAggressiveSimplification) {
    // Constants are neither moved nor merged: that would save nothing on the device.
    GreedyRewriteConfig config;
    config.enableConstantCSE(false);
    manager.addPass(createCanonicalizerPass(config));
  }
  manager.addPass(createStableHLOInlineRegionCalls());
  manager.addPass(shlo::createDecomposeCustomCallTuples());
  manager.addPass(createStableHLOEraseTokens());
  manager.addPass(createStableHLOComplexDataTypeConversion());
  manager.addPass(createStableHLOLegalizeQuantToMath());
  manager.addPass(createStableHLOLegalizeSmallFloats());
  manager.addPass(createStableHLOLegalizeWideIntegers());
  manager.addNestedPass<func::FuncOp>(createExpandStableHLO());
  if (options.legalizeCompositeToCallEnabled)
    manager.addNestedPass<func::FuncOp>(shlo::createStablehloLegalizeCompositeToCall());
  manager.addPass(createOutlineStableHLOControlFlow());
  manager.addNestedPass<func::FuncOp>(createConvertStableHLOToTTIR());
  manager.addPass(ttcore::createTTCoreWrapDeviceModulePass());
}

/// Keeps functions that have a name in CHLO as composites; the rest becomes StableHLO.
static void createChloPreSerializationPipeline(OpPassManager &manager) {
  shlo::StablehloWrapInCompositeOptions wrapped;
  wrapped.opNames = {"chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan", "chlo.atanh",
                     "chlo.cosh", "chlo.erf",   "chlo.erfc", "chlo.sinh",  "chlo.tan",  "chlo.top_k"};
  wrapped.version = 1;
  manager.addPass(shlo::createStablehloWrapInComposite(wrapped));
  manager.addNestedPass<func::FuncOp>(createChloLegalizeToStablehlo());
}

/// VHLO of any version to StableHLO.
static void createDeserializePipeline(OpPassManager &manager) {
  manager.addPass(vhlo::createVhloToVersion({vhlo::Version::current().str()}));
  manager.addPass(vhlo::createVhloLegalizeToStablehlo());
}

void tt::registerStableHLOToTTIRPipeline() {
  using ttcore::Inside;
  ttcore::registerPipeline<>("chlo-pre-serialization-pipeline",
                             "Make StableHLO of CHLO, with composites where CHLO has a function", Inside::None,
                             createChloPreSerializationPipeline);
  ttcore::registerPipeline<>("stablehlo-deserialize", "Convert VHLO of any version to StableHLO", Inside::None,
                             createDeserializePipeline);
  ttcore::registerPipeline<StableHLOToTTIRPipelineOptions>(
      "stablehlo-to-ttir-pipeline", "Lower StableHLO, with meshes of the sdy dialect, to TTIR in a device module",
      Inside::Device, createStableHLOToTTIRPipeline);
}
