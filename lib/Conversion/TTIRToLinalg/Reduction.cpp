//===- Reduction.cpp - reductions and products ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

static constexpr auto parallel = utils::IteratorType::parallel;

/// The sums as elements of the result's type, after `finish` is applied to each.
static Value finished(Lowering &lowering, Value sums, bool isFloat,
                      llvm::function_ref<Value(Scalars &, Value)> finish = nullptr) {
  auto type = cast<RankedTensorType>(sums.getType());
  Type element = lowering.result().getElementType();
  AffineMap map = lowering.b.getMultiDimIdentityMap(type.getRank());
  Value init = lowering.empty(type.getShape(), hostElement(element));
  if (type.getNumElements() == 0)
    return init;
  return lowering.generic(sums, {map, map}, init, SmallVector<utils::IteratorType>(type.getRank(), parallel),
                          [&](OpBuilder &b, Location loc, ValueRange x) {
                            Scalars scalars(b, loc, isFloat);
                            return scalars.to(finish ? finish(scalars, x[0]) : x[0], element);
                          });
}

namespace {
struct Reduction {
  double start;
  Value (*step)(Scalars &, Value sum, Value x);
};
} // namespace

static LogicalResult reduce(Lowering &lowering, Reduction reduction, bool isMean = false) {
  RankedTensorType from = lowering.type(0);
  Type element = from.getElementType();
  const bool isFloat = isa<FloatType>(element) || isMean;
  const int64_t rank = from.getRank();
  SmallVector<bool> isReduced(rank, false);
  for (int64_t dim : ttir::reducedDims(rank, lowering.op->getAttrOfType<ArrayAttr>("dim_arg")))
    isReduced[dim] = true;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> places;
  SmallVector<utils::IteratorType> iterators;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    iterators.push_back(isReduced[d] ? utils::IteratorType::reduction : parallel);
    if (isReduced[d]) {
      count *= from.getDimSize(d);
      continue;
    }
    shape.push_back(from.getDimSize(d));
    places.push_back(lowering.dim(d));
  }
  double start = reduction.start;
  if (!isFloat && std::isinf(start))
    start = start < 0 ? -0x1p62 : 0x1p62;
  Scalars outside(lowering.b, lowering.op->getLoc(), isFloat);
  Value sums = lowering.filled(shape, outside.type(), start);
  if (from.getNumElements() > 0)
    sums = lowering.generic(
        lowering.operands[0],
        {lowering.b.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, places, lowering.op->getContext())}, sums,
        iterators, [&](OpBuilder &b, Location loc, ValueRange x) {
          Scalars scalars(b, loc, isFloat);
          return reduction.step(scalars, x[1], scalars.from(x[0], element));
        });
  Value all = finished(lowering, sums, isFloat, [&](Scalars &s, Value sum) -> Value {
    return isMean ? arith::DivFOp::create(s.b, s.loc, sum, s.number(static_cast<double>(count))).getResult() : sum;
  });
  return lowering.give(lowering.reshaped(all, lowering.result().getShape()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Sum of products over the last `contracted` of `loops` dimensions.
static LogicalResult contract(Lowering &lowering, ArrayRef<AffineExpr> left, ArrayRef<AffineExpr> right,
                              ArrayRef<int64_t> shape, unsigned loops) {
  Type a = lowering.type(0).getElementType(), b = lowering.type(1).getElementType();
  const bool isFloat = isa<FloatType>(a) || isa<FloatType>(b);
  MLIRContext *context = lowering.op->getContext();
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), shape.size(), parallel);
  Scalars outside(lowering.b, lowering.op->getLoc(), isFloat);
  Value sums = lowering.filled(shape, outside.type(), 0);
  if (lowering.type(0).getNumElements() > 0 && lowering.type(1).getNumElements() > 0)
    sums = lowering.generic(lowering.operands.take_front(2),
                            {AffineMap::get(loops, 0, left, context), AffineMap::get(loops, 0, right, context),
                             AffineMap::getMultiDimIdentityMap(loops, context).getMajorSubMap(shape.size())},
                            sums, iterators, [&](OpBuilder &builder, Location loc, ValueRange x) {
                              Scalars s(builder, loc, isFloat);
                              return s.add(x[2], s.mul(s.from(x[0], a), s.from(x[1], b)));
                            });
  return lowering.give(lowering.reshaped(finished(lowering, sums, isFloat), lowering.result().getShape()));
}

