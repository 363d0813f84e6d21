//===- Quantization.cpp - quantization as arithmetic ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Composites.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/DequantizeUnrolledOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/QuantizeUnrolledOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RequantizeUnrolledOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

using namespace mlir;
using namespace mlir::tt;

/// One value for all elements, or one for each index of the axis, in f32.
static Tensor along(Tensor parameter, Tensor x, IntegerAttr axis) {
  SmallVector<int64_t> shape(x.rank(), 1);
  if (const int64_t count = parameter.type().getNumElements(); count != 1 && axis)
    shape[x.dim(axis.getInt())] = count;
  return parameter.as(x.e->builder.getF32Type()).reshape(shape);
}

/// The nearest integer; of two, the even one.
static Tensor rounded(Tensor x) {
  Tensor below = x.floor();
  Tensor rest = x - below, half = below * 0.5;
  Tensor isOdd = half.floor().notEqual(half);
  return below + x.e->full(0.5, rest).less(rest).maximum(rest.equal(0.5) * isOdd);
}

static Tensor dequantized(Tensor x, Tensor scale, Tensor zero, IntegerAttr axis) {
  Tensor wide = x.as(x.e->builder.getF32Type());
  return (wide - along(zero, x, axis)) * along(scale, x, axis);
}

/// Clamped to the integers of the type.
static Tensor quantized(Tensor x, Tensor scale, Tensor zero, IntegerAttr axis, RankedTensorType type) {
  Tensor sum = rounded(x / along(scale, x, axis)) + along(zero, x, axis);
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer || integer.getWidth() >= 32) // a cast clamps
    return sum;
  const unsigned width = integer.getWidth();
  const bool isUnsigned = integer.isUnsigned();
  const double least = isUnsigned ? 0 : -static_cast<double>(int64_t(1) << (width - 1));
  const auto greatest = static_cast<double>((int64_t(1) << (isUnsigned ? width : width - 1)) - 1);
  return sum.maximum(sum.e->full(least, sum)).minimum(sum.e->full(greatest, sum));
}

static SmallVector<Tensor> resultsOf(ttir::DequantizeUnrolledOp op, Expressions &e, std::string &) {
  return {dequantized(e(op.getInput()), e(op.getScale()), e(op.getZeroPoint()), op.getAxisAttr())};
}

static SmallVector<Tensor> resultsOf(ttir::QuantizeUnrolledOp op, Expressions &e, std::string &) {
  return {quantized(e(op.getInput()).wide(), e(op.getScale()), e(op.getZeroPoint()), op.getAxisAttr(), op.getType())};
}

static SmallVector<Tensor> resultsOf(ttir::RequantizeUnrolledOp op, Expressions &e, std::string &) {
  Tensor x = dequantized(e(op.getInput()), e(op.getInScale()), e(op.getInZeroPoint()), op.getAxisAttr());
  return {quantized(x, e(op.getOutScale()), e(op.getOutZeroPoint()), op.getAxisAttr(), op.getType())};
}

void tt::addQuantizationComposites(CompositeTable &table) {
  addComposite<ttir::DequantizeUnrolledOp>(table, resultsOf);
  addComposite<ttir::QuantizeUnrolledOp>(table, resultsOf);
  addComposite<ttir::RequantizeUnrolledOp>(table, resultsOf);
}
