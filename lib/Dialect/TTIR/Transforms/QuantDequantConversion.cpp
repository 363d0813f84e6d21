//===- QuantDequantConversion.cpp - data movement of quantised values -----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"

#include "ttmlir/Dialect/Families/Effects.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DequantizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/QuantizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RequantizeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRQUANTDEQUANTCONVERSION
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// The type from which a float was dequantized, if it applies to the whole tensor: a type with one scale per index
/// would have to move with its dimension. A value that is written to later is read in place.
static quant::UniformQuantizedType dequantizedFrom(Value value) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  if (!dequantize || isAffectedAfter(dequantize.getInput(), dequantize))
    return {};
  auto type = dyn_cast<RankedTensorType>(dequantize.getInput().getType());
  return type ? dyn_cast<quant::UniformQuantizedType>(type.getElementType()) : quant::UniformQuantizedType();
}

namespace {
struct QuantDequantConversion : ttir::impl::TTIRQuantDequantConversionBase<QuantDequantConversion> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (movesOnlyOperands(op) || op->hasTrait<trait::ChangesQuantization>())
        ops.push_back(op);
    });
    bool changed = false;
    SmallVector<Operation *> dead;
    for (Operation *op : ops) {
      Operation *dequantize = movesOnlyOperands(op) ? moveAhead(op) : nullptr;
      if (dequantize || joinWithDequantize(op)) {
        changed = true;
        dead.push_back(op);
      } else if (isa<DequantizeOp>(op)) {
        dead.push_back(op);
      }
      // Another op may move before it in turn.
      if (dequantize)
        dead.push_back(dequantize);
    }
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty()) {
        op->erase();
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// Moves the op before the dequantization of its operands. Returns the dequantization of its result, or null.
  static Operation *moveAhead(Operation *op) {
    quant::UniformQuantizedType type =
        op->getNumOperands() ? dequantizedFrom(op->getOperand(0)) : quant::UniformQuantizedType();
    auto isOfType = [&](Value operand) { return dequantizedFrom(operand) == type; };
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !result || !llvm::all_of(op->getOperands(), isOfType) ||
        type.getExpressedType() != result.getElementType())
      return nullptr;
    OpBuilder builder(op);
    Operation *moved = builder.clone(*op);
    for (OpOperand &operand : moved->getOpOperands())
      operand.set(operand.get().getDefiningOp<DequantizeOp>().getInput());
    moved->getResult(0).setType(result.clone(type));
    moved->setLoc(ttcore::withoutSourceNumber(op->getLoc()));
    auto dequantize = DequantizeOp::create(builder, op->getLoc(), result, moved->getResult(0));
    op->getResult(0).replaceAllUsesWith(dequantize.getResult());
    return dequantize;
  }

  /// Quantizing a dequantized value is an identity, or a change of scale.
  static bool joinWithDequantize(Operation *op) {
    auto quantize = dyn_cast<QuantizeOp>(op);
    if (!quantize || !dequantizedFrom(quantize.getInput()))
      return false;
    Value source = quantize.getInput().getDefiningOp<DequantizeOp>().getInput();
    auto type = cast<RankedTensorType>(quantize.getType());
    if (!isa<quant::UniformQuantizedType>(type.getElementType()))
      return false;
    if (source.getType() != type) {
      OpBuilder builder(op);
      source = RequantizeOp::create(builder, op->getLoc(), type, source);
    }
    quantize.getResult().replaceAllUsesWith(source);
    return true;
  }
};
} // namespace
