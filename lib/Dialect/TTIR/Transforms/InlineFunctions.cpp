//===- InlineFunctions.cpp - calls replaced by what they call -------------===//

#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRINLINEFUNCTIONS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;

namespace {
struct InlineFunctions : tt::ttir::impl::TTIRInlineFunctionsBase<InlineFunctions> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    states.clear(), called.clear(), kept.clear(), path.clear();
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(inlineCallsIn(function, symbols)))
        return signalPassFailure();
    if (called.empty())
      markAllAnalysesPreserved();
    for (func::FuncOp function : functions)
      if (function.isPrivate() && called.contains(function) && !kept.contains(function))
        symbols.erase(function);
  }

private:
  enum State { Unseen, Open, Done };

  /// Callees first, so that what is inlined has no calls left.
  LogicalResult inlineCallsIn(func::FuncOp function, SymbolTable &symbols) {
    if (states[function] == Done)
      return success();
    states[function] = Open;
    path.push_back(function.getSymName());
    SmallVector<func::CallOp> calls = collectCalls(function);
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      // What is only declared stays called; the conversion names it.
      if (!callee || callee.isExternal())
        continue;
      if (states[callee] == Open) {
        InFlightDiagnostic diagnostic = call.emitError() << "recursive call cannot be inlined: ";
        auto *from = llvm::find(path, callee.getSymName());
        llvm::interleave(llvm::make_range(from, path.end()), diagnostic, " calls ");
        return diagnostic << " calls " << callee.getSymName();
      }
      called.insert(callee);
      if (failed(inlineCallsIn(callee, symbols)))
        return failure();
      if (!callee.getBody().hasOneBlock()) {
        kept.insert(callee);
        return call.emitError() << "cannot inline '" << callee.getSymName() << "': it has "
                                << llvm::range_size(callee.getBody()) << " blocks; expected one";
      }
      inlineCall(call, callee);
    }
    path.pop_back();
    states[function] = Done;
    return success();
  }

  static SmallVector<func::CallOp> collectCalls(func::FuncOp function) {
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    return calls;
  }

  static void inlineCall(func::CallOp call, func::FuncOp callee) {
    OpBuilder builder(call);
    IRMapping mapping;
    Block &body = callee.getBody().front();
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      copy->walk([&](Operation *inner) { inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc())); });
    }
    for (auto [result, returned] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
    call.erase();
  }

  DenseMap<Operation *, State> states;
  DenseSet<Operation *> called, kept;
  SmallVector<StringRef> path;
};
} // namespace
