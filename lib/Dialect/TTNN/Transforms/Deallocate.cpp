//===- Deallocate.cpp - deallocation after the last use -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNDEALLOCATE
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;

namespace {
struct Deallocate : ttnn::impl::TTNNDeallocateBase<Deallocate> {
  void runOnOperation() override {
    getOperation()->walk([](func::FuncOp function) {
      if (!function.isExternal() && function.getBody().hasOneBlock())
        deallocateIn(function.getBody().front());
    });
  }

private:
  /// Walks backwards, so that the first visited use is the last.
  static void deallocateIn(Block &block) {
    DenseSet<Value> used;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      SmallVector<Value> ending;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (used.insert(operand).second)
            ending.push_back(operand);
      });
      if (op.hasTrait<OpTrait::IsTerminator>() || isa<ttnn::DeallocateOp>(op))
        continue;
      for (Value result : op.getResults())
        if (result.use_empty())
          ending.push_back(result);
      OpBuilder builder(op.getContext());
      builder.setInsertionPointAfter(&op);
      for (Value value : ending)
        if (isOwned(value, block))
          deallocate(builder, value);
    }
  }

  /// Arguments belong to the caller, and cached values are kept for the next run. Results of stages are on their own
  /// chips.
  static bool isOwned(Value value, Block &block) {
    Operation *producer = value.getDefiningOp();
    return producer && producer->getBlock() == &block && !producer->hasTrait<trait::RunsOnce>() &&
           !isa<func::CallOp>(producer) && ttnn::TTNNLayoutAttr::of(value.getType());
  }

  static void deallocate(OpBuilder &builder, Value value) {
    ttnn::DeallocateOp::create(builder, ttcore::withoutSourceNumber(value.getLoc()), value, /*force=*/false);
  }
};
} // namespace
