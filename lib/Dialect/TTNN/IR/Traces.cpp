//===- Traces.cpp - recordings of commands as what they do ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/Traces.h"

#include "ttmlir/Dialect/TTNN/IR/Ops/BeginTraceCaptureOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CaptureOrExecuteTraceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EndTraceCaptureOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ExecuteTraceOp.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The programs of a module, without functions that only a capture_or_execute_trace runs.
static SmallVector<FunctionOpInterface> programsOf(ModuleOp module) {
  llvm::StringSet<> ofTraces;
  module.walk([&](CaptureOrExecuteTraceOp op) {
    for (StringRef name : {op.getAllocateSlotsCallee(), op.getCaptureCallee(), op.getExecuteCallee()})
      ofTraces.insert(name);
  });
  return llvm::filter_to_vector(module.getOps<FunctionOpInterface>(), [&](FunctionOpInterface function) {
    return !function.isExternal() && !ofTraces.contains(function.getName());
  });
}

static bool isOfTrace(Operation *op) { return isa<BeginTraceCaptureOp, EndTraceCaptureOp, ExecuteTraceOp>(op); }

bool ttnn::hasTraces(ModuleOp module) {
  // Most modules have none, so names of functions need not be read.
  auto find = [](Operation *root) {
    return root->walk([](Operation *op) { return isOfTrace(op) ? WalkResult::interrupt() : WalkResult::advance(); })
        .wasInterrupted();
  };
  return find(module) && llvm::any_of(programsOf(module), [&](FunctionOpInterface each) { return find(each); });
}

namespace {
/// A recording, and the ops that execute it, in order.
struct Trace {
  BeginTraceCaptureOp begin;
  EndTraceCaptureOp end;
  SmallVector<ExecuteTraceOp> executions;
};
} // namespace

static FailureOr<Trace> findTrace(BeginTraceCaptureOp begin) {
  Trace trace = {begin, {}, {}};
  Block *block = begin->getBlock();
  for (Operation *user : begin.getTraceId().getUsers()) {
    auto end = dyn_cast<EndTraceCaptureOp>(user);
    auto execution = dyn_cast<ExecuteTraceOp>(user);
    if (user->getBlock() != block || (!end && !execution))
      return user->emitOpError() << "takes the number of a recording out of its program; expected it in "
                                 << EndTraceCaptureOp::getOperationName() << " and "
                                 << ExecuteTraceOp::getOperationName() << " next to its "
                                 << BeginTraceCaptureOp::getOperationName();
    if (end && trace.end)
      return end.emitOpError("ends a recording that has ended");
    if (end)
      trace.end = end;
    else
      trace.executions.push_back(execution);
  }
  if (!trace.end)
    return begin.emitOpError("begins a recording that does not end in its program");
  llvm::sort(trace.executions, [](ExecuteTraceOp a, ExecuteTraceOp b) { return a->isBeforeInBlock(b); });
  if (!trace.executions.empty() && trace.executions.front()->isBeforeInBlock(trace.end))
    return trace.executions.front().emitOpError("executes a recording before it has ended");
  return trace;
}

/// The uses of a value by ops of the block, or inside of them, that follow `op`.
static void replaceAfter(Value value, Value by, Operation *op) {
  value.replaceUsesWithIf(by, [&](OpOperand &use) {
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return user && op->isBeforeInBlock(user);
  });
}

static LogicalResult replay(Trace &trace) {
  SmallVector<Operation *> recorded;
  for (Operation *op = trace.begin->getNextNode(); op != trace.end; op = op->getNextNode()) {
    if (isOfTrace(op))
      return op->emitOpError("is part of a recording; expected it outside of ") << trace.begin->getName();
    recorded.push_back(op);
  }
  DenseSet<Operation *> inside(recorded.begin(), recorded.end());
  Block *block = trace.begin->getBlock();
  Operation *first = trace.executions.empty() ? nullptr : trace.executions.front().getOperation();
  for (Operation *op : recorded)
    for (Operation *user : op->getUsers()) {
      Operation *place = block->findAncestorOpInBlock(*user);
      if (!inside.contains(place) && (!first || place->isBeforeInBlock(first)))
        return user->emitOpError("reads what a recording makes, which is not executed before it");
    }
  SmallVector<Value> current;
  for (auto [number, execution] : llvm::enumerate(trace.executions)) {
    SmallVector<Value> created;
    IRMapping mapping;
    OpBuilder builder(execution);
    for (Operation *op : recorded) {
      if (number == 0)
        op->moveBefore(execution);
      Operation *here = number == 0 ? op : builder.clone(*op, mapping);
      llvm::append_range(created, here->getResults());
    }
    for (auto [before, now] : llvm::zip(current, created))
      replaceAfter(before, now, execution);
    current = std::move(created);
  }
  if (trace.executions.empty())
    for (Operation *op : llvm::reverse(recorded))
      op->erase();
  for (ExecuteTraceOp execution : trace.executions)
    execution->erase();
  trace.end->erase();
  trace.begin->erase();
  return success();
}

LogicalResult ttnn::replayTraces(ModuleOp module) {
  for (FunctionOpInterface program : programsOf(module)) {
    SmallVector<BeginTraceCaptureOp> begins;
    program.walk([&](BeginTraceCaptureOp op) { begins.push_back(op); });
    for (BeginTraceCaptureOp begin : begins) {
      FailureOr<Trace> trace = findTrace(begin);
      if (failed(trace) || failed(replay(*trace)))
        return failure();
    }
    WalkResult others = program.walk([](Operation *op) -> WalkResult {
      if (isOfTrace(op))
        return op->emitOpError("is of a recording that its program does not begin");
      return WalkResult::advance();
    });
    if (others.wasInterrupted())
      return failure();
  }
  return success();
}
