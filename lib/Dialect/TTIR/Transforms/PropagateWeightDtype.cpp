//===- PropagateWeightDtype.cpp - formats of weights from arguments to ops -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRPROPAGATEWEIGHTDTYPE
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

/// The operand that is a weight (TakesWeight).
static constexpr unsigned weightOperand = 1;
/// The values of the result are those of the first operand.
static bool passesOn(Operation *op) {
  return op->getNumOperands() == 1 && (movesOnlyOperands(op) || isa<ttir::TypecastOp>(op));
}

namespace {
struct PropagateWeightDtype : ttir::impl::TTIRPropagateWeightDtypeBase<PropagateWeightDtype> {
  void runOnOperation() override {
    bool changed = false;
    WalkResult result = getOperation()->walk([&](func::FuncOp function) {
      for (unsigned index = 0, count = function.getNumArguments(); index < count; ++index) {
        Attribute attribute = function.getArgAttr(index, ttcore::weightDtypeName);
        if (!attribute)
          continue;
        if (failed(ttcore::weightDtypeOf(attribute, [&] {
              return function.emitError() << "argument " << index << " of '" << function.getSymName() << "': ";
            })))
          return WalkResult::interrupt();
        if (!function.isExternal())
          changed |= propagate(function.getArgument(index), attribute);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static bool propagate(Value argument, Attribute dtype) {
    bool changed = false;
    SmallVector<Value> values = {argument};
    while (!values.empty()) {
      for (OpOperand &use : values.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        if (user->hasTrait<trait::TakesWeight>() && use.getOperandNumber() == weightOperand) {
          // The op's own attribute is more specific.
          if (!user->hasAttr(ttcore::weightDtypeName)) {
            user->setAttr(ttcore::weightDtypeName, dtype);
            changed = true;
          }
        } else if (passesOn(user) && use.getOperandNumber() == 0) {
          values.push_back(user->getResult(0));
        }
      }
    }
    return changed;
  }
};
} // namespace
