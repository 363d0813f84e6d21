//===- Quantized.cpp - tensors of quantized numbers as integers -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// Where it is visible outside - arguments, results, values that a loop carries - a quantized tensor consists of the
// stored integers.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/Families/Quantized.h"
#include "Expand/Expressions.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tt {
#define GEN_PASS_DEF_STABLEHLOLEGALIZEQUANTTOMATH
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

static Type storageOf(quant::QuantizedType quantized) {
  return IntegerType::get(quantized.getContext(), quantized.getStorageTypeIntegralWidth(),
                          quantized.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
}

/// `tensor<4x!quant.uniform<i8:f32, 0.5>>` -> `tensor<4xi8>`
static Type storedType(Type type) {
  quant::QuantizedType quantized = quantizedOf(type);
  return quantized ? cast<RankedTensorType>(type).clone(storageOf(quantized)) : type;
}

/// A number for each element: the one of all elements, or that of its index in the quantized dimension.
static Expr parameter(Expr like, quant::QuantizedType quantized, bool isScale) {
  ImplicitLocOpBuilder &builder = like.build();
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(quantized))
    return like.number(isScale ? uniform.getScale() : static_cast<double>(uniform.getZeroPoint()));
  auto perAxis = cast<quant::UniformQuantizedPerAxisType>(quantized);
  const size_t count = perAxis.getScales().size();
  SmallVector<Attribute> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(builder.getFloatAttr(like.element(), isScale ? perAxis.getScales()[i]
                                                                  : static_cast<double>(perAxis.getZeroPoints()[i])));
  auto row = RankedTensorType::get({static_cast<int64_t>(count)}, like.element());
  Expr numbers(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(row, values)));
  return numbers.broadcast(like.shape(), {perAxis.getQuantizedDimension()});
}

/// (stored - zero point) * scale
static Expr dequantize(Expr stored, quant::QuantizedType quantized) {
  Expr value = stored.convert(quantized.getExpressedType());
  return (value - parameter(value, quantized, false)) * parameter(value, quantized, true);
}

/// round_nearest_even(clamp(smallest, x / scale + zero point, largest))
static Expr quantize(Expr x, quant::QuantizedType quantized) {
  Expr value = x / parameter(x, quantized, true) + parameter(x, quantized, false);
  value = value.apply<stablehlo::MaxOp>(value.number(static_cast<double>(quantized.getStorageTypeMin())));
  value = value.apply<stablehlo::MinOp>(value.number(static_cast<double>(quantized.getStorageTypeMax())));
  return value.apply<stablehlo::RoundNearestEvenOp>().convert(storageOf(quantized));
}

/// Whether an op does not change values: the end of a region, a loop, a branch, a call.
static bool forwardsValues(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() || op->hasTrait<trait::ForwardsValues>() ||
         op->hasTrait<trait::RunsFunctions>() || isa<func::CallOp>(op);
}

namespace {
struct LegalizeQuantToMath : tt::impl::StableHLOLegalizeQuantToMathBase<LegalizeQuantToMath> {
  void runOnOperation() override {
    bool any = false;
    getOperation()->walk([&](Operation *op) {
      any = any || hasQuantized(op->getResultTypes()) || hasQuantized(op->getOperandTypes());
      if (auto function = dyn_cast<func::FuncOp>(op))
        any = any || hasQuantized(function.getArgumentTypes()) || hasQuantized(function.getResultTypes());
    });
    if (!any)
      return markAllAnalysesPreserved();
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      were.clear();
      if (failed(convertRegion(function.getBody())))
        return signalPassFailure();
      function.setFunctionType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                                 function.getBody().front().getTerminator()->getOperandTypes()));
    }
  }

