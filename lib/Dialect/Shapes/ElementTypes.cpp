//===- ElementTypes.cpp - element types that families of ops need ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// Most ops convert their values to the element type of a declared result. These cannot: positions are integers, and
// quantized values have a scale.
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;
using namespace mlir::tt::shapes;

namespace {
/// A value of an op, with the words that name it in a message.
struct Part {
  std::string name;
  Type type;

  Type element() const { return getElementTypeOrSelf(type); }
  ArrayRef<int64_t> shape() const { return cast<ShapedType>(type).getShape(); }
};

/// The op whose types are checked.
struct Checked {
  const OpShapes &shapes;
  const Subject &subject;

  Part operand(size_t index) const {
    StringRef rest = shapes.operands, name;
    for (size_t i = 0; i <= index; ++i)
      std::tie(name, rest) = rest.split(' ');
    return {("operand '" + name.rtrim("?*") + "'").str(), subject.operands[index].getType()};
  }
  Part result(size_t index) const {
    const std::string number = subject.op->getNumResults() > 1 ? " " + std::to_string(index) : "";
    return {"result" + number, subject.op->getResult(index).getType()};
  }
  LogicalResult fail(const Part &part, const Twine &expected) const {
    return emitOptionalError(subject.location, "'", subject.name, "' op ", part.name, " is ", part.type, "; expected ",
                             expected.str());
  }
};
} // namespace

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

static bool isFloat(Type type) { return isa<FloatType>(type); }
static bool isInteger(Type type) { return isa<IntegerType, IndexType>(type); }
static bool isQuantized(Type type) { return isa<quant::QuantizedType>(type); }

static LogicalResult expectFloats(const Checked &op, const Part &part) {
  return isInteger(part.element()) || isQuantized(part.element()) ? op.fail(part, "floating-point numbers") : success();
}
static LogicalResult expectIntegers(const Checked &op, const Part &part) {
  return isFloat(part.element()) ? op.fail(part, "integers") : success();
}
/// Both are floating-point numbers, or both integers.
static LogicalResult expectSameKind(const Checked &op, const Part &part, const Part &like) {
  return isFloat(like.element())     ? expectFloats(op, part)
         : isInteger(like.element()) ? expectIntegers(op, part)
                                     : success();
}
static LogicalResult expectSameElement(const Checked &op, const Part &part, const Part &like) {
  if (part.element() == like.element())
    return success();
  return op.fail(part, "elements of type " + text(like.element()) + ", as of " + like.name);
}

//===----------------------------------------------------------------------===//
// Orderings and data movement
//===----------------------------------------------------------------------===//

static LogicalResult valuesAndPositions(const Checked &op) {
  if (failed(expectSameKind(op, op.result(0), op.operand(0))))
    return failure();
  return op.subject.op->getNumResults() > 1 ? expectIntegers(op, op.result(1)) : success();
}

static LogicalResult resultLikeOperand(const Checked &op) { return expectSameElement(op, op.result(0), op.operand(0)); }
static LogicalResult resultOfOperandsKind(const Checked &op) { return expectSameKind(op, op.result(0), op.operand(0)); }
static LogicalResult secondOfFirstsKind(const Checked &op) { return expectSameKind(op, op.operand(1), op.operand(0)); }

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// Scales and zero points in turn, after the input.
static LogicalResult parameters(const Checked &op) {
  for (size_t i = 1; i < op.subject.operands.size(); ++i)
    if (failed(i % 2 ? expectFloats(op, op.operand(i)) : expectIntegers(op, op.operand(i))))
      return failure();
  return success();
}

static LogicalResult quantize(const Checked &op) {
  return success(succeeded(parameters(op)) && succeeded(expectFloats(op, op.operand(0))) &&
                 succeeded(expectIntegers(op, op.result(0))));
}
static LogicalResult dequantize(const Checked &op) {
  return success(succeeded(parameters(op)) && succeeded(expectIntegers(op, op.operand(0))) &&
                 succeeded(expectFloats(op, op.result(0))));
}
static LogicalResult requantize(const Checked &op) {
  return success(succeeded(parameters(op)) && succeeded(expectIntegers(op, op.operand(0))) &&
                 succeeded(expectIntegers(op, op.result(0))));
}

/// A quantized type that fits the shape, of numbers of the type `expressed` (any type if null).
static LogicalResult expectQuantized(const Checked &op, const Part &part, Type expressed) {
  auto type = dyn_cast<quant::QuantizedType>(part.element());
  if (!type)
    return op.fail(part, "a quantized element type");
  if (expressed && type.getExpressedType() != expressed)
    return op.fail(part, "a quantized type of " + text(expressed));
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!perAxis)
    return success();
  const int64_t axis = perAxis.getQuantizedDimension(), rank = static_cast<int64_t>(part.shape().size());
  if (axis < 0 || axis >= rank)
    return op.fail(part, "a quantized dimension of 0 to " + Twine(rank - 1));
  if (const int64_t scales = perAxis.getScales().size(); scales != part.shape()[axis])
    return op.fail(part, Twine(part.shape()[axis]) + " scales, the size of dimension " + Twine(axis) + ", found " +
                             Twine(scales));
  return success();
}

static LogicalResult quantizeByType(const Checked &op) {
  return success(succeeded(expectFloats(op, op.operand(0))) &&
                 succeeded(expectQuantized(op, op.result(0), op.operand(0).element())));
}
static LogicalResult dequantizeByType(const Checked &op) {
  return success(succeeded(expectFloats(op, op.result(0))) &&
                 succeeded(expectQuantized(op, op.operand(0), op.result(0).element())));
}
static LogicalResult requantizeByType(const Checked &op) {
  if (failed(expectQuantized(op, op.operand(0), Type())))
    return failure();
  return expectQuantized(op, op.result(0), cast<quant::QuantizedType>(op.operand(0).element()).getExpressedType());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  StringLiteral rule;
  LogicalResult (*check)(const Checked &op);
};
} // namespace

static constexpr Row rows[] = {
    {"allToAll", resultLikeOperand},
    {"copy", secondOfFirstsKind},
    {"dequantize", dequantize},
    {"dequantizeByType", dequantizeByType},
    {"prepare_conv2d_bias", resultOfOperandsKind},
    {"prepare_conv2d_weights", resultOfOperandsKind},
    {"prepare_conv_transpose2d_bias", resultOfOperandsKind},
    {"prepare_conv_transpose2d_weights", resultOfOperandsKind},
    {"quantize", quantize},
    {"quantizeByType", quantizeByType},
    {"requantize", requantize},
    {"requantizeByType", requantizeByType},
    {"sort", valuesAndPositions},
    {"topk", valuesAndPositions},
};

LogicalResult mlir::tt::shapes::verifyElementTypes(const OpShapes &shapes, const Subject &subject) {
  const auto *row = llvm::find_if(rows, [&](const Row &each) { return each.rule == shapes.rule; });
  return row == std::end(rows) || !subject.op ? success() : row->check({shapes, subject});
}
