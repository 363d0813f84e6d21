//===- Selection.cpp - ops that select elements by position ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// An element is selected by comparing positions with indices along an additional dimension, and reducing over it.
// Elements that are not selected are replaced before the reduction, so that NaN and infinity do not spread.
//
//===----------------------------------------------------------------------===//

#include "Composites.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ArgMaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmbeddingBackwardOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScatterOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceDynamicOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SortOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TopKOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TopKRouterGptOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t exactIntegers = int64_t(1) << 24; // of f32

/// 0, 1, 2 ... in the element type of `like`.
static Tensor positions(Tensor like, ArrayRef<int64_t> shape) {
  return like.e->positions(like.type().getElementType(), shape);
}

/// The dimension as the last of [all others, dimension].
static Tensor rowsAlong(Tensor x, int64_t dim) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  order.erase(order.begin() + dim);
  order.push_back(dim);
  const int64_t size = x.shape()[dim];
  return x.permute(order).reshape({x.type().getNumElements() / size, size});
}

/// Reverses `rowsAlong` for a result of this shape.
static Tensor fromRows(Tensor rows, ArrayRef<int64_t> shape, int64_t dim) {
  SmallVector<int64_t> last(shape), order;
  last.erase(last.begin() + dim);
  last.push_back(shape[dim]);
  const auto rank = static_cast<int64_t>(shape.size());
  for (int64_t i = 0; i < rank; ++i)
    order.push_back(i == dim ? rank - 1 : i - (i > dim));
  return rows.reshape(last).permute(order);
}

static bool isTooLong(int64_t size, std::string &refusal) {
  if (size <= exactIntegers)
    return false;
  refusal = "its dimension of " + std::to_string(size) + " elements has positions that f32 does not hold";
  return true;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// 1 where an element of `x` precedes one of `y` in ascending order; NaN is the greatest.
static Tensor isLess(Tensor x, Tensor y) {
  Tensor less = x.less(y);
  return isa<FloatType>(x.type().getElementType()) ? less.maximum(x.equal(x) * y.notEqual(y)) : less;
}

/// Sorted rows and the original positions of their elements; the sort is stable. The rank of an element is the number
/// of elements that precede it.
static std::pair<Tensor, Tensor> sortedRows(Tensor rows, bool descending) {
  const int64_t batch = rows.shape()[0], size = rows.shape()[1];
  Tensor each = rows.reshape({batch, size, 1}), other = rows.reshape({batch, 1, size});
  Tensor place = positions(rows, {1, size, 1}), before = positions(rows, {1, 1, size});
  Tensor isInFront = descending ? isLess(each, other) : isLess(other, each);
  Tensor isBehind = descending ? isLess(other, each) : isLess(each, other);
  Tensor isEqual = isInFront.maximum(isBehind).equal(0);
  Tensor rank = isInFront.maximum(isEqual * before.less(place)).sum({2});
  Tensor mask = rank.equal(before);
  return {mask.chosen(each, 1).reshape({batch, size}), mask.chosen(place, 1).reshape({batch, size})};
}

/// Sorts as many rows at once as need 2^18 comparisons: L1 holds several tensors of them.
static std::pair<Tensor, Tensor> sorted(Tensor x, int64_t dim, bool descending) {
  constexpr int64_t comparisons = int64_t(1) << 18;
  const SmallVector<int64_t> shape(x.shape());
  Tensor rows = rowsAlong(x, dim);
  const int64_t batch = rows.shape()[0], size = rows.shape()[1];
  const auto atOnce = static_cast<int64_t>(llvm::bit_floor(std::max<uint64_t>(1, comparisons / (size * size))));
  SmallVector<Tensor> values, indices;
  for (int64_t begin = 0; begin < batch; begin += atOnce) {
    const int64_t end = std::min(batch, begin + atOnce);
    auto [value, index] = sortedRows(end - begin == batch ? rows : rows.slice(0, begin, end, 1), descending);
    values.push_back(value);
    indices.push_back(index);
  }
  return {fromRows(x.e->concat(values, 0), shape, dim), fromRows(x.e->concat(indices, 0), shape, dim)};
}

static SmallVector<Tensor> resultsOf(ttir::SortOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput()).withPositions();
  if (x.rank() == 0)
    return {x, x.e->full(0, x)};
  const int64_t dim = x.dim(op.getDim());
  if (isTooLong(x.shape()[dim], refusal))
    return {};
  auto [values, indices] = sorted(x, dim, op.getDescending());
  return {values, indices};
}

