//===- TTNNPipelines.cpp - pipelines from TTIR to TTNN --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

/// The part of a mesh that each of `stages` has; all of it where it does not divide, which ttnn-pipeline-stages
/// reports.
static SmallVector<int64_t> meshOfStage(ArrayRef<int64_t> mesh, int64_t stages) {
  SmallVector<int64_t> part(mesh);
  for (int64_t &size : llvm::reverse(part))
    if (stages > 1 && size % stages == 0) {
      size /= stages;
      break;
    }
  return part;
}

void ttnn::addDevicePasses(OpPassManager &manager, const TTNNDeviceOptions &options, int64_t stages) {
  ttcore::TTCoreRegisterDevicePassOptions device;
  device.mockSystemDescArch = options.mockSystemDescArch;
  device.systemDescPath = options.systemDescPath;
  device.meshShape = meshOfStage(llvm::to_vector(options.meshShape), stages);
  device.meshTopology = llvm::to_vector(options.meshTopology);
  manager.addPass(ttir::createTTIRNumberOps());
  manager.addPass(ttcore::createTTCoreUnwrapDeviceModulePass());
  manager.addPass(ttcore::createTTCoreRegisterDevicePass(device));
}

void ttnn::createTTIRToTTNNCommonPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options) {
  if (options.uniqueLocations)
    manager.addPass(createTTNNUniqueLocations());
  addDevicePasses(manager, options, options.stages);
  if (!options.argumentTypes.empty())
    manager.addPass(ttcore::createTTPopulateArgumentTypes({options.argumentTypes}));
  // TTIR that the chip can hold.
  manager.addPass(ttir::createTTIRDecomposeComposites());
  manager.addPass(ttir::createTTIRInlineFunctions());
  if (options.removeDeadValues)
    manager.addPass(createRemoveDeadValuesPass());
  manager.addPass(ttir::createTTIRMicroBatches({options.microBatches}));
  manager.addPass(ttir::createTTIRHoistConstants());
  // Quantised tensors, before their integers get the chip's types.
  if (options.optimizations && options.quantDequantConversion)
    manager.addPass(ttir::createTTIRQuantDequantConversion());
  if (options.targetBitWidth != 32)
    manager.addPass(ttir::createTTIRQuantDataTypeConversion({options.targetBitWidth}));
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRQuantizedAsIntegers());
  manager.addPass(ttir::createTTIRElementTypeNormalization());
  if (!options.targetFormat.empty())
    manager.addPass(ttir::createTTIRGlobalDataFormatConversion({options.targetFormat}));
  // Before anything else looks at the ops: what is tagged is the host's.
  manager.addPass(createCPUHoistManuallyTaggedOpsTransform());
  if (options.optimizations && options.implicitBroadcastFolding)
    manager.addNestedPass<func::FuncOp>(ttir::createTTIRImplicitBroadcastFold());
  auto addFusing = [&] {
    if (options.optimizations && options.fusing)
      manager.addNestedPass<func::FuncOp>(ttir::createTTIRFusing(
          {options.fusingConv2dWithMultiply, options.permuteMatmulFusion, options.sliceOfMatmulFusion}));
  };
  addFusing();
  if (options.optimizations && options.eraseInverseOps) {
    manager.addNestedPass<func::FuncOp>(ttir::createTTIRChannelsLast());
    manager.addNestedPass<func::FuncOp>(ttir::createTTIREraseInverseOps());
    // Ops that data movement had kept apart.
    addFusing();
  }
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRPropagateWeightDtype());
  if (options.optimizations && options.constEval && options.hostConstEval) {
    manager.addPass(ttcore::createConstEvalHoistTransform());
    manager.addPass(createCPUHoistConstEvalTransform());
  }
  addHostPasses(manager);
  manager.addPass(createLowerCPUHoistedCalls());
  // TTNN, with everything in its place.
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRLocalizePresharded());
  manager.addPass(createTTNNLayout());
  manager.addPass(createConvertTTIRToTTNN());
  if (options.optimizations && options.fusing)
    manager.addNestedPass<func::FuncOp>(createTTNNFusing({/*enableRoPEFusion=*/true}));
  // What a barrier keeps apart has been fused now.
  manager.addNestedPass<func::FuncOp>(ttcore::createTTCoreOptimizationBarrierFold());
  // Also without the option: ops may name the format of their weight.
  manager.addNestedPass<func::FuncOp>(createTTNNWeightDtypeConversion({options.weightDtype}));
  if (options.cacheDtype != BFPDtype::None)
    manager.addNestedPass<func::FuncOp>(createTTNNKVCacheDtypeConversion({options.cacheDtype}));
  if (options.activationDtypeLowering)
    manager.addNestedPass<func::FuncOp>(createTTNNCCLActivationDtypeLowering());
  manager.addNestedPass<func::FuncOp>(
      createTTNNSetComputeKernelConfig({options.mathFidelity, options.mathApproxMode, options.fp32DestAccEn,
                                        options.packerL1Acc, options.dstFullSyncEn}));
  if (options.optimizations && options.constEval) {
    manager.addPass(ttcore::createConstEvalHoistTransform());
    if (options.constEvalInputsOnHost)
      manager.addPass(createTTNNConstEvalInputsToSystemMemory());
  }
  manager.addNestedPass<func::FuncOp>(createTTNNDecomposeLayouts());
}

void ttnn::createTTIRToTTNNPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options) {
  createTTIRToTTNNCommonPipeline(manager, options);
  manager.addPass(createTTNNPipelineStages({options.stages, llvm::to_vector(options.meshShape)}));
  manager.addNestedPass<func::FuncOp>(createTTNNDeallocate());
  if (options.trace)
    manager.addPass(createTTNNTraceHoistTransform());
  if (options.perfMetrics)
    manager.addPass(createTTNNCollectPerfMetrics({options.perfMetricsFile, options.perfMetricsVerbose, options.trace}));
}

void ttnn::createTTNNToRuntimePipeline(OpPassManager &manager, const TTNNDeviceOptions &options) {
  addDevicePasses(manager, options);
  manager.addPass(ttir::createTTIRDecomposeComposites());
  manager.addPass(ttir::createTTIRInlineFunctions());
  manager.addNestedPass<func::FuncOp>(ttcore::createTTCoreOptimizationBarrierFold());
  manager.addNestedPass<func::FuncOp>(createTTNNDecomposeLayouts());
  manager.addNestedPass<func::FuncOp>(createTTNNDeallocate());
}

void ttnn::registerTTNNPipelines() {
  for (StringRef name : {"ttir-to-ttnn-backend-pipeline", "ttir-to-ttnn-runtime-pipeline"})
    PassPipelineRegistration<TTIRToTTNNPipelineOptions>(name, "Lower TTIR to TTNN programs for the device",
                                                        createTTIRToTTNNPipeline);
  PassPipelineRegistration<TTIRToTTNNPipelineOptions>("ttir-to-ttnn-common-pipeline",
                                                      "Lower TTIR to TTNN programs that do not free their tensors",
                                                      createTTIRToTTNNCommonPipeline);
  PassPipelineRegistration<TTNNDeviceOptions>("ttnn-common-to-runtime-pipeline",
                                              "Make TTNN programs ready to be written to a flatbuffer",
                                              createTTNNToRuntimePipeline);
}
