//===- SplitUnifiedThread.cpp - splitting into data movement and compute threads -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MSPLITUNIFIEDTHREAD
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// Whether the argument of a generic's region is the circular buffer of an input.
static bool isInput(GenericOp generic, Value cb) {
  return cast<BlockArgument>(cb).getArgNumber() < generic.getInputs().size();
}

static bool isOutput(GenericOp generic, Value cb) {
  const unsigned number = cast<BlockArgument>(cb).getArgNumber();
  return !isInput(generic, cb) && number < generic.getInputs().size() + generic.getOutputs().size();
}

/// For the mover of inputs, keeps the loads of every second circular buffer, beginning with the first; for the mover of
/// outputs, keeps all stores. Adds the opposite side of what a thread does with the circular buffers of inputs (or of
/// outputs), in the same loops: a reservation for each block that it waits for, and a push; or a wait for each block
/// that it pushes, and a pop.
static void keepOtherSide(GenericOp generic, Region &region, bool inputs) {
  SmallVector<Operation *> ops;
  SmallVector<Value> loaded; // all loads to a circular buffer are of one mover, so that blocks keep their order
  region.walk<WalkOrder::PostOrder>([&](Operation *op) {
    OpBuilder builder(op);
    if (auto wait = dyn_cast<WaitOp>(op); wait && inputs && isInput(generic, wait.getCb())) {
      ReserveOp::create(builder, op->getLoc(), wait.getResult().getType(), wait.getCb());
      PushOp::create(builder, op->getLoc(), wait.getCb());
    } else if (auto push = dyn_cast<PushOp>(op); push && !inputs && isOutput(generic, push.getCb())) {
      auto block = cast<CBType>(push.getCb().getType()).getUnderlying();
      WaitOp::create(builder, op->getLoc(), block, push.getCb());
      PopOp::create(builder, op->getLoc(), push.getCb());
    }
    if (auto load = dyn_cast<RemoteLoadOp>(op)) {
      auto known = llvm::find(loaded, load.getCb());
      const auto number = static_cast<size_t>(std::distance(loaded.begin(), known));
      if (known == loaded.end())
        loaded.push_back(load.getCb());
      if (number % 2 == (inputs ? 0 : 1))
        return;
    }
    if (isa<RemoteStoreOp>(op) && !inputs)
      return;
    ops.push_back(op);
  });
  // Users come after their operands, and the body of a loop before the loop: in reverse order, all uses are gone. Loops
  // and choices stay if they still contain ops.
  for (Operation *op : llvm::reverse(ops))
    if (op->getNumRegions()) {
      if (llvm::all_of(op->getRegions(), [](Region &region) {
            return llvm::all_of(region, [](Block &block) { return block.without_terminator().empty(); });
          }))
        op->erase();
    } else if (!isa<scf::YieldOp>(op) && op->use_empty()) {
      op->erase();
    }
}

namespace {
struct SplitUnifiedThread : d2m::impl::D2MSplitUnifiedThreadBase<SplitUnifiedThread> {
  void runOnOperation() override {
    SmallVector<GenericOp> generics;
    getOperation()->walk([&](GenericOp generic) { generics.push_back(generic); });
    for (GenericOp generic : generics)
      if (llvm::any_of(generic.getThreads().getAsRange<ThreadAttr>(),
                       [](ThreadAttr thread) { return thread.getThreadType() == ThreadType::Unified; }) &&
          failed(split(generic)))
        return signalPassFailure();
  }

private:
  static LogicalResult split(GenericOp generic) {
    if (generic.getNumRegions() != 1)
      return generic.emitOpError() << "has " << generic.getNumRegions()
                                   << " threads, one of them unified; expected that one alone";
    Region &unified = generic.getRegion(0);
    for (BlockArgument argument : unified.getArguments())
      if (!isa<CBType>(argument.getType()))
        return generic.emitOpError() << "argument " << argument.getArgNumber() << " of its thread is "
                                     << argument.getType() << "; expected a !d2m.cb";
    WalkResult own = unified.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand);
            isa<CBType>(operand.getType()) && (!argument || argument.getOwner() != &unified.front())) {
          op->emitOpError("uses a circular buffer that is no argument of its thread");
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (own.wasInterrupted())
      return failure();
    MLIRContext *context = generic.getContext();
    const auto thread = [&](ThreadType type, int32_t core) -> Attribute {
      return ThreadAttr::get(context, type, SymbolRefAttr(), core);
    };
    // A new op, because the number of regions is fixed.
    OpBuilder builder(generic);
    auto threads =
        GenericOp::create(builder, generic.getLoc(), generic.getResultTypes(), generic.getInputs(),
                          generic.getOutputs(), generic.getAdditionalArgs(), generic.getGrid(),
                          generic.getBlockFactors(), generic.getIndexingMaps(), generic.getIteratorTypes(),
                          builder.getArrayAttr({thread(ThreadType::Datamovement, 0),
                                                thread(ThreadType::Datamovement, 1), thread(ThreadType::Compute, -1)}),
                          generic.getFabricConnectionConfigAttr(), 3);
    for (unsigned mover : {0, 1}) {
      IRMapping mapping;
      unified.cloneInto(&threads.getRegion(mover), mapping);
      keepOtherSide(threads, threads.getRegion(mover), mover == 0);
    }
    threads.getRegion(2).takeBody(unified);
    threads.getRegion(2).walk([](Operation *op) {
      if (isa<RemoteLoadOp, RemoteStoreOp>(op))
        op->erase();
    });
    if (Attribute wide = generic->getAttr(f32RegistersName))
      threads->setAttr(f32RegistersName, wide);
    generic.replaceAllUsesWith(threads.getResults());
    generic.erase();
    return success();
  }
};
} // namespace
