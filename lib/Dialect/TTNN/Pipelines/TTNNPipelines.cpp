//===- TTNNPipelines.cpp - pipelines from TTIR to TTNN --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/Transforms/TargetFormats.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

bool ttnn::OptimizationLevelParser::parse(llvm::cl::Option &option, StringRef, StringRef value, int &out) {
  if (!value.getAsInteger(10, out) && out >= 0 && out <= 2)
    return false;
  return option.error("'" + value + "' is no level; expected 0, 1 or 2");
}

ttcore::OptionValues ttnn::TargetFormatParser::values(const llvm::cl::Option &) {
  std::vector<ttcore::OptionValues::Choice> formats;
  for (StringRef each : ttir::targetFormats)
    formats.push_back({each.str(), ""});
  return ttcore::OptionValues::choice(std::move(formats));
}

void ttnn::addDevicePasses(OpPassManager &manager, const TTNNDeviceOptions &options, int64_t stages) {
  ttcore::TTCoreRegisterDevicePassOptions device;
  device.mockSystemDescArch = options.mockSystemDescArch;
  device.systemDescPath = options.systemDescPath;
  device.meshShape = llvm::to_vector(options.meshShape);
  device.pipelineStages = stages;
  device.meshTopology = llvm::to_vector(options.meshTopology);
  manager.addPass(ttir::createTTIRNumberOps());
  manager.addPass(ttcore::createTTCoreUnwrapDeviceModulePass());
  manager.addPass(ttcore::createTTCoreRegisterDevicePass(device));
}

/// Layouts of results: those that ops request and, with an optimization level, those chosen by estimated times and the
/// room in L1.
static void addOptimizer(OpPassManager &manager, const ttnn::TTIRToTTNNPipelineOptions &options) {
  const int level = options.level();
  manager.addPass(ttnn::createTTNNRequestedGrids());
  if (level == 0) {
    ttnn::TTNNGreedyL1SpillManagementOptions spills;
    spills.tensorL1UsageCap = options.tensorL1UsageCap;
    spills.onlyRequestedGrids = true;
    manager.addPass(ttnn::createTTNNGreedyL1SpillManagement(spills));
    return;
  }
  ttnn::TTNNGreedyMemoryLayoutPropagationOptions layouts;
  layouts.maxLegalLayouts = options.maxLegalLayouts;
  layouts.maxReshardCandidatesPerType = level > 1 ? 4 : 0;
  layouts.tensorL1UsageCap = options.tensorL1UsageCap;
  layouts.overrideOutputLayout = options.overrideOutputLayout;
  layouts.insertMemReconfig = options.insertMemReconfig;
  layouts.overrideConv2dConfig = options.overrideConv2dConfig;
  layouts.enableDecisionTrace = options.decisionTrace;
  layouts.decisionTraceDir = options.decisionTraceDir;
  manager.addPass(ttnn::createTTNNGreedyMemoryLayoutPropagation(layouts));
  ttnn::TTNNGreedyL1SpillManagementOptions spills;
  spills.enableDecisionTrace = options.decisionTrace;
  spills.decisionTraceDir = options.decisionTraceDir;
  spills.tensorL1UsageCap = options.tensorL1UsageCap;
  spills.overrideOutputLayout = options.overrideOutputLayout;
  spills.insertMemReconfig = options.insertMemReconfig;
  manager.addPass(ttnn::createTTNNGreedyL1SpillManagement(spills));
  ttnn::TTNNOperationValidationAndFallbackOptions fallbacks;
  fallbacks.maxFallbackAttempts = options.maxFallbackAttempts;
  fallbacks.overrideOutputLayout = options.overrideOutputLayout;
  fallbacks.insertMemReconfig = options.insertMemReconfig;
  manager.addPass(ttnn::createTTNNOperationValidationAndFallback(fallbacks));
}

/// Kernels for chains of elementwise ops, whose tensors are brought to the cores of the kernels.
static void addKernels(OpPassManager &manager, const ttnn::TTIRToTTNNPipelineOptions &options) {
  manager.addPass(ttnn::createTTNNCreateD2MSubgraphs());
  // Of a library that a build may lack: the flatbuffer's writer reports what is left then.
  const std::string kernels = std::string("ttnn-through-d2m-pipeline{enable-elementwise-fusion=") +
                              (options.d2mElementwiseFusion ? "true}" : "false}");
  if (PassPipelineInfo::lookup("ttnn-through-d2m-pipeline") && succeeded(parsePassPipeline(kernels, manager)))
    manager.addPass(ttnn::createTTNNCollaspeD2M());
}

/// Layouts, and the epochs that reports show.
static void addPlaces(OpPassManager &manager, const ttnn::TTIRToTTNNPipelineOptions &options) {
  addOptimizer(manager, options);
  if (options.createD2MSubgraphs)
    addKernels(manager, options);
  if (!options.placeEpochs)
    return;
  ttnn::TTNNPlaceEpochsOptions epochs;
  epochs.rows = options.epochRows;
  epochs.columns = options.epochColumns;
  epochs.policy = options.epochPolicy;
  epochs.oneRow = options.epochOneRow;
  epochs.otherGrids = options.epochOtherGrids;
  epochs.transposeGrids = options.epochTransposeGrids;
  epochs.overrides = options.epochOverrides;
  manager.addPass(ttnn::createTTNNPlaceEpochs(epochs));
}

