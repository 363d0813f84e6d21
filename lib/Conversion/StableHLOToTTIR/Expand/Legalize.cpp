//===- Legalize.cpp - ops of CHLO, of old and of new versions -------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The expansions that the lowering uses, on their own.
//
//===----------------------------------------------------------------------===//

#include "../Complex/Complex.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/Vhlo/IR/Table.h"

#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CHLOLEGALIZETOSTABLEHLO
#define GEN_PASS_DEF_LEGALIZESTABLEHLOCOMPOSITETOTTIR
#define GEN_PASS_DEF_STABLEHLOCOMPATIBILITYEXPANDER
#define GEN_PASS_DEF_STABLEHLOCOMPLEXMATHEXPANDER
#define GEN_PASS_DEF_STABLEHLOLEGALIZEDEPRECATEDOPS
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

/// StableHLO has sums and products of complex numbers.
bool isArithmetic(Operation *op) {
  return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp, stablehlo::DivOp, stablehlo::NegOp>(op);
}

/// A function of complex numbers, computed from their parts.
struct ExpandComplexMath : RewritePattern {
  ExpandComplexMath(MLIRContext *context, bool onlyChlo)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), onlyChlo(onlyChlo) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto isComplex = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && isa<ComplexType>(tensor.getElementType());
    };
    const bool isChlo = isa<chlo::ChloDialect>(op->getDialect());
    if (!isChlo && (onlyChlo || !isa<stablehlo::StablehloDialect>(op->getDialect())))
      return failure();
    if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !llvm::all_of(op->getOperandTypes(), isComplex) ||
        !isComplex(op->getResult(0).getType()) || isArithmetic(op))
      return failure();
    ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
    RankedTensorType type = typeOf(op->getResult(0));
    RankedTensorType part = type.clone(cast<ComplexType>(type.getElementType()).getElementType());
    SmallVector<Complex> operands;
    SmallVector<Operation *> created;
    for (Value operand : op->getOperands()) {
      Value re = make<stablehlo::RealOp>(builder, part, operand), im = make<stablehlo::ImagOp>(builder, part, operand);
      operands.push_back({{builder, re}, {builder, im}});
      created.append({re.getDefiningOp(), im.getDefiningOp()});
    }
    std::optional<Complex> result = complexFormula(op, operands);
    if (!result) {
      for (Operation *unused : created)
        rewriter.eraseOp(unused);
      return failure();
    }
    rewriter.replaceOp(op, make<stablehlo::ComplexOp>(builder, type, {result->re.value(), result->im.value()}));
    return success();
  }

private:
  bool onlyChlo;
};

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

/// The tangent of before 1.4.0.
struct ExpandOldTan : OpRewritePattern<stablehlo::TanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TanOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    rewriter.replaceOp(op, (x.apply<stablehlo::SineOp>() / x.apply<stablehlo::CosineOp>()).value());
    return success();
  }
};

/// Indices preceded by their own positions in batches, so that no dimension needs to be a batching dimension.
Value withBatches(ImplicitLocOpBuilder &builder, Value indices, ArrayRef<int64_t> batches, int64_t &vectorDim) {
  Expr given(builder, indices);
  SmallVector<int64_t> shape(given.shape());
  if (vectorDim == given.rank()) {
    shape.push_back(1);
    given = given.reshape(shape);
  }
  shape[vectorDim] = 1;
  SmallVector<Expr> parts;
  for (int64_t batch : batches)
    parts.push_back(Expr::iota(builder, given.type().clone(shape), batch));
  parts.push_back(given);
  return parts.front().concat(ArrayRef(parts).drop_front(), vectorDim).value();
}

SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b, bool isSorted) {
  SmallVector<int64_t> both(a);
  llvm::append_range(both, b);
  if (isSorted)
    llvm::sort(both);
  return both;
}

/// Batching dimensions were introduced in 1.1.0.
struct ExpandGatherBatches : OpRewritePattern<stablehlo::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::GatherOp op, PatternRewriter &rewriter) const override {
    stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    ArrayRef<int64_t> batches = numbers.getOperandBatchingDims();
    if (batches.empty() || !typeOf(op.getStartIndices()).hasStaticShape())
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    int64_t vectorDim = numbers.getIndexVectorDim();
    Value indices = withBatches(builder, op.getStartIndices(), numbers.getStartIndicesBatchingDims(), vectorDim);
    auto plain = stablehlo::GatherDimensionNumbersAttr::get(
        getContext(), numbers.getOffsetDims(), joined(batches, numbers.getCollapsedSliceDims(), true), {}, {},
        joined(batches, numbers.getStartIndexMap(), false), vectorDim);
    rewriter.modifyOpInPlace(op, [&] {
      op.getStartIndicesMutable().assign(indices);
      op.setDimensionNumbersAttr(plain);
    });
    return success();
  }
};