static SmallVector<Tensor> resultsOf(ttir::TopKOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInputTensor()).withPositions();
  const int64_t dim = x.dim(static_cast<int32_t>(op.getDim()));
  if (isTooLong(x.shape()[dim], refusal))
    return {};
  auto [values, indices] = sorted(x, dim, op.getLargest());
  const auto count = static_cast<int64_t>(op.getK());
  return {values.slice(dim, 0, count, 1), indices.slice(dim, 0, count, 1)};
}

/// The experts with the largest scores, and the softmax of these.
static SmallVector<Tensor> resultsOf(ttir::TopKRouterGptOp op, Expressions &e, std::string &) {
  Tensor x = e(op.getInput());
  if (x.rank() == 1)
    x = x.reshape({1, x.shape()[0]});
  Tensor scores = x.matmul(e(op.getWeight()), false, /*wide=*/true) + e(op.getBias()).wide();
  SmallVector<int64_t> shape(scores.shape());
  shape.back() = op.getK();
  OperationState state(e.loc, ttir::TopKOp::getOperationName(), scores.value,
                       {scores.type().clone(shape), RankedTensorType::get(shape, e.builder.getI32Type())});
  state.addAttribute("k", e.builder.getI32IntegerAttr(static_cast<int32_t>(op.getK())));
  Operation *top = e.builder.create(state);
  Tensor most = e(top->getResult(0)), powers = (most - most.max({most.rank() - 1})).exp();
  return {e(top->getResult(1)), powers / powers.sum({most.rank() - 1})};
}

/// The first position of the greatest element; NaN is the greatest.
static SmallVector<Tensor> resultsOf(ttir::ArgMaxOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput()).withPositions();
  const SmallVector<int64_t> dims = ttir::reducedDims(x.rank(), op.getDimArgAttr());
  SmallVector<int64_t> order, shape(x.rank(), 1);
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      order.push_back(dim);
  order.append(dims);
  int64_t size = 1;
  for (int64_t dim : dims)
    size *= x.shape()[dim];
  if (isTooLong(size, refusal))
    return {};
  Tensor rows = x.permute(order).reshape({x.type().getNumElements() / size, size});
  const bool isFloat = isa<FloatType>(x.type().getElementType());
  // The units read denormals as zero: so does the maximum of a value and itself, which the greatest one is equal to.
  Tensor isGreatest = (isFloat ? rows.maximum(rows) : rows).equal(rows.greatest(1));
  if (isFloat)
    isGreatest = isGreatest.maximum(rows.notEqual(rows));
  Tensor place = positions(rows, {1, size});
  // The least position has the greatest distance to the end.
  Tensor distance = isGreatest.chosen(e.full(static_cast<double>(size - 1), place) - place, 1);
  return {e.full(static_cast<double>(size - 1), distance) - distance};
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Elements of the source with equal indices are summed, or the last one stays.
static SmallVector<Tensor> resultsOf(ttir::ScatterOp op, Expressions &e, std::string &refusal) {
  if (op.getIndex().getType().getNumElements() == 0)
    return {e(op.getInput())};
  Tensor x = e(op.getInput()).withPositions(), source = e(op.getSource()).withPositions();
  const int64_t dim = x.dim(op.getDimAttr().getInt());
  if (isTooLong(x.shape()[dim], refusal))
    return {};
  Tensor index = e.checked(e(op.getIndex()), x.shape()[dim], op).as(x.type().getElementType());
  for (int64_t other = 0; other < x.rank(); ++other)
    if (other != dim && index.shape()[other] != x.shape()[other]) {
      refusal = "its index has another size than its input in dimension " + std::to_string(other);
      return {};
    }
  if (source.shape() != index.shape()) {
    refusal = "its source has another shape than its index";
    return {};
  }
  const ttcore::ReduceType kind = op.getScatterReduceType();
  if (kind != ttcore::ReduceType::Sum && kind != ttcore::ReduceType::Invalid) {
    refusal = "it reduces by " + ttcore::stringifyReduceType(kind).str() + "; expected sum or invalid";
    return {};
  }
  Tensor rows = rowsAlong(x, dim), indices = rowsAlong(index, dim), sources = rowsAlong(source, dim);
  const int64_t batch = rows.shape()[0], size = rows.shape()[1], count = indices.shape()[1];
  rows = rows.reshape({batch, 1, size});
  sources = sources.reshape({batch, count, 1});
  Tensor mask = indices.reshape({batch, count, 1}).equal(positions(x, {1, 1, size}));
  if (kind == ttcore::ReduceType::Sum)
    return {fromRows(rows + mask.select(sources, e.full(0, sources)).sum({1}), x.shape(), dim)};
  Tensor place = mask * (positions(x, {1, count, 1}) + 1);
  Tensor last = place.greatest(1);
  Tensor isLast = mask * place.equal(last);
  return {fromRows(last.notEqual(0).select(isLast.chosen(sources, 1), rows), x.shape(), dim)};
}

