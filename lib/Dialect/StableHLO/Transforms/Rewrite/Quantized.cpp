//===- Quantized.cpp - ops of quantized tensors, and of floats ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOLEGALIZEQDQTOQUANTIZEDOP
#define GEN_PASS_DEF_STABLEHLOLEGALIZEQUANTIZEDOPTOQDQ
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;

static quant::QuantizedType quantizedOf(Type type) {
  return dyn_cast<quant::QuantizedType>(getElementTypeOrSelf(type));
}

/// `tensor<4x!quant.uniform<i8:f32, 0.5>>` -> `tensor<4xf32>`
static Type expressed(Type type) {
  quant::QuantizedType quantized = quantizedOf(type);
  return quantized ? cast<ShapedType>(type).clone(quantized.getExpressedType()) : type;
}

/// An op that computes with elements. Excludes conversions, constants and regions.
static bool computes(Operation *op) {
  return isa<stablehlo::StablehloDialect>(op->getDialect()) && op->getNumRegions() == 0 && op->getNumOperands() != 0 &&
         !op->hasTrait<OpTrait::IsTerminator>() && !op->hasTrait<trait::ChangesQuantization>() &&
         !op->hasTrait<trait::ReadsBits>() && !op->hasTrait<trait::ForwardsValues>() &&
         !op->hasTrait<trait::RunsFunctions>() && !isa<stablehlo::CustomCallOp>(op);
}

/// The op with other operands and results.
static Operation *withTypes(OpBuilder &builder, Operation *op, ValueRange operands, TypeRange results) {
  OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
  return builder.create(state);
}

namespace {
struct QuantizedOpToQDQ : shlo::impl::StablehloLegalizeQuantizedOpToQDQBase<QuantizedOpToQDQ> {
  void runOnOperation() override {
    auto isQuantized = [](Type type) { return bool(quantizedOf(type)); };
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (computes(op) &&
          (llvm::any_of(op->getOperandTypes(), isQuantized) || llvm::any_of(op->getResultTypes(), isQuantized)))
        found.push_back(op);
    });
    if (found.empty())
      return markAllAnalysesPreserved();
    for (Operation *op : found) {
      OpBuilder builder(op);
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(
            isQuantized(operand.getType())
                ? stablehlo::UniformDequantizeOp::create(builder, op->getLoc(), expressed(operand.getType()), operand)
                : operand);
      Operation *created = withTypes(builder, op, operands, llvm::map_to_vector(op->getResultTypes(), expressed));
      for (auto [before, after] : llvm::zip_equal(op->getResults(), created->getResults())) {
        Value value = after;
        if (isQuantized(before.getType()))
          value = stablehlo::UniformQuantizeOp::create(builder, op->getLoc(), before.getType(), after);
        before.replaceAllUsesWith(value);
      }
      op->erase();
    }
  }
};

struct QDQToQuantizedOp : shlo::impl::StablehloLegalizeQDQToQuantizedOpBase<QDQToQuantizedOp> {
  void runOnOperation() override {
    SmallVector<stablehlo::UniformQuantizeOp> found;
    getOperation().walk([&](stablehlo::UniformQuantizeOp op) { found.push_back(op); });
    for (stablehlo::UniformQuantizeOp op : found)
      convert(op);
  }

private:
  static void convert(stablehlo::UniformQuantizeOp quantize) {
    Operation *op = quantize->getOperand(0).getDefiningOp();
    if (!op || !computes(op) || op->getNumResults() != 1 || !op->hasOneUse())
      return;
    SmallVector<Value> operands;
    llvm::SmallSetVector<Operation *, 2> dequantizations;
    for (Value operand : op->getOperands()) {
      if (auto dequantize = operand.getDefiningOp<stablehlo::UniformDequantizeOp>()) {
        operands.push_back(dequantize->getOperand(0));
        dequantizations.insert(dequantize);
      } else if (isa<FloatType>(getElementTypeOrSelf(operand.getType()))) {
        return;
      } else {
        operands.push_back(operand);
      }
    }
    if (dequantizations.empty())
      return;
    OpBuilder builder(quantize);
    Operation *created = withTypes(builder, op, operands, quantize->getResultTypes());
    {
      // Not every op takes quantized elements, or mixes their scales.
      ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
      if (failed(verify(created))) {
        created->erase();
        return;
      }
    }
    quantize->replaceAllUsesWith(created);
    quantize.erase();
    op->erase();
    for (Operation *dequantize : dequantizations)
      if (dequantize->use_empty())
        dequantize->erase();
  }
};
} // namespace
