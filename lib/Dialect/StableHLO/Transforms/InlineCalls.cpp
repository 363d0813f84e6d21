//===- InlineCalls.cpp - functions in the place of their calls ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h"

#include "ttmlir/Dialect/TTCore/Transforms/Inline.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_INLINECALLS
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;

namespace {
struct InlineCalls : shlo::impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    done.clear(), open.clear(), called.clear();
    copied = 0;
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(inlineInto(function, symbols)))
        return signalPassFailure();
    SmallVector<sdy::NamedComputationOp> named;
    getOperation().walk([&](sdy::NamedComputationOp op) { named.push_back(op); });
    llvm::for_each(named, inlineNamed); // inner ones first
    // The values that they tie are one value now.
    getOperation().walk([](sdy::FuncDataFlowEdgeOp edge) {
      Value value = edge.getOperand();
      if (auto shardings = edge->getAttrOfType<sdy::TensorShardingPerValueAttr>("sdy.sharding")) {
        OpBuilder builder(edge);
        value = sdy::ShardingConstraintOp::create(builder, edge.getLoc(), value, shardings.getShardings().front());
      }
      edge.replaceAllUsesWith(value);
      edge.erase();
    });
    for (func::FuncOp function : called)
      if (function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
  }

private:
  static void inlineNamed(sdy::NamedComputationOp op) {
    IRRewriter rewriter(op);
    auto constrained = [&](ValueRange values, std::optional<sdy::TensorShardingPerValueAttr> shardings) {
      SmallVector<Value> created(values);
      if (shardings)
        for (auto [value, sharding] : llvm::zip_equal(created, shardings->getShardings()))
          value = sdy::ShardingConstraintOp::create(rewriter, op.getLoc(), value, sharding);
      return created;
    };
    Block &body = op.getBody().front();
    Operation *end = body.getTerminator();
    rewriter.inlineBlockBefore(&body, op, constrained(op.getOperands(), op.getInShardings()));
    rewriter.replaceOp(op, constrained(end->getOperands(), op.getOutShardings()));
    rewriter.eraseOp(end);
  }

  /// Inlines calls into callees first, before these are copied.
  LogicalResult inlineInto(func::FuncOp function, SymbolTableCollection &symbols) {
    if (done.contains(function))
      return success();
    if (!open.insert(function).second)
      return function.emitOpError() << "calls itself, and programs cannot";
    if (open.size() > ttcore::maxCallDepth)
      return function.emitOpError() << "is called more than " << ttcore::maxCallDepth << " calls deep";
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
        continue;
      if (failed(inlineInto(callee, symbols)))
        return failure();
      // A few calls on each level of a call graph can create any number of ops.
      copied += done.lookup(callee);
      if (copied > mostOps)
        return function.emitOpError() << "is one of the functions that have more than " << mostOps
                                      << " ops when their calls are inlined";
      ttcore::inlineCall(call, callee);
      called.insert(callee);
    }
    open.erase(function);
    size_t ops = 0;
    function.walk([&](Operation *) { ++ops; });
    done[function] = ops;
    return success();
  }

  static constexpr size_t mostOps = size_t(1) << 20;
  DenseMap<Operation *, size_t> done; // with the number of their ops
  DenseSet<Operation *> open;
  size_t copied = 0;
  llvm::SetVector<func::FuncOp> called;
};
} // namespace
