//===- InitAll.cpp - registration of everything ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/InitAll.h"
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"
#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Conversion/TTNNToEmit/Pipelines.h"
#include "ttmlir/Conversion/ToTTIR/Passes.h"
#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/EmitPy/IR/EmitPy.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"
#include "ttmlir/Dialect/TTKernel/Transforms/Passes.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTMetal/Pipelines/TTMetalPipelines.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"
#include "ttmlir/InitStableHLO.h"
#include "ttmlir/Target/Cpp/TranslateToCpp.h"
#include "ttmlir/Target/Python/TranslateToPython.h"
#include "ttmlir/Target/TTMetal/TTMetalToFlatbuffer.h"
#include "ttmlir/Target/TTNN/TTNNToFlatbuffer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tt::registerAllDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, ttcore::TTCoreDialect, ttir::TTIRDialect, ttnn::TTNNDialect, d2m::D2MDialect,
                  ttkernel::TTKernelDialect, ttmetal::TTMetalDialect, sdy::SdyDialect, debug::DebugDialect,
                  emitpy::EmitPyDialect, emitc::EmitCDialect, arith::ArithDialect, memref::MemRefDialect,
                  scf::SCFDialect, quant::QuantDialect, tosa::TosaDialect>();
  registerStableHLODialects(registry);
  func::registerInlinerExtension(registry);
  registerHostDialects(registry);
  // Passes that emit programs compile functions of the host, and may add nothing to the context by then.
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void tt::registerAllPasses() {
  registerTransformsPasses();
  ttcore::registerTTCorePasses();
  ttir::registerTTIRPasses();
  ttnn::registerTTNNPasses();
  d2m::registerD2MPasses();
  ttkernel::registerTTKernelPasses();
  registerTTIRToTTNNPasses();
  registerTTIRToLinalgPasses();
  registerTTIRToD2MPasses();
  registerD2MToTTMetalPasses();
  registerTTNNToEmitPasses();
  registerToTTIRPasses();
  ttnn::registerTTNNPipelines();
  registerLinalgToLLVMPipeline();
  ttmetal::registerTTMetalPipelines();
  registerTTNNToEmitPipelines();
  registerStableHLOPasses();
}

void tt::registerAllTranslations() {
  ttnn::registerTTNNToFlatbuffer(registerAllDialects);
  ttmetal::registerTTMetalTranslations(registerAllDialects);
  emit::registerTranslateToCpp(registerAllDialects);
  emitpy::registerTranslateToPython(registerAllDialects);
}