static void addTTIRToTTNN(OpPassManager &manager, const ttnn::TTIRToTTNNPipelineOptions &options) {
  using namespace ttnn;
  if (options.uniqueLocations)
    manager.addPass(createTTNNUniqueLocations());
  addDevicePasses(manager, options, options.stages);
  if (!options.argumentTypes.empty())
    manager.addPass(ttcore::createTTPopulateArgumentTypes({options.argumentTypes}));
  // In the order of the source program.
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRNumberEpochs());
  // TTIR with types that the chip can hold.
  manager.addPass(ttir::createTTIRDecomposeComposites());
  manager.addPass(ttir::createTTIRInlineFunctions());
  if (options.removeDeadValues)
    manager.addPass(createRemoveDeadValuesPass());
  // Before types and forms of TTIR change: other dialects would not follow.
  manager.addPass(createCPUHoistFallback({options.cpuFallback}));
  manager.addPass(ttir::createTTIRMicroBatches({options.microBatches}));
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRCutOps());
  manager.addPass(ttir::createTTIRHoistConstants());
  // Quantized tensors, before their integers get the chip's types.
  if (options.optimizations && options.quantDequantConversion)
    manager.addPass(ttir::createTTIRQuantDequantConversion());
  if (options.targetBitWidth != 32)
    manager.addPass(ttir::createTTIRQuantDataTypeConversion({options.targetBitWidth}));
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRQuantizedAsIntegers());
  if (options.optimizations && options.quantDequantConversion)
    manager.addNestedPass<func::FuncOp>(ttir::createTTIRIntegerProducts());
  manager.addPass(ttir::createTTIRElementTypeNormalization());
  if (!options.targetFormat.empty())
    manager.addPass(ttir::createTTIRGlobalDataFormatConversion({options.targetFormat}));
  // Before any other pass reads the ops: tagged ops belong to the host.
  manager.addPass(createCPUHoistManuallyTaggedOpsTransform());
  if (options.optimizations && options.implicitBroadcastFolding)
    manager.addNestedPass<func::FuncOp>(ttir::createTTIRImplicitBroadcastFold());
  auto addFusing = [&] {
    if (options.optimizations && options.fusing)
      manager.addNestedPass<func::FuncOp>(
          ttir::createTTIRFusing({options.fusingConv2dWithMultiply, options.permuteMatmulFusion,
                                  options.sliceOfMatmulFusion, options.openSizes}));
  };
  addFusing();
  if (options.optimizations && options.eraseInverseOps) {
    manager.addNestedPass<func::FuncOp>(ttir::createTTIRChannelsLast());
    // One form from op to op, so that nothing is reshaped in between.
    if (options.level() > 0)
      manager.addNestedPass<func::FuncOp>(ttir::createTTIRFlattenSlidingWindow());
    manager.addNestedPass<func::FuncOp>(ttir::createTTIREraseInverseOps());
    // Ops that data movement had separated.
    addFusing();
  }
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRPropagateWeightDtype());
  if (options.optimizations && options.constEval && options.hostConstEval) {
    manager.addPass(ttcore::createConstEvalHoistTransform());
    manager.addPass(createCPUHoistConstEvalTransform());
  }
  addHostPasses(manager);
  // TTNN, with all tensors placed.
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRLocalizePresharded());
  manager.addPass(createTTNNLayout({options.openSizes}));
  manager.addPass(createConvertTTIRToTTNN());
  if (options.optimizations && options.fusing)
    manager.addNestedPass<func::FuncOp>(createTTNNFusing({/*enableRoPEFusion=*/true}));
  manager.addNestedPass<func::FuncOp>(createTTNNRequestedCopies());
  // Ops that a barrier separates have been fused now.
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

void ttnn::createTTIRToTTNNCommonPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options) {
  addTTIRToTTNN(manager, options);
  addPlaces(manager, options);
}

void ttnn::createTTIRToTTNNPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options) {
  addTTIRToTTNN(manager, options);
  manager.addPass(createTTNNPipelineStages({options.stages, llvm::to_vector(options.meshShape)}));
  // Stages and traces are separate functions: layouts are chosen after they have been split off.
  if (!options.trace)
    addPlaces(manager, options);
  manager.addNestedPass<func::FuncOp>(createTTNNDeallocate());
  if (options.trace) {
    manager.addPass(createTTNNTraceHoistTransform());
    addPlaces(manager, options);
    // Layout changes that it added.
    manager.addNestedPass<func::FuncOp>(createTTNNDeallocate());
  }
  if (options.perfMetrics) {
    TTNNCollectPerfMetricsOptions figures;
    if (!options.perfMetricsFile.empty())
      figures.outputFile = options.perfMetricsFile;
    figures.verbose = options.perfMetricsVerbose;
    figures.enableTrace = options.trace;
    manager.addPass(createTTNNCollectPerfMetrics(figures));
  }
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
    ttcore::registerPipeline<TTIRToTTNNPipelineOptions>(name, "Lower TTIR to TTNN programs for the device",
                                                        ttcore::Inside::Device, createTTIRToTTNNPipeline);
  ttcore::registerPipeline<TTIRToTTNNPipelineOptions>("ttir-to-ttnn-common-pipeline",
                                                      "Lower TTIR to TTNN programs that do not free their tensors",
                                                      ttcore::Inside::Device, createTTIRToTTNNCommonPipeline);
  ttcore::registerPipeline<TTNNDeviceOptions>("ttnn-common-to-runtime-pipeline",
                                              "Make TTNN programs ready to be written to a flatbuffer",
                                              ttcore::Inside::Device, createTTNNToRuntimePipeline);
}
