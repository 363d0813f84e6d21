//===- DecomposeComplexReshape.cpp - reshapes of one place each ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRDECOMPOSECOMPLEXRESHAPE
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

namespace {
/// Adjacent dimensions that become others with as many values.
struct Group {
  SmallVector<int64_t> from, to;
};
} // namespace

/// The smallest groups that make up a change of shape, for nonempty tensors.
static SmallVector<Group> groupsOf(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Group> groups;
  while (!from.empty() && !to.empty()) {
    Group group{{from.consume_front()}, {to.consume_front()}};
    int64_t taken = group.from.front(), given = group.to.front();
    // Shapes with equally many values end together, so neither runs out before the other.
    while (taken != given) {
      bool behind = taken < given;
      int64_t size = behind ? from.consume_front() : to.consume_front();
      (behind ? group.from : group.to).push_back(size);
      (behind ? taken : given) *= size;
    }
    groups.push_back(group);
  }
  // Dimensions of size 1 at the end.
  if (groups.empty())
    groups.push_back({});
  llvm::append_range(groups.back().from, from);
  llvm::append_range(groups.back().to, to);
  return groups;
}

namespace {
struct DecomposeComplexReshape : ttir::impl::TTIRDecomposeComplexReshapeBase<DecomposeComplexReshape> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](ReshapeOp op) {
      auto from = dyn_cast<RankedTensorType>(op.getInput().getType());
      auto to = dyn_cast<RankedTensorType>(op.getType());
      if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() || from.getNumElements() == 0 ||
          from.getEncoding() || to.getEncoding())
        return;
      SmallVector<Group> groups = groupsOf(from.getShape(), to.getShape());
      auto isChange = [](const Group &group) { return group.from != group.to; };
      int64_t left = llvm::count_if(groups, isChange);
      if (left < 2)
        return;
      OpBuilder builder(op);
      Value value = op.getInput();
      for (Group &group : groups) {
        if (!isChange(group))
          continue;
        group.from = group.to;
        SmallVector<int64_t> shape;
        for (const Group &each : groups)
          llvm::append_range(shape, each.from);
        // The last step produces the value of the source op.
        Location location = --left == 0 ? op.getLoc() : ttcore::withoutSourceNumber(op.getLoc());
        value = ReshapeOp::create(builder, location, to.clone(shape), value,
                                  builder.getI32ArrayAttr(SmallVector<int32_t>(shape.begin(), shape.end())));
      }
      op.replaceAllUsesWith(value);
      op.erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
