//===- WeightDtypeConversion.cpp - block formats for weights --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/Places.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNWEIGHTDTYPECONVERSION
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The operand that is a weight (TakesWeight).
static constexpr unsigned weightOperand = 1;

/// Follows ops that only move or cast the values of one tensor.
static Value origin(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if ((!movesOnlyOperands(op) && !isa<TypecastOp>(op)) ||
        llvm::count_if(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) != 1)
      return value;
    value = op->getOperand(0);
  }
  return value;
}

static bool isConstantData(Value value) {
  Value source = origin(value);
  return source.getDefiningOp<ConstantOp>() || ttcore::isConstantArgument(source);
}

namespace {
struct WeightDtypeConversion : ttnn::impl::TTNNWeightDtypeConversionBase<WeightDtypeConversion> {
  using Base::Base;

  void runOnOperation() override {
    bool changed = false;
    std::optional<ttcore::Places> places;
    if (targetDtype != BFPDtype::None)
      places.emplace(getOperation());
    // One cast serves all uses of a weight in a format.
    DenseMap<std::pair<Value, ttcore::DataType>, Value> casts;
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!op->hasTrait<trait::TakesWeight>())
        return WalkResult::advance();
      // The second operand of a convolution is a weight, whatever its source.
      bool always = op->hasTrait<trait::Convolves>();
      std::optional<ttcore::DataType> format;
      if (places && !places->isComputedBy(op))
        format = toDataType(targetDtype);
      // The op's own attribute applies, whatever the weight's source.
      if (Attribute own = op->getDiscardableAttr(ttcore::weightDtypeName)) {
        FailureOr<ttcore::DataType> named = ttcore::weightDtypeOf(own, [&] { return op->emitOpError(); });
        if (failed(named))
          return WalkResult::interrupt();
        op->removeDiscardableAttr(ttcore::weightDtypeName);
        format = *named;
        always = true;
      }
      changed |= format.has_value();
      if (format)
        setFormat(op->getOpOperand(weightOperand), *format, always, casts);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    else if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static void setFormat(OpOperand &weight, ttcore::DataType format, bool always,
                        DenseMap<std::pair<Value, ttcore::DataType>, Value> &casts) {
    TTNNLayoutAttr layout = TTNNLayoutAttr::of(weight.get().getType());
    // Rows on the device are values of this run, which the convolution prepares itself.
    if (!layout || (!layout.isTiled() && layout.isOnDevice()) || layout.getDataType() == format ||
        !isa<FloatType>(cast<RankedTensorType>(weight.get().getType()).getElementType()) ||
        (!always && !isConstantData(weight.get())))
      return;
    Value &cast = casts[{weight.get(), format}];
    if (!cast)
      cast = convert(weight.get(), layout, format);
    weight.set(cast);
  }

  static Value convert(Value weight, TTNNLayoutAttr layout, ttcore::DataType format) {
    auto from = cast<RankedTensorType>(weight.getType());
    RankedTensorType type = withLayout(from, layout.withLayout(from.getShape(), Layout::Tile).withDataType(format));
    // Tiles of a block format hold values of any float type.
    const bool isBlock = ttcore::isBlockFormat(format);
    if (!isBlock)
      type = type.clone(ttcore::dataTypeToElementType(weight.getContext(), format));
    if (auto constant = weight.getDefiningOp<ConstantOp>(); isBlock && constant && weight.hasOneUse()) {
      weight.setType(type);
      return weight;
    }
    OpBuilder builder(weight.getContext());
    builder.setInsertionPointAfterValue(weight);
    Location location = ttcore::withoutSourceNumber(weight.getLoc());
    if (!layout.isTiled())
      return ToLayoutOp::create(builder, location, type, weight);
    return TypecastOp::create(builder, location, type, weight, /*dtype=*/nullptr);
  }
};
} // namespace
