//===- ConstantFolds.cpp - what is computed of constants ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/Families/Traits.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Splats
//===----------------------------------------------------------------------===//

Attribute folds::splatOf(Attribute constant) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
}

Attribute folds::splatOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return splatOf(constant);
  // Where a device is an operand, ops are no constants to MLIR.
  if (!op->hasTrait<trait::Creation>())
    return {};
  StringRef name = op->getName().stripDialect();
  auto element = cast<RankedTensorType>(value.getType()).getElementType();
  if (name == "zeros" || name == "ones")
    return splatOf(filled(RankedTensorType::get({}, element), name == "ones"));
  if (Attribute number = op->getAttr("fill_value"); number && name == "full")
    return splatOf(filled(RankedTensorType::get({}, element), number));
  return name == "constant" ? splatOf(op->getAttr("value")) : Attribute();
}

bool folds::isNumber(Attribute splat, double number) {
  if (auto real = dyn_cast_or_null<FloatAttr>(splat))
    return real.getValueAsDouble() == number && real.getValue().isNegative() == std::signbit(number);
  auto integer = dyn_cast_or_null<IntegerAttr>(splat);
  if (!integer || std::signbit(number) != (number < 0) || integer.getValue().getBitWidth() > 64)
    return false;
  bool isUnsigned = integer.getType().isUnsignedInteger() || integer.getType().isInteger(1);
  return isUnsigned ? static_cast<double>(integer.getValue().getZExtValue()) == number
                    : static_cast<double>(integer.getValue().getSExtValue()) == number;
}

/// A number as an element, or null if the type does not hold it but for rounding.
static Attribute elementOf(Type type, double number) {
  if (auto real = dyn_cast<FloatType>(type); real && real.getWidth() <= 32) {
    APFloat value(static_cast<float>(number));
    bool losesInfo;
    value.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(type, value);
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 32 || number != std::trunc(number))
    return {};
  bool isUnsigned = integer.isUnsigned() || integer.getWidth() == 1;
  double bits = std::ldexp(1.0, integer.getWidth() - (isUnsigned ? 0 : 1));
  if (number < (isUnsigned ? 0 : -bits) || number >= bits)
    return {};
  return IntegerAttr::get(type, APInt(integer.getWidth(), static_cast<int64_t>(number), !isUnsigned));
}

DenseElementsAttr folds::filled(RankedTensorType type, Attribute number) {
  auto real = dyn_cast<FloatAttr>(number);
  auto integer = dyn_cast<IntegerAttr>(number);
  Attribute element =
      elementOf(type.getElementType(), real      ? real.getValueAsDouble()
                                       : integer ? static_cast<double>(integer.getValue().getSExtValue())
                                                 : std::nan(""));
  if (!element)
    return DenseElementsAttr::get(type.clone(cast<TypedAttr>(number).getType()), number);
  return DenseElementsAttr::get(type, element);
}