struct ExpandScatterBatches : OpRewritePattern<stablehlo::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, PatternRewriter &rewriter) const override {
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    ArrayRef<int64_t> batches = numbers.getInputBatchingDims();
    if (batches.empty() || !typeOf(op.getScatterIndices()).hasStaticShape())
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    int64_t vectorDim = numbers.getIndexVectorDim();
    Value indices = withBatches(builder, op.getScatterIndices(), numbers.getScatterIndicesBatchingDims(), vectorDim);
    auto plain = stablehlo::ScatterDimensionNumbersAttr::get(
        getContext(), numbers.getUpdateWindowDims(), joined(batches, numbers.getInsertedWindowDims(), true), {}, {},
        joined(batches, numbers.getScatterDimsToOperandDims(), false), vectorDim);
    rewriter.modifyOpInPlace(op, [&] {
      op.getScatterIndicesMutable().assign(indices);
      op.setScatterDimensionNumbersAttr(plain);
    });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The passes
//===----------------------------------------------------------------------===//

LogicalResult apply(Operation *root, const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  config.enableFolding(false);
  config.enableConstantCSE(false);
  return applyPatternsGreedily(root, patterns, config);
}

/// Reports the remaining ops, of which there should be none.
template <class F> LogicalResult refuseLeft(Operation *root, F isLeft, StringRef why) {
  bool any = false;
  root->walk([&](Operation *op) {
    if (!isLeft(op))
      return;
    op->emitOpError(why);
    any = true;
  });
  return failure(any);
}

struct ChloLegalize : tt::impl::ChloLegalizeToStablehloBase<ChloLegalize> {
  void runOnOperation() override {
    RewritePatternSet all(&getContext()), patterns(&getContext());
    addExpansions(all);
    addChloExpansions(all);
    for (std::unique_ptr<RewritePattern> &pattern : all.getNativePatterns())
      if (pattern->getRootKind() && isa_and_present<chlo::ChloDialect>(pattern->getRootKind()->getDialect()))
        patterns.add(std::move(pattern));
    patterns.add<ExpandComplexMath>(&getContext(), /*onlyChlo=*/true);
    auto isChlo = [](Operation *op) { return isa_and_present<chlo::ChloDialect>(op->getDialect()); };
    if (failed(apply(getOperation(), std::move(patterns))) ||
        failed(refuseLeft(getOperation(), isChlo,
                          "is not expressed in StableHLO; expected static shapes, and elements that it is made for")))
      signalPassFailure();
  }
};

struct LegalizeComposites : tt::impl::LegalizeStableHLOCompositeToTTIRBase<LegalizeComposites> {
  void runOnOperation() override {
    RewritePatternSet all(&getContext()), patterns(&getContext());
    addTenstorrentExpansions(all);
    addCallExpansions(all);
    for (std::unique_ptr<RewritePattern> &pattern : all.getNativePatterns())
      if (pattern->getRootKind() &&
          pattern->getRootKind()->getStringRef() == stablehlo::CompositeOp::getOperationName())
        patterns.add(std::move(pattern));
    FrozenRewritePatternSet frozen(std::move(patterns));
    SmallVector<StringAttr> decompositions;
    SmallVector<Operation *> composites;
    getOperation()->walk([&](stablehlo::CompositeOp op) {
      // Ops of TTIR have static shapes.
      if (!llvm::all_of(
              llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())),
              [](Type type) { return isa<RankedTensorType>(type) && cast<ShapedType>(type).hasStaticShape(); }))
        return;
      composites.push_back(op);
      decompositions.push_back(op.getDecompositionAttr().getAttr());
    });
    if (composites.empty())
      return markAllAnalysesPreserved();
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    config.enableFolding(false);
    config.enableConstantCSE(false);
    (void)applyOpPatternsGreedily(composites, frozen, config);
    for (StringAttr name : decompositions) {
      auto function = getOperation().lookupSymbol<func::FuncOp>(name);
      if (function && function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
    }
  }
};

struct LegalizeDeprecated : tt::impl::StablehloLegalizeDeprecatedOpsBase<LegalizeDeprecated> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addDeprecatedExpansions(patterns);
    if (failed(apply(getOperation(), std::move(patterns))))
      return signalPassFailure();
    auto isUnused = [](Operation *op) { return isa<stablehlo::MapOp, stablehlo::RngOp>(op); };
    if (failOnUnused && failed(refuseLeft(getOperation(), isUnused, "is deprecated, and no op stands for it")))
      signalPassFailure();
  }
};

struct ComplexMath : tt::impl::StablehloComplexMathExpanderBase<ComplexMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandComplexMath>(&getContext(), /*onlyChlo=*/false);
    if (failed(apply(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct Compatibility : tt::impl::StablehloCompatibilityExpanderBase<Compatibility> {
  using Base::Base;
  void runOnOperation() override {
    auto error = [&](const Twine &text) { getOperation().emitError(text); };
    FailureOr<vhlo::Version> version = vhlo::Version::parseTarget(target, error);
    if (failed(version))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    if (*version < vhlo::Version{1, 4, 0})
      patterns.add<ExpandOldTan>(&getContext());
    if (*version < vhlo::Version{1, 1, 0})
      patterns.add<ExpandGatherBatches, ExpandScatterBatches>(&getContext());
    if (failed(apply(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
