//===- PredicateTypeAlignment.cpp - truth values in the type that was compared -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRPREDICATETYPEALIGNMENT
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static bool isLogical(Operation *op) { return op->hasTrait<trait::ComputesTruth>(); }
static bool isPredicate(Operation *op) { return isLogical(op) || op->hasTrait<trait::Compares>(); }
static Type elementOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getElementType() : Type();
}

namespace {
struct PredicateTypeAlignment : ttir::impl::TTIRPredicateTypeAlignmentBase<PredicateTypeAlignment> {
  void runOnOperation() override {
    // From a value of i1 to the one of which it is a cast.
    DenseMap<Value, Value> aligned;
    SmallVector<Operation *> casts;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isLogical(op))
        takeAligned(op, aligned);
      // `where` only tests whether its condition is 0.
      if (isa<WhereOp>(op))
        if (Value value = aligned.lookup(op->getOperand(0)))
          op->setOperand(0, value);
      if (!isPredicate(op))
        return WalkResult::advance();
      Value result = op->getResult(0);
      Type element = elementOf(op->getOperand(0)), old = elementOf(result);
      if (!element || !old || !old.isInteger(1) || element == old ||
          cast<RankedTensorType>(result.getType()).getEncoding())
        return WalkResult::advance();
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      Type type = result.getType();
      result.setType(cast<RankedTensorType>(type).clone(element));
      auto back = TypecastOp::create(builder, ttcore::withoutSourceNumber(op->getLoc()), type, result,
                                     /*conservative_folding=*/false);
      result.replaceAllUsesExcept(back, back);
      aligned[back] = result;
      casts.push_back(back);
      return WalkResult::advance();
    });
    for (Operation *back : casts)
      if (back->use_empty())
        back->erase();
    if (casts.empty())
      markAllAnalysesPreserved();
  }

private:
  /// Operands of one type, or none: ops have operands of the same element type.
  static void takeAligned(Operation *op, const DenseMap<Value, Value> &aligned) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value value = aligned.lookup(operand);
      if (!value || (!operands.empty() && elementOf(value) != elementOf(operands.front())))
        return;
      operands.push_back(value);
    }
    op->setOperands(operands);
  }
};
} // namespace
