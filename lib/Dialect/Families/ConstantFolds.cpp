//===- ConstantFolds.cpp - what is computed of constants ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/scalars/Scalars.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
namespace scalars = ::ttmlir::scalars;

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
  // If a device is an operand, ops are not constants to MLIR.
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

/// A number as an element, or null if the type can hold it only after rounding.
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

/// The element type of the constants of all operands, if each is a splat of the type that its operand declares; else
/// null.
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

/// The function of an op whose f32 result is the same wherever IEEE 754 is followed, rounded once to the result's type,
/// or the same modulo 2^width. Approximated functions (exp, pow, ...) are left to the library.
static const scalars::Function *exactFunction(Operation *op) {
  StringRef name = op->getName().stripDialect();
  // Functions have the names of TTNN.
  const std::string_view known = name == "div" ? "divide" : name == "pow" ? "pow_tensor" : std::string_view(name);
  const scalars::Function *function = scalars::find(known);
  return function && function->isOfNumbers ? function : nullptr;
}

OpFoldResult folds::elementwise(Operation *op, ArrayRef<Attribute> constants) {
  Type from = llvm::is_contained(constants, nullptr) ? Type() : commonType(op, constants);
  if (!from || !from.isIntOrFloat() || from.getIntOrFloatBitWidth() > 32)
    return {};
  const scalars::Function *function = exactFunction(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type to = type.getElementType();
  if (!function || function->operands != static_cast<int>(constants.size()) || !type.hasStaticShape())
    return {};
  if (isa<FloatType>(from)) {
    float x[scalars::maxOperands];
    for (auto [value, constant] : llvm::zip(x, constants))
      value = static_cast<float>(cast<FloatAttr>(splatOf(constant)).getValueAsDouble());
    if (!function->f || !function->isExact)
      return {};
    float value = function->f(x, {});
    // The sign of a NaN depends on the order in which a CPU takes the operands.
    Attribute element = std::isnan(value) ? Attribute() : elementOf(to, value);
    return element ? OpFoldResult(DenseElementsAttr::get(type, element)) : OpFoldResult();
  }
  // Single bits are not used in arithmetic; the result of a comparison may become one.
  const bool isQuotient = function->domain == scalars::Domain::Quotient && to != from;
  if (!function->i || from.isInteger(1) || isQuotient)
    return {};
  int64_t x[scalars::maxOperands];
  for (auto [value, constant] : llvm::zip(x, constants)) {
    const APInt &bits = cast<IntegerAttr>(splatOf(constant)).getValue();
    value = from.isUnsignedInteger() ? static_cast<int64_t>(bits.getZExtValue()) : bits.getSExtValue();
  }
  int64_t result = function->i(x, {});
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

/// The result's type, if constant, input and result agree on the element type.
static RankedTensorType foldedType(DenseElementsAttr constant, Value input, Value result) {
  auto from = dyn_cast<RankedTensorType>(input.getType()), to = dyn_cast<RankedTensorType>(result.getType());
  return constant && from && to && to.hasStaticShape() && constant.getElementType() == from.getElementType() &&
                 constant.getElementType() == to.getElementType() && constant.getType().getShape() == from.getShape()
             ? to
             : RankedTensorType();
}

OpFoldResult folds::reshapeOf(Attribute constant, Value input, Value result) {
  // Values of resources are not moved.
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
