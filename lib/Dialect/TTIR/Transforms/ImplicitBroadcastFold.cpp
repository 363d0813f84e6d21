//===- ImplicitBroadcastFold.cpp - removal of implicit broadcasts ---------===//

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRIMPLICITBROADCASTFOLD
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

/// The shape that operands broadcast to by the rules of numpy, or nothing.
static std::optional<SmallVector<int64_t>> broadcastShape(OperandRange operands) {
  SmallVector<int64_t> shape;
  for (Type type : operands.getTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return std::nullopt;
    if (tensor.getRank() > static_cast<int64_t>(shape.size()))
      shape.insert(shape.begin(), tensor.getRank() - shape.size(), 1);
    for (auto [size, own] : llvm::zip(llvm::reverse(shape), llvm::reverse(tensor.getShape()))) {
      if (own != 1 && size != 1 && own != size)
        return std::nullopt;
      size = own == 1 ? size : own;
    }
  }
  return shape;
}

namespace {
struct ImplicitBroadcastFold : ttir::impl::TTIRImplicitBroadcastFoldBase<ImplicitBroadcastFold> {
  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](Operation *op) {
      if (!op->hasTrait<trait::Elementwise>() || op->getNumResults() != 1)
        return;
      for (OpOperand &operand : op->getOpOperands())
        changed |= fold(op, operand);
    });
    SmallVector<Operation *> dead;
    getOperation().walk([&](ttir::BroadcastOp broadcast) {
      if (broadcast->use_empty())
        dead.push_back(broadcast);
    });
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    if (!changed && dead.empty())
      markAllAnalysesPreserved();
  }

private:
  /// Another operand must still give the result its shape.
  static bool fold(Operation *op, OpOperand &operand) {
    auto broadcast = operand.get().getDefiningOp<ttir::BroadcastOp>();
    if (!broadcast)
      return false;
    auto from = dyn_cast<RankedTensorType>(broadcast->getOperand(0).getType());
    auto to = dyn_cast<RankedTensorType>(broadcast->getResult(0).getType());
    if (!from || !to || from.getElementType() != to.getElementType() || from.getEncoding() != to.getEncoding())
      return false;
    operand.set(broadcast->getOperand(0));
    std::optional<SmallVector<int64_t>> shape = broadcastShape(op->getOperands());
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    bool keepsShape = shape && result && result.getShape() == ArrayRef<int64_t>(*shape);
    if (!keepsShape)
      operand.set(broadcast->getResult(0));
    return keepsShape;
  }
};
} // namespace
