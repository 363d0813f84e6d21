//===- TTMetalPipelines.cpp - pipelines from TTIR to TTMetal --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTMetal/Pipelines/TTMetalPipelines.h"

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"
#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

void ttmetal::createD2MFrontendPipeline(OpPassManager &manager, const D2MPipelineOptions &options) {
  ttnn::addDevicePasses(manager, options);
  manager.addPass(ttir::createTTIRDecomposeComposites());
  manager.addPass(ttir::createTTIRInlineFunctions());
  manager.addPass(ttir::createTTIRElementTypeNormalization());
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRLocalizePresharded());
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRImplicitBroadcastFold());
  if (!options.globalDataFormat.empty())
    manager.addPass(ttir::createTTIRGlobalDataFormatConversion({options.globalDataFormat}));
  if (options.ttnnMode)
    manager.addNestedPass<func::FuncOp>(createTTIRCastTTNNLayouts());
  addGenerics(manager, options);
}

void ttmetal::addGenerics(OpPassManager &manager, const D2MPipelineOptions &options) {
  manager.addNestedPass<func::FuncOp>(createTTIRWidenPaddedBlocks());
  TTIRToD2MOptions lowering;
  lowering.overrideDeviceShape.assign(options.overrideDeviceShape.begin(), options.overrideDeviceShape.end());
  lowering.numStreamBuffers = options.numStreamBuffers;
  lowering.disableToLayoutFolding = options.disableToLayoutFolding;
  lowering.matmulInterchange.assign(options.matmulInterchange.begin(), options.matmulInterchange.end());
  lowering.availableL1AddrRange.assign(options.availableL1AddrRange.begin(), options.availableL1AddrRange.end());
  lowering.testAssumel1Capacity = options.testAssumeL1Capacity;
  lowering.collapseTensors2D = options.collapseTensors2D;
  lowering.disableL1Acc = options.disableL1Acc;
  lowering.testBufferSizePolicy = options.testBufferSizePolicy;
  lowering.ttnnMode = options.ttnnMode;
  manager.addPass(createTTIRToD2M(lowering));
  manager.addNestedPass<func::FuncOp>(
      d2m::createD2MGenericFusion({options.elementwiseFusion, options.eltwiseReductionFusion}));
}

void ttmetal::createD2MBackendPipeline(OpPassManager &manager, const D2MPipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  d2m::D2MAllocateOptions allocation;
  allocation.availableL1AddrRange.assign(options.availableL1AddrRange.begin(), options.availableL1AddrRange.end());
  allocation.testAssumel1Capacity = options.testAssumeL1Capacity;
  allocation.forceSpillToDramIfLegal = options.forceSpillToDram;
  allocation.allowL1OutputSpilling = options.allowL1OutputSpilling;
  allocation.defaultInputMemspace = options.defaultInputMemspace;
  allocation.defaultOutputMemspace = options.defaultOutputMemspace;
  allocation.streamInsertPolicy = options.streamInsertPolicy;
  allocation.testBufferSizePolicy = options.testBufferSizePolicy;
  allocation.ttnnMode = options.ttnnMode;
  functions.addPass(d2m::createD2MAllocate(allocation));
  functions.addPass(d2m::createD2MLowerMulticastLoads({options.multicastInference}));
  functions.addPass(d2m::createD2MSplitUnifiedThread());
  functions.addPass(
      d2m::createD2MLowerLoadStoreOpsToDMA({options.debugCoalescingInference, options.useTensorAccessorDMA}));
  functions.addPass(d2m::createD2MOpScheduler({options.opScheduler}));
  functions.addPass(d2m::createD2MInsertDstRegisterAccessUnscheduled());
  functions.addPass(createCSEPass());
  manager.addPass(d2m::createD2MGenericRegionsToFuncs({options.forceCompileTimeArgs}));
}

