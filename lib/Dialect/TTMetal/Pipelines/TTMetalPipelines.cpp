//===- TTMetalPipelines.cpp - pipelines from TTIR to TTMetal --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTMetal/Pipelines/TTMetalPipelines.h"

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"
#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;

void ttmetal::createD2MFrontendPipeline(OpPassManager &manager, const D2MFrontendPipelineOptions &options) {
  ttnn::addDevicePasses(manager, options);
  manager.addPass(ttir::createTTIRDecomposeComposites());
  manager.addPass(ttir::createTTIRInlineFunctions());
  manager.addPass(ttir::createTTIRElementTypeNormalization());
  manager.addNestedPass<func::FuncOp>(ttir::createTTIRImplicitBroadcastFold());
  manager.addPass(createTTIRToD2M());
  manager.nest<func::FuncOp>().addPass(d2m::createD2MGenericFusion({options.generics.elementwiseFusion}));
}

void ttmetal::createD2MBackendPipeline(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(d2m::createD2MAllocate());
  functions.addPass(d2m::createD2MLowerMulticastLoads());
  functions.addPass(d2m::createD2MSplitUnifiedThread());
  functions.addPass(d2m::createD2MLowerLoadStoreOpsToDMA());
  functions.addPass(d2m::createD2MInsertDstRegisterAccessUnscheduled());
  functions.addPass(createCSEPass());
  manager.addPass(d2m::createD2MGenericRegionsToFuncs());
}

void ttmetal::createD2MToTTMetalPipeline(OpPassManager &manager, const MetalOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createConvertD2MToTTMetal({options.mathFidelity}));
  functions.addPass(createConvertD2MToTTKernel());
  functions.addPass(ttkernel::createTTKernelControlDstSection());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createConvertTTKernelToEmitC());
}

void ttmetal::registerTTMetalPipelines() {
  using ttcore::Inside;
  ttcore::registerPipeline<D2MFrontendPipelineOptions>("d2m-fe-pipeline", "Lower TTIR to generics on buffers of cores",
                                                       Inside::Device, createD2MFrontendPipeline);
  ttcore::registerPipeline<>("d2m-be-pipeline", "Lower generics to threads with addresses and registers", Inside::None,
                             createD2MBackendPipeline);
  ttcore::registerPipeline<D2MToTTMetalPipelineOptions>(
      "d2m-to-ttmetal-pipeline", "Lower threads to commands and kernels", Inside::None,
      [](OpPassManager &manager, const D2MToTTMetalPipelineOptions &options) {
        createD2MToTTMetalPipeline(manager, options.metal);
      });
  ttcore::registerPipeline<TTMetalPipelineOptions>("ttir-to-ttmetal-pipeline", "Lower TTIR to commands and kernels",
                                                   Inside::Device,
                                                   [](OpPassManager &manager, const TTMetalPipelineOptions &options) {
                                                     createD2MFrontendPipeline(manager, options);
                                                     createD2MBackendPipeline(manager);
                                                     createD2MToTTMetalPipeline(manager, options.metal);
                                                   });
}
