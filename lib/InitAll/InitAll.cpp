//===- InitAll.cpp - registration of everything ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/InitAll.h"
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/Conversion/ToTTIR/Passes.h"
#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"
#include "ttmlir/InitOptional.h"
#include "ttmlir/Target/TTNN/TTNNToFlatbuffer.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tt::registerAllDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, ttcore::TTCoreDialect, ttir::TTIRDialect, ttnn::TTNNDialect, debug::DebugDialect,
                  emitc::EmitCDialect, arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect, quant::QuantDialect,
                  tosa::TosaDialect, affine::AffineDialect, tensor::TensorDialect>();
  registerOptionalDialects(registry);
  func::registerInlinerExtension(registry);
}

void tt::registerAllPasses() {
  registerTransformsPasses();
  ttcore::registerTTCorePasses();
  ttir::registerTTIRPasses();
  ttnn::registerTTNNPasses();
  registerTTIRToTTNNPasses();
  registerToTTIRPasses();
  ttnn::registerTTNNPipelines();
  registerOptionalPasses();
}

void tt::registerAllTranslations() {
  ttnn::registerTTNNToFlatbuffer(registerAllDialects);
  registerOptionalTranslations(registerAllDialects);
}
