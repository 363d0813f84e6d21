//===- Pipelines.cpp - pipelines to EmitC and EmitPy ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Pipelines.h"

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::tt;

static void addEmitC(OpPassManager &manager, const EmitPipelineOptions &options) {
  if (options.recoverStructure)
    manager.addPass(createTTNNRecoverStructure());
  manager.addPass(createConvertTTNNToEmitC({options.withoutMain, options.tensorDirectory, options.loadInputs,
                                            options.inputDirectory, options.inputPrefix, options.tuplifyInputs}));
}

static void addEmitPy(OpPassManager &manager, const EmitPyPipelineOptions &options) {
  if (options.recoverStructure)
    manager.addPass(createTTNNRecoverStructure());
  manager.addPass(createConvertTTNNToEmitPy({options.withoutMain, options.tensorDirectory, options.loadInputs,
                                             options.inputDirectory, options.inputPrefix, options.tuplifyInputs,
                                             options.splitFiles}));
}

void tt::registerTTNNToEmitPipelines() {
  PassPipelineRegistration<TTNNToEmitCOptions>(
      "ttnn-common-to-emitc-pipeline", "Turn TTNN programs into C++",
      [](OpPassManager &manager, const TTNNToEmitCOptions &options) { addEmitC(manager, options.emit); });
  PassPipelineRegistration<TTNNToEmitPyOptions>(
      "ttnn-common-to-emitpy-pipeline", "Turn TTNN programs into Python",
      [](OpPassManager &manager, const TTNNToEmitPyOptions &options) { addEmitPy(manager, options.emit); });
  PassPipelineRegistration<>("recover-structure-xla-torch-pipeline",
                             "Make functions of the parts that the names of ops tell",
                             [](OpPassManager &manager) { manager.addPass(createTTNNRecoverStructure()); });
  PassPipelineRegistration<TTIRToEmitCOptions>("ttir-to-emitc-pipeline",
                                               "Lower TTIR to TTNN programs and turn those into C++",
                                               [](OpPassManager &manager, const TTIRToEmitCOptions &options) {
                                                 ttnn::createTTIRToTTNNPipeline(manager, options);
                                                 addEmitC(manager, options.emit);
                                               });
  PassPipelineRegistration<TTIRToEmitPyOptions>("ttir-to-emitpy-pipeline",
                                                "Lower TTIR to TTNN programs and turn those into Python",
                                                [](OpPassManager &manager, const TTIRToEmitPyOptions &options) {
                                                  ttnn::createTTIRToTTNNPipeline(manager, options);
                                                  addEmitPy(manager, options.emit);
                                                });
}
