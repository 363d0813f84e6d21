//===- Composites.cpp - composites of ops, and calls of composites --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"

#include "mlir/Transforms/RegionUtils.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOLEGALIZECOMPOSITETOCALL
#define GEN_PASS_DEF_STABLEHLOWRAPINCOMPOSITE
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;

namespace {
struct LegalizeCompositeToCall : shlo::impl::StablehloLegalizeCompositeToCallBase<LegalizeCompositeToCall> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<stablehlo::CompositeOp> composites;
    getOperation().walk([&](stablehlo::CompositeOp composite) {
      if (!llvm::is_contained(except, composite.getName()))
        composites.push_back(composite);
    });
    if (composites.empty())
      return markAllAnalysesPreserved();
    for (stablehlo::CompositeOp composite : composites) {
      OpBuilder builder(composite);
      auto call = func::CallOp::create(builder, composite.getLoc(), composite.getDecomposition(),
                                       composite.getResultTypes(), composite.getOperands());
      composite->replaceAllUsesWith(call);
      composite->erase();
    }
  }
};

struct WrapInComposite : shlo::impl::StablehloWrapInCompositeBase<WrapInComposite> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> found;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        if (llvm::is_contained(opNames, op->getName().getStringRef()))
          found.push_back(op);
      });
    if (found.empty())
      return markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    for (Operation *op : found)
      if (failed(wrap(op, symbols)))
        signalPassFailure();
  }

private:
  LogicalResult wrap(Operation *op, SymbolTable &symbols) {
    SetVector<Value> captures;
    getUsedValuesDefinedAbove(op->getRegions(), captures);
    if (op->hasTrait<OpTrait::IsTerminator>() || !captures.empty())
      return op->emitOpError("cannot be wrapped in a composite: ")
             << (captures.empty() ? "it ends a block" : "its regions use values of outside");
    OpBuilder builder(op);
    auto type = builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    auto function = func::FuncOp::create(op->getLoc(), (op->getName().getStringRef() + ".impl").str(), type);
    function.setPrivate();
    symbols.insert(function);
    Block *body = function.addEntryBlock();
    auto composite =
        stablehlo::CompositeOp::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands(),
                                       builder.getStringAttr(op->getName().getStringRef()), op->getAttrDictionary(),
                                       FlatSymbolRefAttr::get(function), builder.getI32IntegerAttr(version), 0);
    op->replaceAllUsesWith(composite);
    op->setOperands(body->getArguments());
    op->moveBefore(body, body->end());
    OpBuilder end = OpBuilder::atBlockEnd(body);
    func::ReturnOp::create(end, op->getLoc(), op->getResults());
    return success();
  }
};
} // namespace
