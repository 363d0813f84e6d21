//===- Optional.cpp - registration of optional parts ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Conversion/TTNNToEmit/Pipelines.h"
#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/EmitPy/IR/EmitPy.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Pipeline.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"
#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTMetal/Pipelines/TTMetalPipelines.h"
#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"
#include "ttmlir/InitOptional.h"
#include "ttmlir/Target/Cpp/TranslateToCpp.h"
#include "ttmlir/Target/Python/TranslateToPython.h"
#include "ttmlir/Target/TTMetal/TTMetalToFlatbuffer.h"

#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

void tt::registerOptionalDialects(DialectRegistry &registry) {
  registry
      .insert<stablehlo::StablehloDialect, chlo::ChloDialect, vhlo::VhloDialect, sdy::SdyDialect, shape::ShapeDialect,
              d2m::D2MDialect, ttkernel::TTKernelDialect, ttmetal::TTMetalDialect, emitpy::EmitPyDialect>();
  registerHostDialects(registry);
  // Passes that emit programs compile functions of the host, and can no longer add anything to the context.
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void tt::registerOptionalPasses() {
  registerTTIRToLinalgPasses();
  registerLinalgToLLVMPipeline();
  vhlo::registerVhloPasses();
  sdy::registerSdyPasses();
  shlo::registerStableHLOPasses();
  shlo::registerStableHLORewritePasses();
  registerStableHLOToTTIRPasses();
  sdy::registerSdyPipelines();
  shlo::registerStableHLOPipeline();
  registerStableHLOToTTIRPipeline();
  d2m::registerD2MPasses();
  ttkernel::registerTTKernelPasses();
  registerTTIRToD2MPasses();
  registerD2MToTTMetalPasses();
  ttmetal::registerTTMetalPipelines();
  registerTTNNToEmitPasses();
  registerTTNNToEmitPipelines();
}

void tt::registerOptionalTranslations(void (*dialects)(DialectRegistry &)) {
  ttmetal::registerTTMetalTranslations(dialects);
  emit::registerTranslateToCpp(dialects);
  emitpy::registerTranslateToPython(dialects);
}