private:
  LogicalResult convertRegion(Region &region) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        takeOver(argument);
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(convert(&op)))
          return failure();
    }
    return success();
  }

  /// The value becomes its integers; their quantized type is recorded.
  void takeOver(Value value) {
    if (quant::QuantizedType quantized = quantizedOf(value.getType())) {
      were[value] = quantized;
      value.setType(cast<RankedTensorType>(storedType(value.getType())));
    }
  }

  LogicalResult convert(Operation *op) {
    const bool takes = llvm::any_of(op->getOperands(), [&](Value operand) { return were.contains(operand); });
    if (!takes && !hasQuantized(op->getResultTypes()))
      return convertRegions(op);
    if (forwardsValues(op) || isa<stablehlo::BitcastConvertOp>(op)) {
      llvm::for_each(op->getResults(), [&](Value result) { takeOver(result); });
      return convertRegions(op);
    }
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      // Its value is stored already.
      takeOver(constant);
      return success();
    }
    // Its elements may be their integers.
    if (movesOnlyOperands(op) && sameScales(op)) {
      takeOver(op->getResult(0));
      return success();
    }

    // With floats.
    for (Value operand : op->getOperands())
      if (quant::QuantizedType quantized = were.lookup(operand))
        if (failed(checkShape(op, cast<RankedTensorType>(operand.getType()).clone(quantized))))
          return failure();
    for (Type type : op->getResultTypes())
      if (quantizedOf(type) && failed(checkShape(op, cast<RankedTensorType>(type))))
        return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      quant::QuantizedType quantized = were.lookup(operand);
      operands.push_back(quantized ? dequantize(Expr(builder, operand), quantized).value() : operand);
    }
    SmallVector<Value> results;
    if (op->hasTrait<trait::ChangesQuantization>()) {
      results.push_back(operands[0]);
    } else {
      OperationState state(op->getLoc(), op->getName());
      state.addOperands(operands);
      state.addAttributes(op->getAttrs());
      state.addTypes(llvm::map_to_vector(op->getResultTypes(), expressedType));
      for (Region &region : op->getRegions()) {
        if (failed(computeWithFloats(region)))
          return failure();
        state.addRegion()->takeBody(region);
      }
      llvm::append_range(results, builder.create(state)->getResults());
    }
    for (auto [old, value] : llvm::zip_equal(op->getResults(), results)) {
      quant::QuantizedType quantized = quantizedOf(old.getType());
      Value result = quantized ? quantize(Expr(builder, value), quantized).value() : value;
      if (quantized)
        were[result] = quantized;
      old.replaceAllUsesWith(result);
    }
    op->erase();
    return success();
  }

  /// Converts the region of a reduction, a scatter or a sort to floats: intermediate steps are not rounded.
  static LogicalResult computeWithFloats(Region &region) {
    auto retype = [](Value value) { value.setType(expressedType(value.getType())); };
    WalkResult walked = region.walk([&](Operation *op) {
      if (!hasQuantized(op->getResultTypes()) && !hasQuantized(op->getOperandTypes()))
        return WalkResult::advance();
      if (op->getNumRegions() || op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<trait::ReadsBits>() ||
          op->hasTrait<trait::ChangesQuantization>()) {
        op->emitOpError("has quantized elements in the region of another op; expected only ops that compute there");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), retype);
      for (Operation &op : block)
        llvm::for_each(op.getResults(), retype);
    }
    return success();
  }

  static LogicalResult checkShape(Operation *op, RankedTensorType type) {
    if (type.hasStaticShape())
      return success();
    return op->emitOpError() << "has the type " << type << "; expected a static shape, to compute with it";
  }

  /// Operands and result have the same scales; scales of dimensions move with them.
  bool sameScales(Operation *op) {
    quant::QuantizedType to = quantizedOf(op->getResult(0).getType());
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      quant::QuantizedType from = were.lookup(operand);
      if (!from || !to)
        return !from; // indices and predicates
      return from == to ||
             (isa<quant::UniformQuantizedPerAxisType>(from) && isa<quant::UniformQuantizedPerAxisType>(to) &&
              cast<quant::UniformQuantizedPerAxisType>(from).getScales() ==
                  cast<quant::UniformQuantizedPerAxisType>(to).getScales() &&
              cast<quant::UniformQuantizedPerAxisType>(from).getZeroPoints() ==
                  cast<quant::UniformQuantizedPerAxisType>(to).getZeroPoints());
    });
  }

  LogicalResult convertRegions(Operation *op) {
    for (Region &region : op->getRegions())
      if (failed(convertRegion(region)))
        return failure();
    return success();
  }

  DenseMap<Value, quant::QuantizedType> were;
};
} // namespace
