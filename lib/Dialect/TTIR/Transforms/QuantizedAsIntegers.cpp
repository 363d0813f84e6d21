//===- QuantizedAsIntegers.cpp - quantised tensors as their integers ------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"

#include "ttmlir/Dialect/Families/Quantized.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DequantizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DequantizeUnrolledOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/QuantizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/QuantizeUnrolledOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RequantizeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRQUANTIZEDASINTEGERS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// Its integers: 32 bits, which the chip has, hold those of every storage type up to 32.
static Type stored(Type type) {
  return quantizedOf(type) ? cast<RankedTensorType>(type).clone(IntegerType::get(type.getContext(), 32)) : type;
}

namespace {
/// Scales and zero points as constants, and their dimension.
struct Parameters {
  Value scale, zeroPoint;
  IntegerAttr axis;
};
} // namespace

static Parameters parametersOf(ImplicitLocOpBuilder &b, quant::QuantizedType quantized) {
  SmallVector<float> scales;
  SmallVector<int32_t> zeroPoints;
  IntegerAttr axis;
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(quantized)) {
    scales.push_back(static_cast<float>(uniform.getScale()));
    zeroPoints.push_back(static_cast<int32_t>(uniform.getZeroPoint()));
  } else {
    auto perAxis = cast<quant::UniformQuantizedPerAxisType>(quantized);
    for (double scale : perAxis.getScales())
      scales.push_back(static_cast<float>(scale));
    for (int64_t zeroPoint : perAxis.getZeroPoints())
      zeroPoints.push_back(static_cast<int32_t>(zeroPoint));
    axis = b.getI32IntegerAttr(perAxis.getQuantizedDimension());
  }
  const auto count = static_cast<int64_t>(scales.size());
  auto floats = RankedTensorType::get({count}, b.getF32Type()),
       integers = RankedTensorType::get({count}, b.getI32Type());
  return {ttir::ConstantOp::create(b, floats, DenseElementsAttr::get(floats, ArrayRef(scales))),
          ttir::ConstantOp::create(b, integers, DenseElementsAttr::get(integers, ArrayRef(zeroPoints))), axis};
}

static bool isSupported(quant::QuantizedType type) {
  return isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(type) &&
         type.getStorageTypeMin() >= std::numeric_limits<int32_t>::min() &&
         type.getStorageTypeMax() <= std::numeric_limits<int32_t>::max();
}

namespace {
struct QuantizedAsIntegers : ttir::impl::TTIRQuantizedAsIntegersBase<QuantizedAsIntegers> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    were.clear();
    reals.clear();
    SmallVector<Operation *> ops;
    WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == function ? hasQuantized(function.getArgumentTypes()) || hasQuantized(function.getResultTypes())
                         : hasQuantized(op->getOperandTypes()) || hasQuantized(op->getResultTypes()))
        ops.push_back(op);
      return check(op);
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (ops.empty())
      return markAllAnalysesPreserved();
    // The original type of a value, whose current type is that of its integers.
    for (Operation *op : ops) {
      if (op == function)
        convertSignature(function);
      else if (op->hasTrait<trait::ChangesQuantization>())
        lower(op);
      else if (auto constant = dyn_cast<ConstantOp>(op))
        widen(constant);
      else if (op->hasTrait<OpTrait::IsTerminator>() || isa<func::CallOp>(op) || isMovementOfOne(op))
        retype(op);
      else
        compute(op);
    }
    if (Block *last = function.isExternal() ? nullptr : &function.getBody().back())
      function.setFunctionType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                                 last->getTerminator()->getOperandTypes()));
  }

