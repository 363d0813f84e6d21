//===- NumberEpochs.cpp - numbers of epochs -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRNUMBEREPOCHS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

/// The labels of a break; failure after an error.
static FailureOr<SmallVector<StringAttr>> labelsOf(Operation *op) {
  Attribute value = op->getDiscardableAttr(ttcore::epochBreakName);
  SmallVector<StringAttr> labels;
  if (!value)
    return labels;
  auto list = dyn_cast<ArrayAttr>(value);
  for (Attribute each : list ? list.getValue() : ArrayRef(value)) {
    auto label = dyn_cast<StringAttr>(each);
    if (!label)
      return op->emitOpError() << ttcore::epochBreakName << " is " << value
                               << "; expected a label in quotes, or a list of labels";
    labels.push_back(label);
  }
  return labels;
}

static LogicalResult check(Operation *op) {
  if (failed(ttcore::requestedGrid(op)))
    return failure();
  if (Attribute group = op->getDiscardableAttr(ttcore::fusionGroupName); group && !isa<StringAttr>(group))
    return op->emitOpError() << ttcore::fusionGroupName << " is " << group << "; expected a name in quotes";
  Attribute merged = op->getDiscardableAttr(ttcore::mergedName);
  auto list = dyn_cast_or_null<ArrayAttr>(merged);
  if (merged && (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>)))
    return op->emitOpError() << ttcore::mergedName << " is " << merged << "; expected a list of texts";
  Attribute epoch = op->getDiscardableAttr(ttcore::epochName);
  auto number = dyn_cast_or_null<IntegerAttr>(epoch);
  if (epoch && (!number || !number.getType().isSignlessInteger(64) || number.getInt() < 0))
    return op->emitOpError() << ttcore::epochName << " is " << epoch << "; expected an i64 of at least 0";
  return success();
}

namespace {
struct NumberEpochs : ttir::impl::TTIRNumberEpochsBase<NumberEpochs> {
  void runOnOperation() override {
    markAllAnalysesPreserved(); // no analysis reads these attributes
    bool hasBreaks = false;
    Operation *numbered = nullptr;
    for (Operation &op : getOperation().getBody().getOps()) {
      if (failed(check(&op)))
        return signalPassFailure();
      hasBreaks |= op.hasAttr(ttcore::epochBreakName);
      if (!numbered && op.hasAttr(ttcore::epochName))
        numbered = &op;
    }
    if (!hasBreaks)
      return;
    if (numbered) {
      numbered->emitOpError() << "has " << ttcore::epochName << ", and other ops have " << ttcore::epochBreakName
                              << "; expected one of them in a function";
      return signalPassFailure();
    }
    if (failed(number(getOperation().getBody())))
      signalPassFailure();
  }

private:
  LogicalResult number(Region &body) {
    Builder builder(&getContext());
    DenseSet<StringAttr> begun;
    int64_t epoch = 0;
    bool isFirst = true;
    for (Operation &op : body.getOps()) {
      FailureOr<SmallVector<StringAttr>> labels = labelsOf(&op);
      if (failed(labels))
        return failure();
      bool begins = false;
      for (StringAttr label : *labels)
        begins |= begun.insert(label).second;
      // The first op begins epoch 0 in any case.
      epoch += begins && !isFirst;
      isFirst = false;
      if (!op.hasTrait<OpTrait::IsTerminator>())
        op.setDiscardableAttr(ttcore::epochName, builder.getI64IntegerAttr(epoch));
      op.removeDiscardableAttr(ttcore::epochBreakName);
    }
    return success();
  }
};
} // namespace
