//===- MergedOps.cpp - source ops that an op computes ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTCOREMERGEEQUALOPS
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;

static StringAttr textOf(Location loc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  LocationAttr(ttcore::withoutSourceNumber(loc)).print(stream);
  // loc("name") as in the flatbuffer.
  StringRef inner = text;
  if (inner.consume_front("loc("))
    inner.consume_back(")");
  return StringAttr::get(loc.getContext(), inner);
}

static ArrayAttr mergedInto(Operation *op) {
  return dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(ttcore::mergedName));
}

static void extend(Operation *op, ArrayRef<Attribute> more) {
  ArrayAttr merged = mergedInto(op);
  llvm::SmallSetVector<Attribute, 4> all;
  if (merged)
    all.insert(merged.begin(), merged.end());
  all.insert(more.begin(), more.end());
  all.remove(textOf(op->getLoc()));
  ArrayAttr extended = ArrayAttr::get(op->getContext(), all.getArrayRef());
  if (extended != merged)
    op->setDiscardableAttr(ttcore::mergedName, extended);
}

void ttcore::recordMerged(Location loc, Operation *into) {
  if (mergedInto(into))
    extend(into, {textOf(loc)});
}

void ttcore::recordMerged(Operation *op, Operation *into) {
  ArrayAttr merged = mergedInto(op);
  if (!merged && !mergedInto(into))
    return;
  SmallVector<Attribute> more = {textOf(op->getLoc())};
  if (merged)
    llvm::append_range(more, merged);
  extend(into, more);
}

Operation *ttcore::computingOp(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->hasTrait<trait::MovesValues>() && op->getNumOperands() != 0)
    op = op->getOperand(0).getDefiningOp();
  return op;
}

namespace {
struct MergeEqualOps : ttcore::impl::TTCoreMergeEqualOpsBase<MergeEqualOps> {
  void runOnOperation() override {
    // Attributes are compared, so they change at the end.
    struct Listener : RewriterBase::Listener {
      void notifyOperationReplaced(Operation *op, ValueRange values) override {
        if (Operation *first = values.empty() ? nullptr : values.front().getDefiningOp(); first && mergedInto(op))
          equal[first].push_back(textOf(op->getLoc()));
      }
      llvm::MapVector<Operation *, SmallVector<Attribute>> equal;
    } listener;
    IRRewriter rewriter(&getContext(), &listener);
    bool changed = false;
    eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(), getOperation(), &changed);
    for (auto &[op, locations] : listener.equal)
      extend(op, locations);
    if (!changed)
      return markAllAnalysesPreserved();
    // Blocks stay as they are.
    markAnalysesPreserved<DominanceInfo, PostDominanceInfo>();
  }
};
} // namespace
