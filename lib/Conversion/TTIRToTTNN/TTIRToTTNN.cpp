//===- TTIRToTTNN.cpp - the lowering of TTIR to TTNN ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/Frontends.h"
#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ToLayoutOp.h"

#include "Patterns.h"

#include "ttmlir/Dialect/Debug/IR/Debug.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTIRTOTTNN
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static RewritePatternSet allPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  addDecompositionPatterns(patterns);
  addElementwisePatterns(patterns);
  addExpertPatterns(patterns);
  addMeshPatterns(patterns);
  addNormalizationPatterns(patterns);
  addSelectionPatterns(patterns);
  addShapePatterns(patterns);
  addTrainingPatterns(patterns);
  addWindowPatterns(patterns);
  // For ops that have none of the above.
  addRows(patterns);
  return patterns;
}

std::string ttnn::ttirLowering(StringRef op, MLIRContext *context) {
  RewritePatternSet patterns = allPatterns(context);
  if (std::optional<std::string> made = loweringOf(op, patterns))
    return *made;
  std::optional<RegisteredOperationName> from = RegisteredOperationName::lookup(op, context),
                                         to = sameName(op.split('.').second, context);
  auto isKnown = [&](StringAttr attribute) { return llvm::is_contained(to->getAttributeNames(), attribute); };
  return from && to && llvm::all_of(from->getAttributeNames(), isKnown) ? to->getStringRef().str() : std::string();
}

/// The destination of a to_layout is only a type: such an empty tensor is erased when no to_layout names it any more.
static bool isDestination(Operation *op) {
  return isa<ttir::EmptyOp>(op) && llvm::all_of(op->getUses(), [](OpOperand &use) {
           auto change = dyn_cast<ttir::ToLayoutOp>(use.getOwner());
           return change && use.get() == change.getOutput() && use.get() != change.getInput();
         });
}

static bool hasLayouts(Operation *op) {
  auto hasLayout = [](Type type) { return !isa<RankedTensorType>(type) || TTNNLayoutAttr::of(type); };
  return llvm::all_of(op->getOperandTypes(), hasLayout) && llvm::all_of(op->getResultTypes(), hasLayout);
}

namespace {
struct ConvertTTIRToTTNN : mlir::tt::impl::ConvertTTIRToTTNNBase<ConvertTTIRToTTNN> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = FrozenRewritePatternSet(allPatterns(context));
    return success();
  }

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addLegalDialect<TTNNDialect, ttcore::TTCoreDialect, debug::DebugDialect>();
    target.addLegalOp<ModuleOp, func::FuncOp, func::ReturnOp>();
    // Conditions that patterns assume; they decide on all other ops of the dialect.
    target.addDynamicallyLegalDialect<ttir::TTIRDialect>([](Operation *op) -> std::optional<bool> {
      return !hasLayouts(op) || isDestination(op) ? std::optional(true) : std::nullopt;
    });
    SmallVector<StringLiteral> inherited(std::begin(ttcore::requestNames), std::end(ttcore::requestNames));
    inherited.push_back(ttcore::mergedName);
    Refusals refusals = convertAll(getOperation(), target, patterns, inherited);
    if (reportLeftOver(target, refusals))
      signalPassFailure();
  }

private:
  /// Reports every op that a program on the device cannot contain.
  bool reportLeftOver(const ConversionTarget &target, const Refusals &refusals) {
    bool any = false;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      // Ops of the host are not part of it.
      if (isa<ttcore::CPUModuleOp>(op))
        return WalkResult::skip();
      // A remaining one belongs to a to_layout that is reported itself.
      if (isDestination(op)) {
        if (op->use_empty())
          op->erase();
        return WalkResult::skip();
      }
      StringRef dialect = op->getName().getDialectNamespace();
      const bool isTTIR = dialect == ttir::TTIRDialect::getDialectNamespace();
      if (!isTTIR && target.isLegal(op))
        return WalkResult::advance();
      any = true;
      InFlightDiagnostic diagnostic = op->emitError() << "'" << op->getName() << "' is not lowered to TTNN: ";
      auto refusal = refusals.find(op);
      if (isTTIR && !hasLayouts(op))
        diagnostic << "it has a tensor without a #ttnn.ttnn_layout; run ttnn-layout first";
      else if (refusal != refusals.end())
        diagnostic << refusal->second;
      else if (auto call = dyn_cast<func::CallOp>(op))
        diagnostic << "a program on the device has no calls; '" << call.getCallee() << "' was not inlined";
      else
        diagnostic << "ops of dialect '" << dialect << "' are not TTIR";
      if (const ttcore::Frontend *frontend = ttcore::frontendOf(dialect))
        diagnostic << "; run " << frontend->pass << " first";
      return WalkResult::advance();
    });
    return any;
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
