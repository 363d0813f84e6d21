//===- Lowering.cpp - scalar code, and the linalg ops around it -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Scalars::number(double value) {
  TypedAttr attribute = isFloat ? TypedAttr(b.getF32FloatAttr(value)) : b.getI64IntegerAttr(value);
  return arith::ConstantOp::create(b, loc, attribute);
}
Value Scalars::add(Value x, Value y) {
  return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::AddIOp::create(b, loc, x, y).getResult();
}
Value Scalars::sub(Value x, Value y) {
  return isFloat ? arith::SubFOp::create(b, loc, x, y).getResult() : arith::SubIOp::create(b, loc, x, y).getResult();
}
Value Scalars::mul(Value x, Value y) {
  return isFloat ? arith::MulFOp::create(b, loc, x, y).getResult() : arith::MulIOp::create(b, loc, x, y).getResult();
}
Value Scalars::equal(Value x, Value y) {
  return isFloat ? arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y).getResult()
                 : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y).getResult();
}
Value Scalars::less(Value x, Value y) {
  return isFloat ? arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y).getResult()
                 : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y).getResult();
}
Value Scalars::select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
Value Scalars::invert(Value condition) {
  return arith::XOrIOp::create(b, loc, condition, arith::ConstantIntOp::create(b, loc, 1, 1));
}
Value Scalars::isNaN(Value x) { return invert(equal(x, x)); }
Value Scalars::maximum(Value x, Value y) {
  return isFloat ? arith::MaximumFOp::create(b, loc, x, y).getResult()
                 : arith::MaxSIOp::create(b, loc, x, y).getResult();
}
Value Scalars::minimum(Value x, Value y) {
  return isFloat ? arith::MinimumFOp::create(b, loc, x, y).getResult()
                 : arith::MinSIOp::create(b, loc, x, y).getResult();
}
Value Scalars::truth(Value condition) { return select(condition, number(1), number(0)); }

Value Scalars::from(Value element, Type source) {
  if (isa<FloatType>(source)) {
    Value wide = source.isF32() ? element : arith::ExtFOp::create(b, loc, b.getF32Type(), element).getResult();
    if (isFloat)
      return wide;
    // Toward 0, clamped to the type's range; NaN becomes 0.
    Scalars floats(b, loc, true);
    Value low = floats.number(-0x1p62), high = floats.number(0x1p62);
    Value inside = floats.minimum(floats.maximum(wide, low), high);
    Value safe = floats.select(floats.isNaN(wide), floats.number(0), inside);
    return arith::FPToSIOp::create(b, loc, b.getI64Type(), safe);
  }
  Value wide = element;
  if (source.getIntOrFloatBitWidth() < 64)
    wide = source.isInteger(1) || source.isUnsignedInteger()
               ? arith::ExtUIOp::create(b, loc, b.getI64Type(), element).getResult()
               : arith::ExtSIOp::create(b, loc, b.getI64Type(), element).getResult();
  return isFloat ? arith::SIToFPOp::create(b, loc, b.getF32Type(), wide).getResult() : wide;
}

Value Scalars::to(Value scalar, Type target) {
  if (target.isInteger(1))
    return isSet(scalar);
  if (isa<FloatType>(target)) {
    Value value = isFloat ? scalar : arith::SIToFPOp::create(b, loc, b.getF32Type(), scalar).getResult();
    return target.isF32() ? value : arith::TruncFOp::create(b, loc, target, value).getResult();
  }
  Value whole = isFloat ? Scalars(b, loc, false).from(scalar, b.getF32Type()) : scalar;
  const unsigned width = target.getIntOrFloatBitWidth();
  if (isFloat && width < 64) {
    // A value outside a narrow type's range is clamped to it.
    Scalars integers(b, loc, false);
    const bool isUnsigned = target.isUnsignedInteger();
    const double low = isUnsigned ? 0 : -double(int64_t(1) << (width - 1));
    const double high = double(int64_t(1) << (width - !isUnsigned)) - 1;
    whole = integers.minimum(integers.maximum(whole, integers.number(low)), integers.number(high));
  }
  return width < 64 ? arith::TruncIOp::create(b, loc, b.getIntegerType(width), whole).getResult() : whole;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Type host::hostElement(Type element) {
  if (element.isF32() || element.isBF16())
    return element;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || (integer.getWidth() != 1 && integer.getWidth() != 8 && integer.getWidth() != 16 &&
                   integer.getWidth() != 32 && integer.getWidth() != 64))
    return {};
  return IntegerType::get(element.getContext(), integer.getWidth());
}

RankedTensorType host::hostType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor && tensor.hasStaticShape() ? hostElement(tensor.getElementType()) : Type();
  return element ? RankedTensorType::get(tensor.getShape(), element) : RankedTensorType();
}

Value Lowering::empty(ArrayRef<int64_t> shape, Type element) { return tensor::EmptyOp::create(b, shape, element); }

Value Lowering::filled(ArrayRef<int64_t> shape, Type element, double value) {
  TypedAttr attribute = isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, value))
                                                : b.getIntegerAttr(element, static_cast<int64_t>(value));
  Value scalar = arith::ConstantOp::create(b, attribute);
  return linalg::FillOp::create(b, ValueRange(scalar), ValueRange(empty(shape, element))).getResult(0);
}

Value Lowering::generic(ValueRange ins, ArrayRef<AffineMap> maps, Value init, ArrayRef<utils::IteratorType> iterators,
                        Body body) {
  auto created = linalg::GenericOp::create(b, TypeRange(init.getType()), ins, ValueRange(init), maps, iterators,
                                           [&](OpBuilder &inner, Location loc, ValueRange arguments) {
                                             linalg::YieldOp::create(inner, loc, body(inner, loc, arguments));
                                           });
  return created.getResult(0);
}

Value Lowering::moved(Value input, ArrayRef<AffineExpr> map, ArrayRef<int64_t> shape) {
  Value init = empty(shape, cast<RankedTensorType>(input.getType()).getElementType());
  // There is no position to query.
  if (llvm::is_contained(shape, 0))
    return init;
  const unsigned rank = shape.size();
  return generic(input, {AffineMap::get(rank, 0, map, b.getContext()), b.getMultiDimIdentityMap(rank)}, init,
                 SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                 [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

Value Lowering::reshaped(Value input, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(input.getType());
  if (from.getShape() == shape)
    return input;
  // Via one dimension. A tensor of rank 0 has one element.
  auto all = [](size_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank)
      groups.push_back(llvm::to_vector(llvm::seq<int64_t>(rank)));
    return groups;
  };
  auto row = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  Value flat = input;
  if (from.getRank() == 0)
    flat = tensor::ExpandShapeOp::create(b, row, input, all(0));
  else if (from.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(b, row, input, all(from.getRank()));
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (shape.empty())
    return tensor::CollapseShapeOp::create(b, to, flat, all(0));
  return shape.size() == 1 ? flat : tensor::ExpandShapeOp::create(b, to, flat, all(shape.size())).getResult();
}