DenseElementsAttr folds::filled(RankedTensorType type, double number) {
  return filled(type, FloatAttr::get(Float32Type::get(type.getContext()), number));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// An elementwise op whose result is the same in f32 wherever IEEE 754 is followed, rounded once to the result's type,
/// or the same modulo 2^width. What is approximated (exp, pow, ...) is left to the library.
struct ConstantRow {
  StringLiteral name;
  unsigned operands;
  float (*real)(const float *);
  int64_t (*integer)(const int64_t *);
};

// Maximum and minimum of IEEE 754-2019, as in the library: NaN wins, and -0 is below 0.
float smaller(float a, float b) {
  if (a != a || b != b)
    return a + b;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
float larger(float a, float b) { return -smaller(-a, -b); }

#define TTMLIR_BOTH(name, operands, expression)                                                                        \
  {name, operands, [](const float *x) -> float { return expression; },                                                 \
   [](const int64_t *x) -> int64_t { return expression; }}
#define TTMLIR_REAL(name, operands, expression)                                                                        \
  {name, operands, [](const float *x) -> float { return expression; }, nullptr}
#define TTMLIR_INTEGER(name, operands, expression)                                                                     \
  {name, operands, nullptr, [](const int64_t *x) -> int64_t { return expression; }}

const ConstantRow rows[] = {
    {"abs", 1, [](const float *x) -> float { return std::fabs(x[0]); },
     [](const int64_t *x) -> int64_t { return x[0] < 0 ? -x[0] : x[0]; }},
    TTMLIR_BOTH("neg", 1, -x[0]),
    TTMLIR_BOTH("relu", 1, (x[0] < 0 ? 0 : x[0]) + 0),
    TTMLIR_BOTH("sign", 1, (x[0] > 0) - (x[0] < 0)),
    TTMLIR_BOTH("logical_not", 1, x[0] == 0),
    TTMLIR_REAL("ceil", 1, std::ceil(x[0])),
    TTMLIR_REAL("floor", 1, std::floor(x[0])),
    TTMLIR_REAL("reciprocal", 1, 1.0f / x[0]),
    TTMLIR_REAL("sqrt", 1, std::sqrt(x[0])),
    TTMLIR_INTEGER("bitwise_not", 1, ~x[0]),
    TTMLIR_BOTH("add", 2, x[0] + x[1]),
    TTMLIR_BOTH("subtract", 2, x[0] - x[1]),
    {"multiply", 2, [](const float *x) { return x[0] * x[1]; },
     [](const int64_t *x) { return static_cast<int64_t>(static_cast<uint64_t>(x[0]) * static_cast<uint64_t>(x[1])); }},
    TTMLIR_REAL("div", 2, x[0] / x[1]),
    {"maximum", 2, [](const float *x) { return larger(x[0], x[1]); },
     [](const int64_t *x) { return std::max(x[0], x[1]); }},
    {"minimum", 2, [](const float *x) { return smaller(x[0], x[1]); },
     [](const int64_t *x) { return std::min(x[0], x[1]); }},
    TTMLIR_BOTH("eq", 2, x[0] == x[1]),
    TTMLIR_BOTH("ne", 2, x[0] != x[1]),
    TTMLIR_BOTH("lt", 2, x[0] < x[1]),
    TTMLIR_BOTH("le", 2, x[0] <= x[1]),
    TTMLIR_BOTH("gt", 2, x[0] > x[1]),
    TTMLIR_BOTH("ge", 2, x[0] >= x[1]),
    TTMLIR_BOTH("logical_and", 2, x[0] != 0 && x[1] != 0),
    TTMLIR_BOTH("logical_or", 2, x[0] != 0 || x[1] != 0),
    TTMLIR_BOTH("logical_xor", 2, (x[0] != 0) != (x[1] != 0)),
    TTMLIR_INTEGER("bitwise_and", 2, x[0] & x[1]),
    TTMLIR_INTEGER("bitwise_or", 2, x[0] | x[1]),
    TTMLIR_INTEGER("bitwise_xor", 2, x[0] ^ x[1]),
};
} // namespace

/// The element type of the constants of all operands, each of one value and as its operand declares it; else null.
static Type commonType(Operation *op, ArrayRef<Attribute> constants) {
  Type type;
  for (auto [operand, constant] : llvm::zip_equal(op->getOperands(), constants)) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
    if (!dense || !dense.isSplat() || dense.getElementType() != getElementTypeOrSelf(operand.getType()) ||
        (type && type != dense.getElementType()))
      return {};
    type = dense.getElementType();
  }
  return type;
}

