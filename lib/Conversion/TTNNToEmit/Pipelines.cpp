//===- Pipelines.cpp - pipelines to EmitC and EmitPy ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Pipelines.h"

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"

using namespace mlir;
using namespace mlir::tt;

static void addEmitC(OpPassManager &manager, const EmitPipelineOptions &options) {
  manager.addPass(ttcore::createTTCoreUnwrapDeviceModulePass());
  if (options.recoverStructure)
    manager.addPass(createTTNNRecoverStructure());
  manager.addPass(createConvertTTNNToEmitC({options.withoutMain, options.tensorDirectory, options.loadInputs,
                                            options.inputDirectory, options.inputPrefix, options.tuplifyInputs}));
}

static void addEmitPy(OpPassManager &manager, const EmitPyPipelineOptions &options) {
  manager.addPass(ttcore::createTTCoreUnwrapDeviceModulePass());
  if (options.recoverStructure)
    manager.addPass(createTTNNRecoverStructure());
  manager.addPass(createConvertTTNNToEmitPy({options.withoutMain, options.tensorDirectory, options.loadInputs,
                                             options.inputDirectory, options.inputPrefix, options.tuplifyInputs,
                                             options.splitFiles}));
}

void tt::registerTTNNToEmitPipelines() {
  using ttcore::Inside;
  ttcore::registerPipeline<TTNNToEmitCOptions>(
      "ttnn-common-to-emitc-pipeline", "Turn TTNN programs into C++", Inside::Device,
      [](OpPassManager &manager, const TTNNToEmitCOptions &options) { addEmitC(manager, options.emit); });
  ttcore::registerPipeline<TTNNToEmitPyOptions>(
      "ttnn-common-to-emitpy-pipeline", "Turn TTNN programs into Python", Inside::Device,
      [](OpPassManager &manager, const TTNNToEmitPyOptions &options) { addEmitPy(manager, options.emit); });
  ttcore::registerPipeline<>("recover-structure-xla-torch-pipeline",
                             "Make functions of the parts that the names of ops tell", Inside::Device,
                             [](OpPassManager &manager) {
                               manager.addPass(ttcore::createTTCoreUnwrapDeviceModulePass());
                               manager.addPass(createTTNNRecoverStructure());
                             });
  ttcore::registerPipeline<TTIRToEmitCOptions>("ttir-to-emitc-pipeline",
                                               "Lower TTIR to TTNN programs and turn those into C++", Inside::Device,
                                               [](OpPassManager &manager, const TTIRToEmitCOptions &options) {
                                                 ttnn::createTTIRToTTNNPipeline(manager, options);
                                                 addEmitC(manager, options.emit);
                                               });
  ttcore::registerPipeline<TTIRToEmitPyOptions>(
      "ttir-to-emitpy-pipeline", "Lower TTIR to TTNN programs and turn those into Python", Inside::Device,
      [](OpPassManager &manager, const TTIRToEmitPyOptions &options) {
        ttnn::createTTIRToTTNNPipeline(manager, options);
        addEmitPy(manager, options.emit);
      });
}
