//===- InlineFunctions.cpp - inlining of calls ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Inline.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRINLINEFUNCTIONS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;

namespace {
struct InlineFunctions : tt::ttir::impl::TTIRInlineFunctionsBase<InlineFunctions> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    infos.clear(), order.clear();
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(visit(function, symbols)))
        return signalPassFailure();
    if (failed(checkSize()))
      return signalPassFailure();
    bool any = false;
    for (func::FuncOp function : order)
      for (auto [call, callee] : infos[function].calls) {
        tt::ttcore::inlineCall(call, callee);
        infos[callee].isCalled = any = true;
      }
    for (func::FuncOp function : functions)
      any |= unpackTuples(function);
    if (!any)
      markAllAnalysesPreserved();
    for (func::FuncOp function : functions)
      if (function.isPrivate() && infos[function].isCalled)
        symbols.erase(function);
  }

private:
  struct Info {
    enum State { Unseen, Open, Done } state = Unseen;
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls; // those that can be inlined
    uint64_t ops = 0;                                         // when they are, without terminators
    unsigned depth = 0;                                       // of calls below
    bool isCalled = false;
  };

  /// Replaces the tuples that calls pass and return by their values.
  static bool unpackTuples(func::FuncOp function) {
    bool any = false;
    SmallVector<tt::ttcore::TupleOp> tuples;
    function.walk([&](Operation *op) {
      if (auto tuple = dyn_cast<tt::ttcore::TupleOp>(op)) {
        tuples.push_back(tuple);
      } else if (auto get = dyn_cast<tt::ttcore::GetTupleElementOp>(op)) {
        SmallVector<OpFoldResult, 1> element;
        if (failed(get->fold(element)))
          return;
        get.replaceAllUsesWith(cast<Value>(element.front()));
        get.erase();
        any = true;
      }
    });
    // Those of tuples come after them.
    for (tt::ttcore::TupleOp tuple : llvm::reverse(tuples))
      if (tuple->use_empty()) {
        tuple.erase();
        any = true;
      }
    return any;
  }

  /// Adds a function and its callees to `order`, callees first, so that inlined bodies have no calls left. Chains of
  /// calls may be longer than the stack is deep.
  LogicalResult visit(func::FuncOp root, SymbolTable &symbols) {
    if (infos[root].state == Info::Done)
      return success();
    SmallVector<std::pair<func::FuncOp, size_t>> path; // functions, and how many of their calls were followed
    auto open = [&](func::FuncOp function) {
      Info &info = infos[function];
      info.state = Info::Open;
      function.walk([&](Operation *op) {
        info.ops += op != function && !op->hasTrait<OpTrait::IsTerminator>();
        auto call = dyn_cast<func::CallOp>(op);
        auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
        // Declarations stay called; the conversion reports them.
        if (callee && !callee.isExternal())
          info.calls.emplace_back(call, callee);
      });
      path.emplace_back(function, 0);
    };
    open(root);
    while (!path.empty()) {
      func::FuncOp function = path.back().first;
      if (path.back().second == infos[function].calls.size()) {
        close(function);
        path.pop_back();
        continue;
      }
      auto [call, callee] = infos[function].calls[path.back().second++];
      if (!callee.getBody().hasOneBlock())
        return call.emitError() << "cannot inline '" << callee.getSymName() << "': it has "
                                << llvm::range_size(callee.getBody()) << " blocks; expected one";
      if (infos[callee].state == Info::Open)
        return reportRecursion(call, callee, path);
      if (infos[callee].state == Info::Unseen)
        open(callee);
    }
    return success();
  }

  /// All of its callees are closed.
  void close(func::FuncOp function) {
    Info info = infos[function];
    for (auto [call, callee] : info.calls) {
      info.ops = llvm::SaturatingAdd(info.ops - 1, infos[callee].ops);
      info.depth = std::max(info.depth, infos[callee].depth + 1);
    }
    info.state = Info::Done;
    infos[function] = info;
    order.push_back(function);
  }

  static LogicalResult reportRecursion(func::CallOp call, func::FuncOp callee,
                                       ArrayRef<std::pair<func::FuncOp, size_t>> path) {
    InFlightDiagnostic diagnostic = call.emitError() << "recursive call cannot be inlined: ";
    const auto *from = llvm::find_if(path, [&](const auto &entry) { return entry.first == callee; });
    for (const auto &entry : llvm::make_range(from, path.end()))
      diagnostic << func::FuncOp(entry.first).getSymName() << " calls ";
    return diagnostic << callee.getSymName();
  }

  /// A few calls on each level of a call graph can create any number of ops: this is reported before memory runs out.
  LogicalResult checkSize() {
    uint64_t total = 0;
    func::FuncOp largest;
    for (func::FuncOp function : order) {
      const Info &info = infos[function];
      if (info.depth > tt::ttcore::maxCallDepth)
        return function.emitError() << "'" << function.getSymName() << "' makes calls " << info.depth
                                    << " deep; expected at most " << tt::ttcore::maxCallDepth;
      if (info.calls.empty())
        continue;
      total = llvm::SaturatingAdd(total, info.ops);
      if (!largest || infos[largest].ops < info.ops)
        largest = function;
    }
    if (total <= static_cast<uint64_t>(std::max<int64_t>(maxOps, 0)))
      return success();
    return largest.emitError() << "'" << largest.getSymName() << "' has " << infos[largest].ops
                               << " ops when its calls are inlined, and all functions with calls " << total
                               << "; expected at most " << maxOps.getValue() << " (max-ops of ttir-inline-functions)";
  }

  DenseMap<Operation *, Info> infos;
  SmallVector<func::FuncOp> order;
};
} // namespace
