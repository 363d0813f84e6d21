//===- Expand.cpp - ops of TTIR as simpler ops that have rules ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Composites/Composites.h"
#include "../Composites/Shapes.h"
#include "Lowering.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/EmbeddingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

namespace {
/// An index outside of a tensor is that of the nearest element, as in every function of the host.
class HostExpressions : public Expressions {
public:
  using Expressions::Expressions;

  Tensor checked(Tensor index, int64_t size, Operation *, StringRef) override {
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

/// The expressions of all targets, and those of the host.
static const CompositeTable &table() {
  static const CompositeTable all = [] {
    CompositeTable created = composites();
    addComposite<ttir::LinearOp>(created, linear);
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
