//===- FoldFullToScalar.cpp - filled tensors as scalars ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Broadcast.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/OnesOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ZerosOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRFOLDFULLTOSCALAR
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// The same splat, with as many dimensions.
static Value oneValueOf(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int32_t> ones(type.getRank(), 1);
  OpBuilder builder(op);
  Operation *scalar = builder.clone(*op);
  scalar->setLoc(ttcore::withoutSourceNumber(op->getLoc()));
  scalar->setAttr("shape", builder.getDenseI32ArrayAttr(ones));
  scalar->getResult(0).setType(type.clone(SmallVector<int64_t>(type.getRank(), 1)));
  return scalar->getResult(0);
}

namespace {
struct FoldFullToScalar : ttir::impl::TTIRFoldFullToScalarBase<FoldFullToScalar> {
  void runOnOperation() override {
    ttcore::ObservedSources observed(getOperation());
    SmallVector<Operation *> fillings;
    getOperation()->walk([&](Operation *op) {
      if (!op->hasTrait<trait::Creation>() || !op->hasTrait<trait::FillsValues>() || observed.contains(op))
        return;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (type && type.hasStaticShape() && type.getNumElements() > 1 && !type.getEncoding())
        fillings.push_back(op);
    });
    bool changed = false;
    for (Operation *filling : fillings)
      changed |= fold(filling);
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static bool fold(Operation *filling) {
    auto type = cast<RankedTensorType>(filling->getResult(0).getType());
    Type scalarType = type.clone(SmallVector<int64_t>(type.getRank(), 1));
    Value scalar;
    for (OpOperand &use : llvm::make_early_inc_range(filling->getUses())) {
      Operation *user = use.getOwner();
      if (!user->hasTrait<trait::Elementwise>() || user->getNumResults() != 1)
        continue;
      // Another operand must give the result its shape.
      SmallVector<Type> operands(user->getOperandTypes());
      operands[use.getOperandNumber()] = scalarType;
      auto result = dyn_cast<RankedTensorType>(user->getResult(0).getType());
      std::optional<SmallVector<int64_t>> shape = broadcastShape(operands);
      if (!result || !shape || result.getShape() != ArrayRef<int64_t>(*shape))
        continue;
      if (!scalar)
        scalar = oneValueOf(filling);
      use.set(scalar);
    }
    if (scalar && filling->use_empty())
      filling->erase();
    return scalar != nullptr;
  }
};
} // namespace