/// [indices, rows, 1] is 1 where a row is that of an index.
static Tensor isRowOf(Tensor index, int64_t count) {
  const int64_t indices = index.type().getNumElements();
  return index.reshape({indices, 1, 1}).equal(positions(index, {1, count, 1}));
}

static SmallVector<Tensor> resultsOf(ttir::EmbeddingBackwardOp op, Expressions &e, std::string &refusal) {
  Tensor gradient = e(op.getInGradient()).withPositions();
  const int64_t width = gradient.shape().back(), count = op.getWeight().getType().getNumElements() / width;
  if (isTooLong(count, refusal))
    return {};
  Tensor mask = isRowOf(e.checked(e(op.getInput()), count, op).as(gradient.type().getElementType()), count);
  gradient = gradient.reshape({gradient.type().getNumElements() / width, 1, width});
  return {mask.select(gradient, e.full(0, gradient)).sum({0})};
}

/// Slices whose begins are known at run time; negative ones count from the end. The result type states the number of
/// elements.
static SmallVector<Tensor> resultsOf(ttir::SliceDynamicOp op, Expressions &e, std::string &refusal) {
  Tensor x = e(op.getInput()).withPositions();
  Tensor begins = e(op.getBegins()).as(e.builder.getI32Type()); // f32 passes TF32 in a check on exact devices
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    const int64_t size = x.shape()[dim], count = op.getType().getDimSize(static_cast<unsigned>(dim));
    const int64_t step = op.getStep() ? cast<IntegerAttr>((*op.getStep())[dim]).getInt() : 1;
    if (isTooLong(size, refusal))
      return {};
    Tensor begin = begins.slice(0, dim, dim + 1, 1);
    begin = begin.less(0).select(begin + static_cast<double>(size), begin);
    begin = e.checked(begin, size - (count - 1) * step, op).as(x.type().getElementType());
    Tensor index = positions(x, {1, 1, count});
    index = index * e.full(static_cast<double>(step), index) + begin.reshape({1, 1, 1});
    SmallVector<int64_t> shape(x.shape());
    shape[dim] = count;
    Tensor rows = rowsAlong(x, dim);
    Tensor values = positions(x, {1, size, 1}).equal(index).chosen(rows.reshape({rows.shape()[0], size, 1}), 1);
    x = fromRows(values, shape, dim);
  }
  return {x};
}

void tt::addSelectionComposites(CompositeTable &table) {
  addComposite<ttir::ArgMaxOp>(table, resultsOf);
  addComposite<ttir::EmbeddingBackwardOp>(table, resultsOf);
  addComposite<ttir::ScatterOp>(table, resultsOf);
  addComposite<ttir::SliceDynamicOp>(table, resultsOf);
  addComposite<ttir::SortOp>(table, resultsOf);
  addComposite<ttir::TopKOp>(table, resultsOf);
  addComposite<ttir::TopKRouterGptOp>(table, resultsOf);
}
