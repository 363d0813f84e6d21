//===- Simplify.cpp - what does nothing, and what constants say -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Evaluate.h"

#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOAGGRESSIVEFOLDER
#define GEN_PASS_DEF_STABLEHLOAGGRESSIVESIMPLIFICATION
#define GEN_PASS_DEF_STABLEHLOTARGETINDEPENDENTOPTIMIZATION
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

//===----------------------------------------------------------------------===//
// Ops that return an existing value
//===----------------------------------------------------------------------===//

/// The number of a splat constant, or null.
static Attribute numberOf(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() ? constant.getSplatValue<Attribute>()
                                                                          : Attribute();
}

static bool isInt(Value value, int64_t number) {
  auto found = dyn_cast_if_present<IntegerAttr>(numberOf(value));
  return found && found.getValue() == APInt(found.getValue().getBitWidth(), number, /*isSigned=*/true,
                                            /*implicitTrunc=*/true);
}

/// x, of `op(x, constant)` where the constant changes nothing; a commutative op has its constants last. Zeros have
/// signs: x + -0 is x, and x - 0, but not x + 0.
static Value withoutNeutral(Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (auto neutral = dyn_cast<NeutralOpInterface>(op)) {
    const NeutralNumbers numbers = neutral.getNumbers();
    Attribute number = numberOf(b);
    if (numbers.isNeutral(number))
      return a;
    // An absorbing operand is the result.
    if (numbers.isAbsorbing(number))
      return b;
  }
  return op->hasTrait<trait::KeepsEqual>() && a == b ? a : Value();
}

static bool isCounting(ArrayRef<int64_t> numbers) {
  return llvm::all_of(llvm::enumerate(numbers),
                      [](auto pair) { return pair.value() == static_cast<int64_t>(pair.index()); });
}

/// The value to which the one result of an op is equal, or null. If types differ, there is none.
static Value existingValue(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<stablehlo::NegOp, stablehlo::NotOp>([](Operation *op) -> Value {
        Operation *inner = op->getOperand(0).getDefiningOp();
        return inner && inner->getName() == op->getName() ? inner->getOperand(0) : Value();
      })
      .Case([](stablehlo::SelectOp op) -> Value {
        if (op.getOnTrue() == op.getOnFalse() || isInt(op.getPred(), -1))
          return op.getOnTrue();
        return isInt(op.getPred(), 0) ? op.getOnFalse() : Value();
      })
      .Case<stablehlo::ConvertOp, stablehlo::ReshapeOp, stablehlo::BitcastConvertOp>(
          [](Operation *op) { return op->getOperand(0); })
      .Case([](stablehlo::BroadcastInDimOp op) {
        return isCounting(op.getBroadcastDimensions()) ? op.getOperand() : Value();
      })
      .Case([](stablehlo::TransposeOp op) -> Value {
        if (isCounting(op.getPermutation()))
          return op.getOperand();
        auto inner = op.getOperand().getDefiningOp<stablehlo::TransposeOp>();
        return inner && isCounting(applyPermutation(inner.getPermutation(), op.getPermutation())) ? inner.getOperand()
                                                                                                  : Value();
      })
      .Case([](stablehlo::ReverseOp op) -> Value {
        auto type = cast<RankedTensorType>(op.getType());
        return llvm::all_of(op.getDimensions(), [&](int64_t d) { return type.getDimSize(d) == 1; }) ? op.getOperand()
                                                                                                    : Value();
      })
      .Case([](stablehlo::SliceOp op) -> Value {
        // With the type of its operand, which is compared below, it takes all of it.
        return cast<RankedTensorType>(op.getType()).hasStaticShape() ? op.getOperand() : Value();
      })
      .Case([](stablehlo::PadOp op) -> Value {
        auto isZero = [](int64_t n) { return n == 0; };
        return llvm::all_of(op.getEdgePaddingLow(), isZero) && llvm::all_of(op.getEdgePaddingHigh(), isZero) &&
                       llvm::all_of(op.getInteriorPadding(), isZero)
                   ? op.getOperand()
                   : Value();
      })
      .Case([](stablehlo::ConcatenateOp op) { return op->getNumOperands() == 1 ? op->getOperand(0) : Value(); })
      .Case([](stablehlo::GetTupleElementOp op) -> Value {
        auto tuple = op->getOperand(0).getDefiningOp<stablehlo::TupleOp>();
        return tuple ? tuple->getOperand(op.getIndex()) : Value();
      })
      .Default([](Operation *op) { return op->getNumOperands() == 2 ? withoutNeutral(op) : Value(); });
}