static LogicalResult matmul(Lowering &lowering) {
  auto op = cast<ttir::MatmulOp>(lowering.op);
  ArrayRef<int64_t> a = lowering.type(0).getShape(), b = lowering.type(1).getShape();
  // Batches, rows, columns, and the reduction dimension.
  const size_t batches = std::max(a.size(), b.size()) - std::min<size_t>(2, std::max(a.size(), b.size()));
  SmallVector<int64_t> shape(batches, 1);
  auto places = [&](ArrayRef<int64_t> sizes, bool isTransposed, bool isLeft) {
    SmallVector<AffineExpr> created;
    AffineExpr row = lowering.dim(batches), column = lowering.dim(batches + 1), sum = lowering.dim(batches + 2);
    const size_t own = sizes.size() < 2 ? 0 : sizes.size() - 2;
    for (size_t d = 0; d < own; ++d) {
      const size_t at = batches - own + d;
      created.push_back(sizes[d] == 1 ? lowering.b.getAffineConstantExpr(0) : lowering.dim(at));
      shape[at] = sizes[d] == 1 ? shape[at] : sizes[d];
    }
    if (sizes.size() == 1)
      return created.push_back(sum), created;
    AffineExpr first = isLeft ? row : sum, second = isLeft ? sum : column;
    if (isTransposed)
      std::swap(first, second);
    created.push_back(first), created.push_back(second);
    return created;
  };
  SmallVector<AffineExpr> left = places(a, op.getTransposeA(), true), right = places(b, op.getTransposeB(), false);
  auto sizeAt = [&](ArrayRef<int64_t> sizes, bool isTransposed, bool isLeft) {
    if (sizes.size() == 1)
      return int64_t(1);
    return sizes[sizes.size() - (isLeft != isTransposed ? 2 : 1)];
  };
  shape.push_back(sizeAt(a, op.getTransposeA(), true));
  shape.push_back(sizeAt(b, op.getTransposeB(), false));
  // A dimension that a vector lacks is 1, as in the result.
  return contract(lowering, left, right, shape, batches + 3);
}

static LogicalResult dotGeneral(Lowering &lowering) {
  auto op = cast<ttir::DotGeneralOp>(lowering.op);
  ArrayRef<int64_t> a = lowering.type(0).getShape(), b = lowering.type(1).getShape();
  SmallVector<AffineExpr> left(a.size()), right(b.size());
  SmallVector<int64_t> shape;
  unsigned next = 0;
  for (auto [l, r] : llvm::zip_equal(op.getBatchDimsLhs(), op.getBatchDimsRhs())) {
    shape.push_back(a[l]);
    left[l] = right[r] = lowering.dim(next++);
  }
  auto own = [&](ArrayRef<int64_t> sizes, SmallVector<AffineExpr> &places, ArrayRef<int64_t> contracted) {
    for (auto [d, size] : llvm::enumerate(sizes))
      if (!places[d] && !llvm::is_contained(contracted, int64_t(d))) {
        shape.push_back(size);
        places[d] = lowering.dim(next++);
      }
  };
  own(a, left, op.getContractDimsLhs());
  own(b, right, op.getContractDimsRhs());
  for (auto [l, r] : llvm::zip_equal(op.getContractDimsLhs(), op.getContractDimsRhs()))
    left[l] = right[r] = lowering.dim(next++);
  return contract(lowering, left, right, shape, next);
}

void host::addReductionRules(Rules &rules) {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::pair<StringLiteral, Reduction> rows[] = {
      {"ttir.sum", {0, [](Scalars &s, Value sum, Value x) { return s.add(sum, x); }}},
      {"ttir.prod", {1, [](Scalars &s, Value sum, Value x) { return s.mul(sum, x); }}},
      {"ttir.max", {-infinity, [](Scalars &s, Value sum, Value x) { return s.maximum(sum, x); }}},
      {"ttir.min", {infinity, [](Scalars &s, Value sum, Value x) { return s.minimum(sum, x); }}},
      {"ttir.reduce_and", {1, [](Scalars &s, Value sum, Value x) { return s.select(s.isSet(x), sum, s.number(0)); }}},
      {"ttir.reduce_or", {0, [](Scalars &s, Value sum, Value x) { return s.select(s.isSet(x), s.number(1), sum); }}},
  };
  for (const auto &[name, row] : rows)
    rules[name] = [row = row](Lowering &lowering) { return reduce(lowering, row); };
  rules["ttir.mean"] = [](Lowering &lowering) { return reduce(lowering, rows[0].second, /*isMean=*/true); };
  rules["ttir.matmul"] = matmul;
  rules["ttir.dot_general"] = dotGeneral;
}
