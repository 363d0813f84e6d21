//===- Functions.cpp - shardings of functions and their calls -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYPREORDERFUNCS
#define GEN_PASS_DEF_SDYPROPAGATESHARDINGFROMFUNCTOCALL
#define GEN_PASS_DEF_SDYPROPAGATETOFUNCRESULTS
#define GEN_PASS_DEF_SDYINSERTFUNCCALLRESHARDS
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
func::FuncOp getCallee(func::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
}

/// The shardings of a function's results, if any has one; the others are open.
TensorShardingPerValueAttr getResultShardings(func::FuncOp function) {
  TensorShardingAttr any;
  for (unsigned index = 0; index < function.getNumResults() && !any; ++index)
    any = getResultShardingAttr(function, index);
  if (!any)
    return {};
  SmallVector<TensorShardingAttr> shardings;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    TensorShardingAttr sharding = getResultShardingAttr(function, index);
    auto tensor = dyn_cast<RankedTensorType>(type);
    SmallVector<DimensionShardingAttr> dims(tensor ? tensor.getRank() : 0,
                                            DimensionShardingAttr::get(type.getContext(), {}, false, std::nullopt));
    shardings.push_back(
        sharding ? sharding
                 : TensorShardingAttr::get(type.getContext(), any.getMeshOrRef(), dims, {}, {}, ReductionOp::SUM));
  }
  return TensorShardingPerValueAttr::get(function.getContext(), shardings);
}

struct PreOrderFuncs : sdy::impl::SdyPreOrderFuncsBase<PreOrderFuncs> {
  using Base::Base;

  void runOnOperation() override {
    // Each function after all of its callers; functions that are not called keep their order.
    SymbolTable symbols(getOperation());
    DenseMap<Operation *, SetVector<Operation *>> callees;
    DenseSet<Operation *> called;
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      function.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee())) {
          callees[function].insert(callee);
          called.insert(callee);
        }
      });
    SmallVector<Operation *> postOrder;
    DenseSet<Operation *> seen;
    auto visit = [&](Operation *root) {
      SmallVector<std::pair<Operation *, size_t>> path;
      if (seen.insert(root).second)
        path.emplace_back(root, 0);
      while (!path.empty()) {
        auto &[function, next] = path.back();
        const SetVector<Operation *> &list = callees[function];
        if (next == list.size()) {
          postOrder.push_back(function);
          path.pop_back();
          continue;
        }
        // The last callee first, so that the reversed order is that of the calls.
        Operation *callee = list[list.size() - ++next];
        if (seen.insert(callee).second)
          path.emplace_back(callee, 0);
      }
    };
    for (func::FuncOp function : llvm::reverse(functions))
      if (!called.contains(function))
        visit(function);
    for (func::FuncOp function : functions)
      visit(function);
    Block *body = getOperation().getBody();
    for (Operation *function : llvm::reverse(postOrder))
      function->moveBefore(body, body->end());
  }
};

struct PropagateShardingFromFuncToCall
    : sdy::impl::SdyPropagateShardingFromFuncToCallBase<PropagateShardingFromFuncToCall> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](func::CallOp call) {
      func::FuncOp callee = getCallee(call);
      if (!callee || call->hasAttr(kShardingAttr))
        return;
      if (TensorShardingPerValueAttr shardings = getResultShardings(callee))
        call->setAttr(kShardingAttr, shardings);
    });
  }
};

struct PropagateToFuncResults : sdy::impl::SdyPropagateToFuncResultsBase<PropagateToFuncResults> {
  using Base::Base;

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function.getSymName() == "main" || !function.getBody().hasOneBlock())
        continue;
      for (auto [index, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
        if (TensorShardingAttr sharding = getShardingAttr(value))
          setResultShardingAttr(function, index, sharding);
    }
  }
};

struct InsertFuncCallReshards : sdy::impl::SdyInsertFuncCallReshardsBase<InsertFuncCallReshards> {
  using Base::Base;

  void runOnOperation() override {
    Meshes meshes(getOperation());
    getOperation().walk([&](func::CallOp call) {
      func::FuncOp callee = getCallee(call);
      if (!callee)
        return;
      OpBuilder builder(call);
      builder.setInsertionPointAfter(call);
      for (OpResult result : call.getResults()) {
        TensorShardingAttr given = getResultShardingAttr(callee, result.getResultNumber());
        TensorShardingAttr old = getShardingAttr(result);
        if (!given || !old || given == old)
          continue;
        setShardingAttr(result, given);
        if (areEquivalent(resolve(given, meshes), resolve(old, meshes)))
          continue;
        auto reshard = ReshardOp::create(builder, call.getLoc(), result, old);
        result.replaceAllUsesExcept(reshard, reshard);
      }
    });
  }
};
} // namespace