OpFoldResult folds::elementwise(Operation *op, ArrayRef<Attribute> constants) {
  Type from = llvm::is_contained(constants, nullptr) ? Type() : commonType(op, constants);
  if (!from || !from.isIntOrFloat() || from.getIntOrFloatBitWidth() > 32)
    return {};
  const ConstantRow *row =
      llvm::find_if(rows, [&](const ConstantRow &row) { return row.name == op->getName().stripDialect(); });
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type to = type.getElementType();
  if (row == std::end(rows) || row->operands != constants.size() || !type.hasStaticShape())
    return {};
  if (isa<FloatType>(from)) {
    float x[2];
    for (auto [value, constant] : llvm::zip(x, constants))
      value = static_cast<float>(cast<FloatAttr>(splatOf(constant)).getValueAsDouble());
    if (!row->real)
      return {};
    float value = row->real(x);
    // The sign of a NaN depends on the order that a machine takes the operands in.
    Attribute element = std::isnan(value) ? Attribute() : elementOf(to, value);
    return element ? OpFoldResult(DenseElementsAttr::get(type, element)) : OpFoldResult();
  }
  // Single bits are not computed with; what is compared may become one.
  if (!row->integer || from.isInteger(1))
    return {};
  int64_t x[2];
  for (auto [value, constant] : llvm::zip(x, constants)) {
    const APInt &bits = cast<IntegerAttr>(splatOf(constant)).getValue();
    value = from.isUnsignedInteger() ? static_cast<int64_t>(bits.getZExtValue()) : bits.getSExtValue();
  }
  int64_t result = row->integer(x);
  Attribute element = to == from ? IntegerAttr::get(to, APInt(to.getIntOrFloatBitWidth(), result, to.isSignedInteger(),
                                                              /*implicitTrunc=*/true))
                                 : elementOf(to, static_cast<double>(result));
  return element && (to == from || to.isInteger(1)) ? OpFoldResult(DenseElementsAttr::get(type, element))
                                                    : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

SmallVector<int64_t> folds::rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The result's type, if constant, input and result agree about what an element is.
static RankedTensorType foldedType(DenseElementsAttr constant, Value input, Value result) {
  auto from = dyn_cast<RankedTensorType>(input.getType()), to = dyn_cast<RankedTensorType>(result.getType());
  return constant && from && to && to.hasStaticShape() && constant.getElementType() == from.getElementType() &&
                 constant.getElementType() == to.getElementType() && constant.getType().getShape() == from.getShape()
             ? to
             : RankedTensorType();
}

OpFoldResult folds::reshapeOf(Attribute constant, Value input, Value result) {
  // Values of resources stay where they are.
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant);
      resource && resource.getElementType() == getElementTypeOrSelf(result.getType()) &&
      resource.getElementType() == getElementTypeOrSelf(input.getType()))
    return DenseResourceElementsAttr::get(cast<ShapedType>(result.getType()), resource.getRawHandle());
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  RankedTensorType type = foldedType(dense, input, result);
  if (!type || (!dense.isSplat() && dense.getNumElements() > maxElements))
    return {};
  return dense.reshape(type);
}

OpFoldResult folds::viewOf(Attribute constant, Value input, Value result, const View &view) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  RankedTensorType type = foldedType(dense, input, result);
  if (!type)
    return {};
  if (dense.isSplat())
    return dense.resizeSplat(type);
  // Single bits are stored packed.
  unsigned bits = dense.getElementType().isIntOrFloat() ? dense.getElementType().getIntOrFloatBitWidth() : 0;
  if (type.getNumElements() > maxElements || bits == 0 || bits % 8 != 0)
    return {};
  ArrayRef<char> from = dense.getRawData();
  SmallVector<char> to;
  size_t size = bits / 8;
  SmallVector<int64_t> index(type.getRank());
  for (int64_t i = 0, count = type.getNumElements(); i < count; ++i) {
    int64_t at = view.offset;
    for (auto [position, stride] : llvm::zip_equal(index, view.strides))
      at += position * stride;
    llvm::append_range(to, from.slice(at * size, size));
    for (int64_t d = type.getRank(); d-- > 0 && ++index[d] == type.getDimSize(d);)
      index[d] = 0;
  }
  return DenseElementsAttr::getFromRawBuffer(type, to);
}