namespace {
struct ReplaceByExisting : RewritePattern {
  explicit ReplaceByExisting(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0)
      return failure();
    Value value = existingValue(op);
    if (!value || value.getType() != op->getResult(0).getType())
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// Constants last, so that patterns look for them in one place.
struct ConstantsLast : RewritePattern {
  explicit ConstantsLast(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::IsCommutative>() || op->getNumOperands() != 2 ||
        !isa<stablehlo::StablehloDialect>(op->getDialect()) || !matchPattern(op->getOperand(0), m_Constant()) ||
        matchPattern(op->getOperand(1), m_Constant()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      Value first = op->getOperand(0);
      op->setOperand(0, op->getOperand(1));
      op->setOperand(1, first);
    });
    return success();
  }
};

/// The operand of the previous op, for an op that implies all effects of the previous one.
struct MergeReshapes : OpRewritePattern<stablehlo::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<stablehlo::ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<stablehlo::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<stablehlo::TransposeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::TransposeOp>(op, op.getType(), inner.getOperand(),
                                                        applyPermutation(inner.getPermutation(), op.getPermutation()));
    return success();
  }
};

struct MergeBroadcasts : OpRewritePattern<stablehlo::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(
        op, op.getType(), inner.getOperand(),
        applyPermutation(op.getBroadcastDimensions(), inner.getBroadcastDimensions()));
    return success();
  }
};

/// Operands without elements add nothing.
struct DropEmptyParts : OpRewritePattern<stablehlo::ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value operand : op.getInputs())
      if (cast<RankedTensorType>(operand.getType()).getDimSize(op.getDimension()) != 0)
        parts.push_back(operand);
    if (parts.empty() || parts.size() == op->getNumOperands())
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ConcatenateOp>(op, op.getType(), parts, op.getDimension());
    return success();
  }
};

/// Replaces the op by the branch that is known to run.
struct TakeBranch : RewritePattern {
  explicit TakeBranch(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
      return failure();
    auto index = dyn_cast_if_present<IntegerAttr>(numberOf(op->getOperand(0)));
    if (!index)
      return failure();
    int64_t branch = index.getValue().getSExtValue();
    if (isa<stablehlo::IfOp>(op))
      branch = branch ? 0 : 1;
    else if (branch < 0 || branch >= static_cast<int64_t>(op->getNumRegions()))
      branch = op->getNumRegions() - 1; // what is no branch is the last
    Block &body = op->getRegion(branch).front();
    Operation *terminator = body.getTerminator();
    SmallVector<Value> results(terminator->getOperands());
    rewriter.eraseOp(terminator);
    rewriter.inlineBlockBefore(&body, op);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct Fold : RewritePattern {
  Fold(MLIRContext *context, EvaluationLimits limits)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), limits(limits) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    DenseElementsAttr value = evaluate(op, limits);
    if (!value)
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, value);
    return success();
  }

private:
  EvaluationLimits limits;
};

/// A call that declares no side effect.
struct DropUnusedCall : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getHasSideEffect() || op.getNumResults() == 0 || !op.use_empty())
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

template <class... OpT> void addCanonicalizations(RewritePatternSet &patterns) {
  (OpT::getCanonicalizationPatterns(patterns, patterns.getContext()), ...);
}

void addSimplifications(RewritePatternSet &patterns) {
  patterns.add<ConstantsLast, DropEmptyParts, MergeBroadcasts, MergeReshapes, MergeTransposes, ReplaceByExisting,
               TakeBranch>(patterns.getContext());
  addCanonicalizations<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicConvOp, stablehlo::DynamicGatherOp,
                       stablehlo::DynamicIotaOp, stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp,
                       stablehlo::RealDynamicSliceOp>(patterns);
}

LogicalResult apply(func::FuncOp function, const FrozenRewritePatternSet &patterns) {
  // Patterns say what is folded.
  GreedyRewriteConfig config;
  config.enableConstantCSE(false);
  return applyPatternsGreedily(function, patterns, config);
}

struct AggressiveFolder : shlo::impl::StablehloAggressiveFolderBase<AggressiveFolder> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Fold>(&getContext(), EvaluationLimits{foldOpElementLimit, optimizeFloat});
    if (assumeNoUndeclaredSideEffects)
      patterns.add<DropUnusedCall>(&getContext());
    if (failed(apply(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct AggressiveSimplification : shlo::impl::StablehloAggressiveSimplificationBase<AggressiveSimplification> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addSimplifications(patterns);
    patterns.add<Fold>(&getContext(), EvaluationLimits{foldOpElementLimit, /*withFloats=*/true, /*onlyMoves=*/true});
    if (failed(apply(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct TargetIndependent : shlo::impl::StablehloTargetIndependentOptimizationBase<TargetIndependent> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addSimplifications(patterns);
    patterns.add<Fold>(&getContext(), EvaluationLimits{foldOpElementLimit, optimizeFloat});
    if (assumeNoUndeclaredSideEffects)
      patterns.add<DropUnusedCall>(&getContext());
    if (failed(apply(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
