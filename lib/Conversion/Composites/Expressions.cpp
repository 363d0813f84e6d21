//===- Expressions.cpp - TTIR ops as expressions --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

#include "Shapes.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AbsOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CeilOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DivOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EqualOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ErfOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ExpOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Expm1Op.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FloorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LessThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinimumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/NotEqualOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PowOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatInterleaveOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RsqrtOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqrtOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TanhOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::tt;

/// The shape to which both are broadcast; those of TTIR ops agree.
static SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> shape(a.size() < b.size() ? b : a);
  ArrayRef<int64_t> shorter = a.size() < b.size() ? a : b;
  for (size_t i = 0; i < shorter.size(); ++i)
    if (int64_t &size = shape[shape.size() - 1 - i]; size == 1)
      size = shorter[shorter.size() - 1 - i];
  return shape;
}

template <class OpT> static Tensor unary(Tensor x) {
  return {OpT::create(x.e->builder, x.e->loc, x.type(), x.value), x.e};
}
template <class OpT> static Tensor binary(Tensor x, Tensor y) {
  return {OpT::create(x.e->builder, x.e->loc, x.type().clone(joined(x.shape(), y.shape())), x.value, y.value), x.e};
}
template <class OpT> static Tensor reduction(Tensor x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(x.shape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  return {OpT::create(x.e->builder, x.e->loc, x.type().clone(shape), x.value, /*keep_dim=*/true,
                      x.e->builder.getI32ArrayAttr(SmallVector<int32_t>(dims.begin(), dims.end()))),
          x.e};
}

Tensor Tensor::as(Type element) const { return {castTo(e->builder, e->loc, value, element), e}; }
Tensor Tensor::wide() const {
  const Type element = type().getElementType();
  if (element.isInteger(1))
    return as(e->builder.getI32Type());
  return isa<FloatType>(element) ? as(e->builder.getF32Type()) : *this;
}
Tensor Tensor::withPositions() const {
  auto integer = dyn_cast<IntegerType>(type().getElementType());
  return integer && integer.getWidth() < 32 ? as(e->builder.getI32Type()) : wide();
}

Tensor Tensor::operator+(Tensor other) const { return binary<ttir::AddOp>(*this, other); }
Tensor Tensor::operator-(Tensor other) const { return binary<ttir::SubtractOp>(*this, other); }
Tensor Tensor::operator*(Tensor other) const { return binary<ttir::MultiplyOp>(*this, other); }
Tensor Tensor::operator/(Tensor other) const { return binary<ttir::DivOp>(*this, other); }
Tensor Tensor::operator+(double number) const { return *this + e->full(number, *this); }
Tensor Tensor::operator*(double number) const { return *this * e->full(number, *this); }
Tensor Tensor::maximum(Tensor other) const { return binary<ttir::MaximumOp>(*this, other); }
Tensor Tensor::minimum(Tensor other) const { return binary<ttir::MinimumOp>(*this, other); }
Tensor Tensor::pow(Tensor other) const { return binary<ttir::PowOp>(*this, other); }
Tensor Tensor::less(Tensor other) const { return binary<ttir::LessThanOp>(*this, other); }
Tensor Tensor::equal(Tensor other) const { return binary<ttir::EqualOp>(*this, other); }
Tensor Tensor::notEqual(Tensor other) const { return binary<ttir::NotEqualOp>(*this, other); }
Tensor Tensor::less(double number) const { return less(e->full(number, *this)); }
Tensor Tensor::equal(double number) const { return equal(e->full(number, *this)); }
Tensor Tensor::notEqual(double number) const { return notEqual(e->full(number, *this)); }
Tensor Tensor::select(Tensor yes, Tensor no) const {
  RankedTensorType type = yes.type().clone(joined(shape(), joined(yes.shape(), no.shape())));
  return {ttir::WhereOp::create(e->builder, e->loc, type, value, yes.value, no.value), e};
}
Tensor Tensor::chosen(Tensor x, int64_t dim) const {
  const Type element = x.type().getElementType();
  double least = element.isUnsignedInteger() ? 0 : std::numeric_limits<int32_t>::min();
  if (isa<FloatType>(element))
    least = -std::numeric_limits<double>::infinity();
  return select(x, e->full(least, x)).greatest(dim);
}

Tensor Tensor::greatest(int64_t dim) const {
  if (!type().getElementType().isF32())
    return max({dim});
  SmallVector<int64_t> order = {dim}, kept(shape());
  for (int64_t other = 0; other < rank(); ++other)
    if (other != dim)
      order.push_back(other);
  Tensor first = permute(order);
  if (rank() < 3) {
    const int64_t size = shape()[dim];
    first = first.reshape({size, 1, size ? type().getNumElements() / size : 1});
  }
  kept[dim] = 1;
  return first.max({0}).reshape(kept);
}

Tensor Tensor::abs() const { return unary<ttir::AbsOp>(*this); }
Tensor Tensor::ceil() const { return unary<ttir::CeilOp>(*this); }
Tensor Tensor::erf() const { return unary<ttir::ErfOp>(*this); }
Tensor Tensor::exp() const { return unary<ttir::ExpOp>(*this); }
Tensor Tensor::expm1() const { return unary<ttir::Expm1Op>(*this); }
Tensor Tensor::floor() const { return unary<ttir::FloorOp>(*this); }
Tensor Tensor::rsqrt() const { return unary<ttir::RsqrtOp>(*this); }
Tensor Tensor::sqrt() const { return unary<ttir::SqrtOp>(*this); }
Tensor Tensor::tanh() const { return unary<ttir::TanhOp>(*this); }

Tensor Tensor::max(ArrayRef<int64_t> dims) const { return reduction<ttir::MaxOp>(*this, dims); }
Tensor Tensor::mean(ArrayRef<int64_t> dims) const { return reduction<ttir::MeanOp>(*this, dims); }
Tensor Tensor::min(ArrayRef<int64_t> dims) const { return reduction<ttir::MinOp>(*this, dims); }
Tensor Tensor::sum(ArrayRef<int64_t> dims) const { return reduction<ttir::SumOp>(*this, dims); }

Tensor Tensor::permute(ArrayRef<int64_t> permutation) const {
  return {permuted(e->builder, e->loc, value, permutation), e};
}
Tensor Tensor::reshape(ArrayRef<int64_t> shape) const { return {reshaped(e->builder, e->loc, value, shape), e}; }
Tensor Tensor::pad(ArrayRef<int64_t> before, ArrayRef<int64_t> after, double fill) const {
  SmallVector<int32_t> padding;
  SmallVector<int64_t> padded;
  for (auto [first, last, size] : llvm::zip_equal(before, after, shape())) {
    padding.append({static_cast<int32_t>(first), static_cast<int32_t>(last)});
    padded.push_back(first + size + last);
  }
  if (shape() == ArrayRef(padded))
    return *this;
  return {ttir::PadOp::create(e->builder, e->loc, type().clone(padded), value, e->builder.getDenseI32ArrayAttr(padding),
                              e->builder.getF32FloatAttr(static_cast<float>(fill))),
          e};
}
Tensor Tensor::slice(int64_t dim, int64_t begin, int64_t end, int64_t step) const {
  SmallVector<int32_t> begins(rank(), 0), ends(shape().begin(), shape().end()), steps(rank(), 1);
  begins[dim] = static_cast<int32_t>(begin);
  ends[dim] = static_cast<int32_t>(end);
  steps[dim] = static_cast<int32_t>(step);
  SmallVector<int64_t> sliced(shape());
  sliced[dim] = llvm::divideCeil(end - begin, step);
  OpBuilder &b = e->builder;
  return {ttir::SliceStaticOp::create(b, e->loc, type().clone(sliced), value, b.getI32ArrayAttr(begins),
                                      b.getI32ArrayAttr(ends), b.getI32ArrayAttr(steps)),
          e};
}
Tensor Tensor::repeatInterleave(int64_t dim, int64_t count) const {
  SmallVector<int64_t> repeated(shape());
  repeated[dim] *= count;
  return {ttir::RepeatInterleaveOp::create(e->builder, e->loc, type().clone(repeated), value,
                                           static_cast<uint32_t>(count), static_cast<int32_t>(dim)),
          e};
}
Tensor Tensor::matmul(Tensor other, bool transposeB, bool wide) const {
  SmallVector<int64_t> result(joined(shape().drop_back(2), other.shape().drop_back(2)));
  result.push_back(shape()[rank() - 2]);
  result.push_back(other.shape()[other.rank() - (transposeB ? 2 : 1)]);
  const bool isFloat = isa<FloatType>(type().getElementType());
  Type element = wide && isFloat ? Type(e->builder.getF32Type()) : type().getElementType();
  return {ttir::MatmulOp::create(e->builder, e->loc, RankedTensorType::get(result, element), value, other.value,
                                 /*transpose_a=*/false, transposeB),
          e};
}

Tensor Expressions::full(double number, Tensor like) {
  RankedTensorType type = like.type();
  Attribute one = isa<FloatType>(type.getElementType())
                      ? Attribute(FloatAttr::get(type.getElementType(), number))
                      : IntegerAttr::get(type.getElementType(), static_cast<int64_t>(number));
  auto values = DenseElementsAttr::get(type, one);
  return {ttir::ConstantOp::create(builder, loc, type, values), this};
}

Tensor Expressions::concat(ArrayRef<Tensor> parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<int64_t> shape(parts.front().shape());
  SmallVector<Value> values;
  shape[dim] = 0;
  for (Tensor part : parts) {
    shape[dim] += part.shape()[dim];
    values.push_back(part.value);
  }
  return {ttir::ConcatOp::create(builder, loc, parts.front().type().clone(shape), values, static_cast<int32_t>(dim)),
          this};
}

Tensor Expressions::constant(RankedTensorType type, ArrayRef<double> values) {
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(isa<FloatType>(type.getElementType())
                           ? Attribute(FloatAttr::get(type.getElementType(), value))
                           : IntegerAttr::get(type.getElementType(), static_cast<int64_t>(value)));
  return {ttir::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, elements)), this};
}

Tensor Expressions::positions(Type element, ArrayRef<int64_t> shape) {
  SmallVector<double> values;
  for (int64_t i = 0; i < ShapedType::getNumElements(shape); ++i)
    values.push_back(static_cast<double>(i));
  return constant(RankedTensorType::get(shape, element), values);
}
