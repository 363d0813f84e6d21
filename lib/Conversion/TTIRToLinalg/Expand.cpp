//===- Expand.cpp - ops of TTIR as simpler ops that have rules ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Composites/Composites.h"
#include "../Composites/Shapes.h"
#include "Lowering.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/EmbeddingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RollOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SparseMatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TopKOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TopKRouterGptOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Upsample2dOp.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

namespace {
/// An index outside of a tensor is that of the nearest element, as in every function of the host.
class HostExpressions : public Expressions {
public:
  using Expressions::Expressions;

  Tensor checked(Tensor index, int64_t size, Operation *) override {
    return index.maximum(full(0, index)).minimum(full(static_cast<double>(size - 1), index));
  }
  Tensor rowsAt(Tensor table, Tensor index, Operation *) override {
    RankedTensorType type = table.type().clone({index.type().getNumElements(), table.shape()[1]});
    return (*this)(
        ttir::EmbeddingOp::create(builder, loc, TypeRange(type), ValueRange{index.value, table.value})->getResult(0));
  }
};
} // namespace

/// A product whose sums are rounded after the bias is added. A vector is one row on the left, and one column on the
/// right.
static SmallVector<Tensor> linear(ttir::LinearOp op, Expressions &e, std::string &) {
  const auto matrixOf = [&](Value value, bool isTransposed, bool isLeft) {
    Tensor x = e(value);
    if (x.rank() == 1) {
      const int64_t size = x.shape()[0];
      return isLeft ? x.reshape({1, size}) : x.reshape({size, 1});
    }
    return isTransposed ? e(swapLast(e.builder, e.loc, value)) : x;
  };
  Tensor product = matrixOf(op.getA(), op.getTransposeA(), true)
                       .matmul(matrixOf(op.getB(), op.getTransposeB(), false), false, /*wide=*/true);
  SmallVector<int64_t> shape(product.shape());
  if (e(op.getB()).rank() == 1)
    shape.pop_back();
  if (e(op.getA()).rank() == 1)
    shape.erase(shape.end() - (e(op.getB()).rank() == 1 ? 1 : 2));
  product = product.reshape(shape);
  return {op.getBias() ? product + e(op.getBias()).wide() : product};
}

static SmallVector<Tensor> roll(ttir::RollOp op, Expressions &e, std::string &) {
  Tensor x = e(op.getInput());
  for (auto [shift, dimension] : llvm::zip_equal(op.getShifts(), op.getDims())) {
    const int64_t dim = dimension < 0 ? dimension + x.rank() : dimension, size = x.shape()[dim];
    const int64_t first = size == 0 ? 0 : ((size - shift % size) % size + size) % size;
    if (first != 0)
      x = e.concat({x.slice(dim, first, size, 1), x.slice(dim, 0, first, 1)}, dim);
  }
  return {x};
}

/// A dimension as long as that of the result, each element between the two that are nearest to it.
static Tensor interpolated(Tensor x, int64_t dim, int64_t size) {
  Expressions &e = *x.e;
  const int64_t count = x.shape()[dim];
  if (size == count)
    return x;
  SmallVector<double> before, after, weights;
  for (int64_t i = 0; i < size; ++i) {
    const double at =
        std::max(0.0, (static_cast<double>(i) + 0.5) * static_cast<double>(count) / static_cast<double>(size) - 0.5);
    before.push_back(std::floor(at));
    after.push_back(std::min(std::floor(at) + 1, static_cast<double>(count - 1)));
    weights.push_back(at - std::floor(at));
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  std::swap(order[0], order[dim]);
  Tensor first = x.permute(order);
  SmallVector<int64_t> shape(first.shape());
  Tensor table = first.reshape({count, x.type().getNumElements() / count});
  auto at = [&](ArrayRef<double> rows) {
    return e.rowsAt(table, e.constant(RankedTensorType::get({size}, e.builder.getI32Type()), rows), nullptr);
  };
  Tensor weight = e.constant(RankedTensorType::get({size, 1}, e.builder.getF32Type()), weights);
  Tensor sum = at(before) * (weight * -1 + 1) + at(after) * weight;
  shape[0] = size;
  return sum.reshape(shape).permute(order);
}

static SmallVector<Tensor> upsample(ttir::Upsample2dOp op, Expressions &e, std::string &refusal) {
  const auto size = [&](unsigned dim) { return op.getType().getDimSize(dim); };
  Tensor x = e(op.getInput());
  if (op.getMode() == "bilinear" && x.type().getNumElements())
    return {interpolated(interpolated(x.wide(), 1, size(1)), 2, size(2))};
  return composites().find(op->getName().getStringRef())->second(op, e, refusal);
}

/// Products of matrices and experts where the sparsity is not 0.
static SmallVector<Tensor> sparseMatmul(ttir::SparseMatmulOp op, Expressions &e, std::string &) {
  Tensor a = e(op.getA()), b = e(op.getB()), live = e(op.getSparsity()).notEqual(0);
  const int64_t experts = b.shape()[1];
  SmallVector<int64_t> places = {live.type().getNumElements() / experts, experts, 1, 1};
  if (!op.getIsInputASparse()) {
    a = a.reshape({a.shape()[0], a.shape()[1], 1, 1, a.shape()[2], a.shape()[3]});
    b = b.reshape({1, 1, 1, experts, b.shape()[2], b.shape()[3]});
    places = {a.shape()[0], a.shape()[1], 1, experts, 1, 1};
  }
  Tensor products = a.matmul(b, false, /*wide=*/true);
  return {live.reshape(places).select(products, e.full(0, products))};
}

/// The experts with the largest scores, and the softmax of these.
static SmallVector<Tensor> router(ttir::TopKRouterGptOp op, Expressions &e, std::string &) {
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

/// The expressions of all targets, and those of the host.
static const CompositeTable &table() {
  static const CompositeTable all = [] {
    CompositeTable created = composites();
    addComposite<ttir::LinearOp>(created, linear);
    addComposite<ttir::RollOp>(created, roll);
    addComposite<ttir::SparseMatmulOp>(created, sparseMatmul);
    addComposite<ttir::TopKRouterGptOp>(created, router);
    addComposite<ttir::Upsample2dOp>(created, upsample);
    return created;
  }();
  return all;
}

bool host::hasCode(StringRef name) { return allRules().contains(name) || table().contains(name); }

std::string host::expand(Operation *op) {
  OpBuilder builder(op);
  HostExpressions expressions(builder, op->getLoc());
  std::string refusal;
  SmallVector<Value> values;
  // Results without elements need no computation.
  if (llvm::all_of(op->getResultTypes(), [](Type type) { return cast<ShapedType>(type).getNumElements() == 0; }))
    for (Type type : op->getResultTypes())
      values.push_back(expressions.constant(cast<RankedTensorType>(type), {}).value);
  else
    values = expanded(op, table().find(op->getName().getStringRef())->second, expressions, refusal);
  if (values.empty())
    return refusal;
  op->replaceAllUsesWith(values);
  op->erase();
  return "";
}