private:
  static WalkResult check(Operation *op) {
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
      if (quant::QuantizedType quantized = quantizedOf(type); quantized && !isSupported(quantized)) {
        op->emitOpError() << "is of " << quantized << "; expected scales and zero points of integers up to 32 bits";
        return WalkResult::interrupt();
      }
    if (auto constant = dyn_cast<ConstantOp>(op); constant && quantizedOf(constant.getType()))
      if (auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
          !values || !isa<IntegerType>(values.getElementType())) {
        op->emitOpError() << "attribute 'value' is not of integers; expected those that stand for its numbers";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  }

  /// Returns the quantized type of a value before its type became that of the integers.
  quant::QuantizedType typeOf(Value value) const {
    auto found = were.find(value);
    return found == were.end() ? quantizedOf(value.getType()) : found->second;
  }
  void remember(Value value) {
    if (quant::QuantizedType quantized = quantizedOf(value.getType())) {
      were[value] = quantized;
      value.setType(stored(value.getType()));
    }
  }
  void convertSignature(func::FuncOp function) {
    if (function.isExternal()) {
      auto all = [](TypeRange types) { return llvm::map_to_vector(types, stored); };
      function.setFunctionType(
          FunctionType::get(&getContext(), all(function.getArgumentTypes()), all(function.getResultTypes())));
      return;
    }
    for (BlockArgument argument : function.getArguments())
      remember(argument);
  }
  void retype(Operation *op) {
    for (Value result : op->getResults())
      remember(result);
  }

  /// A constant already holds the integers.
  void widen(ConstantOp constant) {
    auto values = cast<DenseElementsAttr>(constant.getValue());
    const bool isSigned = quantizedOf(constant.getType()).isSigned();
    retype(constant);
    constant.setValueAttr(values.mapValues(IntegerType::get(&getContext(), 32), [&](const APInt &value) {
      return isSigned ? value.sextOrTrunc(32) : value.zextOrTrunc(32);
    }));
  }

  bool isMovementOfOne(Operation *op) const {
    if (!movesOnlyOperands(op))
      return false;
    quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
    // Scales of a dimension would move with it.
    return isa_and_nonnull<quant::UniformQuantizedType>(type) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return typeOf(operand) == type; });
  }

  Value dequantized(ImplicitLocOpBuilder &b, Value value, quant::QuantizedType from, Type type) {
    Parameters p = parametersOf(b, from);
    return DequantizeUnrolledOp::create(b, type, value, p.scale, p.zeroPoint, p.axis);
  }

  /// Returns the real values of a value's integers, for `user`, computed once: before its first user or, if that is in
  /// a region of its own, after the value.
  Value realOf(Operation *user, Value value, quant::QuantizedType from) {
    Value &real = reals[value];
    if (!real) {
      ImplicitLocOpBuilder b(ttcore::withoutSourceNumber(user->getLoc()), user);
      if (user->getBlock() != value.getParentBlock())
        b.setInsertionPointAfterValue(value);
      real = dequantized(b, value, from, cast<RankedTensorType>(value.getType()).clone(from.getExpressedType()));
    }
    return real;
  }

  /// The integers of `to`, within its range. The last op has the location.
  Value quantized(ImplicitLocOpBuilder &b, Value value, quant::QuantizedType to, Location last) {
    Parameters p = parametersOf(b, to);
    Type type = cast<RankedTensorType>(value.getType()).clone(b.getI32Type());
    const int64_t least = to.getStorageTypeMin(), greatest = to.getStorageTypeMax();
    const bool isWhole =
        least == std::numeric_limits<int32_t>::min() && greatest == std::numeric_limits<int32_t>::max();
    if (isWhole)
      b.setLoc(last);
    Value created = QuantizeUnrolledOp::create(b, type, value, p.scale, p.zeroPoint, p.axis);
    if (isWhole)
      return created;
    b.setLoc(last);
    return ClampScalarOp::create(b, type, created, b.getI32IntegerAttr(least), b.getI32IntegerAttr(greatest));
  }

  void lower(Operation *op) {
    ImplicitLocOpBuilder b(ttcore::withoutSourceNumber(op->getLoc()), op);
    Value input = op->getOperand(0);
    quant::QuantizedType from = typeOf(input), to = quantizedOf(op->getResult(0).getType());
    Value created;
    if (!to) {
      b.setLoc(op->getLoc());
      created = from ? dequantized(b, input, from, op->getResult(0).getType()) : input;
    } else {
      Value real = from ? realOf(op, input, from) : input;
      created = quantized(b, real, to, op->getLoc());
      were[created] = to;
    }
    op->getResult(0).replaceAllUsesWith(created);
    op->erase();
  }

  /// Any other op computes with the values that the integers represent.
  void compute(Operation *op) {
    ImplicitLocOpBuilder b(ttcore::withoutSourceNumber(op->getLoc()), op);
    for (OpOperand &operand : op->getOpOperands())
      if (quant::QuantizedType from = typeOf(operand.get()))
        operand.set(realOf(op, operand.get(), from));
    b.setInsertionPointAfter(op);
    Location last = op->getLoc();
    for (Value result : op->getResults()) {
      quant::QuantizedType to = quantizedOf(result.getType());
      if (!to)
        continue;
      op->setLoc(b.getLoc());
      result.setType(expressedType(result.getType()));
      b.setLoc(op->getLoc());
      Value created = quantized(b, result, to, last);
      were[created] = to;
      SmallPtrSet<Operation *, 2> own;
      for (Operation *producer = created.getDefiningOp(); producer && producer != op;
           producer = producer->getOperand(0).getDefiningOp())
        own.insert(producer);
      result.replaceAllUsesExcept(created, own);
    }
  }

  DenseMap<Value, quant::QuantizedType> were;
  DenseMap<Value, Value> reals; // by the integers
};
} // namespace