static void addKernelPasses(OpPassManager &functions, const ttmetal::D2MPipelineOptions &options) {
  functions.addPass(createConvertD2MToTTKernel({options.maxDstTiles, options.useTileMatmul}));
  functions.addPass(ttkernel::createTTKernelControlDstSection());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(ttkernel::createTTKernelHoistInits());
  functions.addPass(ttkernel::createTTKernelDedupInits());
  if (options.insertProfilerTraces) {
    ttkernel::TTKernelInsertDeviceZoneScopesOptions zones;
    zones.traitNames.assign(options.profilerTraits.begin(), options.profilerTraits.end());
    functions.addPass(ttkernel::createTTKernelInsertDeviceZoneScopes(zones));
  }
}

void ttmetal::createD2MToTTMetalPipeline(OpPassManager &manager, const D2MPipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createConvertD2MToTTMetal({options.mathFidelity}));
  addKernelPasses(functions, options);
  createD2MEmitCPipeline(manager);
}

void ttmetal::createD2MToTTNNPipeline(OpPassManager &manager, const D2MPipelineOptions &options) {
  manager.addPass(createConvertD2MToTTNN({options.mathFidelity}));
  addKernelPasses(manager.nest<func::FuncOp>(), options);
  createD2MEmitCPipeline(manager);
  manager.addPass(createTTNNEmbedKernels());
  manager.addNestedPass<func::FuncOp>(ttnn::createTTNNDecomposeLayouts());
}

void ttmetal::createD2MEmitCPipeline(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createConvertTTKernelToEmitC());
}

void ttmetal::registerTTMetalPipelines() {
  using ttcore::Inside;
  ttcore::registerPipeline<D2MPipelineOptions>("d2m-fe-pipeline", "Lower TTIR to generics on buffers of cores",
                                               Inside::Device, createD2MFrontendPipeline);
  ttcore::registerPipeline<D2MPipelineOptions>("d2m-be-pipeline",
                                               "Lower generics to threads with addresses and registers", Inside::None,
                                               createD2MBackendPipeline);
  ttcore::registerPipeline<D2MPipelineOptions>("d2m-to-ttkernel-pre-emitc-pipeline",
                                               "Lower threads to kernels of TTKernel", Inside::None,
                                               [](OpPassManager &manager, const D2MPipelineOptions &options) {
                                                 addKernelPasses(manager.nest<func::FuncOp>(), options);
                                               });
  ttcore::registerPipeline<D2MPipelineOptions>(
      "d2m-emitc-pipeline", "Lower kernels to C++", Inside::None,
      [](OpPassManager &manager, const D2MPipelineOptions &) { createD2MEmitCPipeline(manager); });
  ttcore::registerPipeline<D2MPipelineOptions>("d2m-to-ttkernel-pipeline", "Lower threads to kernels in C++",
                                               Inside::None,
                                               [](OpPassManager &manager, const D2MPipelineOptions &options) {
                                                 addKernelPasses(manager.nest<func::FuncOp>(), options);
                                                 createD2MEmitCPipeline(manager);
                                               });
  ttcore::registerPipeline<D2MPipelineOptions>("d2m-to-ttmetal-pipeline", "Lower threads to commands and kernels",
                                               Inside::None, createD2MToTTMetalPipeline);
  ttcore::registerPipeline<D2MPipelineOptions>("d2m-to-ttnn-pipeline", "Lower threads to programs of TTNN and kernels",
                                               Inside::None, createD2MToTTNNPipeline);
  ttcore::registerPipeline<TTNNThroughD2MOptions>("ttnn-through-d2m-pipeline",
                                                  "Lower the functions of ttnn.d2m_subgraph to kernels", Inside::None,
                                                  createTTNNThroughD2MPipeline);
  ttcore::registerPipeline<D2MPipelineOptions>("ttir-to-ttmetal-pipeline", "Lower TTIR to commands and kernels",
                                               Inside::Device,
                                               [](OpPassManager &manager, const D2MPipelineOptions &options) {
                                                 createD2MFrontendPipeline(manager, options);
                                                 createD2MBackendPipeline(manager, options);
                                                 if (!options.ttnnMode)
                                                   return createD2MToTTMetalPipeline(manager, options);
                                                 createD2MToTTNNPipeline(manager, options);
                                                 manager.addNestedPass<func::FuncOp>(ttnn::createTTNNDeallocate());
                                               });
}
