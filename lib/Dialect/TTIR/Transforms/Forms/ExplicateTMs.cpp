//===- ExplicateTMs.cpp - broadcasts as ops ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIREXPLICATETMS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// `value` with leading dimensions of size 1, then repeated to `shape`.
static Value broadcastTo(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> sizes(shape.size() - type.getRank(), 1);
  llvm::append_range(sizes, type.getShape());
  if (type.getRank() != static_cast<int64_t>(shape.size())) {
    type = type.clone(sizes);
    value = ReshapeOp::create(builder, location, type, value,
                              builder.getI32ArrayAttr(SmallVector<int32_t>(sizes.begin(), sizes.end())));
  }
  SmallVector<int64_t> repeats;
  for (auto [size, target] : llvm::zip(sizes, shape))
    repeats.push_back(target / size);
  if (llvm::all_of(repeats, [](int64_t count) { return count == 1; }))
    return value;
  return BroadcastOp::create(builder, location, type.clone(shape), value, repeats);
}

namespace {
struct ExplicateTMs : ttir::impl::TTIRExplicateTMsBase<ExplicateTMs> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      if (!op->hasTrait<trait::Elementwise>() || op->getNumResults() != 1)
        return;
      auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      // A tensor without values is repeated 0 times, which no broadcast does.
      if (!result || !result.hasStaticShape() || result.getNumElements() == 0)
        return;
      // One broadcast serves all equal operands.
      DenseMap<Value, Value> created;
      OpBuilder builder(op);
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        // A layout belongs to one shape.
        if (!type || !type.hasStaticShape() || type.getShape() == result.getShape() ||
            (type.getEncoding() && !isa<ttcore::TensorMeshAttr>(type.getEncoding())))
          continue;
        Value &value = created[operand.get()];
        if (!value)
          value = broadcastTo(builder, ttcore::withoutSourceNumber(op->getLoc()), operand.get(), result.getShape());
        operand.set(value);
        changed = true;
      }
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
