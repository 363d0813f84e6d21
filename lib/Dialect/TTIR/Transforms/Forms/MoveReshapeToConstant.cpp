//===- MoveReshapeToConstant.cpp - reshapes off the activations ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Effects.h"
#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRMOVERESHAPETOCONSTANT
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

static Value reshape(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  auto created = ttir::ReshapeOp::create(builder, location, type.clone(shape), value,
                                         builder.getI32ArrayAttr(SmallVector<int32_t>(shape.begin(), shape.end())));
  // Creates the constant in the other shape.
  SmallVector<Value> folded;
  if (failed(builder.tryFold(created, folded)) || folded.size() != 1)
    return created;
  created->erase();
  return folded.front();
}

namespace {
struct MoveReshapeToConstant : ttir::impl::TTIRMoveReshapeToConstantBase<MoveReshapeToConstant> {
  void runOnOperation() override {
    ttcore::ObservedSources observed(getOperation());
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      if (op->hasTrait<trait::Elementwise>() && op->getNumResults() == 1 && op->getNumOperands() == 2 &&
          !observed.contains(op))
        changed |= move(op, 0, observed) || move(op, 1, observed);
    });
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// Whether the operand `side` is a reshape that could be done after `op`, with a constant as the other operand.
  static bool move(Operation *op, unsigned side, const ttcore::ObservedSources &observed) {
    auto moved = op->getOperand(side).getDefiningOp<ttir::ReshapeOp>();
    Value constant = op->getOperand(1 - side);
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!moved || !moved->hasOneUse() || observed.contains(moved) || !constant.getDefiningOp() ||
        !ttcore::isConstantCreation(constant.getDefiningOp()) || !result || result.getEncoding())
      return false;
    auto before = dyn_cast<RankedTensorType>(moved.getInput().getType());
    auto other = dyn_cast<RankedTensorType>(constant.getType());
    if (!before || !other || !before.hasStaticShape() || !other.hasStaticShape() || before.getEncoding() ||
        cast<RankedTensorType>(moved.getType()).getShape() != result.getShape() || ttcore::mayBeWritten(constant) ||
        isAffectedAfter(moved.getInput(), moved))
      return false;
    // A constant that is repeated along some dimensions only has no such shape.
    SmallVector<int64_t> shape(before.getShape());
    if (other.getNumElements() == 1)
      shape.assign(before.getRank(), 1);
    else if (other.getShape() != result.getShape())
      return false;
    Location location = op->getLoc(), own = ttcore::withoutSourceNumber(location);
    OpBuilder builder(op);
    op->setOperand(1 - side, reshape(builder, own, constant, shape));
    op->setOperand(side, moved.getInput());
    op->getResult(0).setType(result.clone(before.getShape()));
    builder.setInsertionPointAfter(op);
    auto after = ttir::ReshapeOp::create(builder, location, result, op->getResult(0), moved.getShapeAttr());
    op->getResult(0).replaceAllUsesExcept(after, after);
    op->setLoc(own);
    moved->erase();
    if (constant.use_empty())
      constant.getDefiningOp()->erase();
    return true;
  }
};
} // namespace
