//===- Fusing.cpp - broadcasts and lookups written out --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_STABLEHLOFUSING
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

/// The single value that is concatenated with itself, or null; sharded values are not changed.
static Value repeated(stablehlo::ConcatenateOp op) {
  if (!op || op->hasAttr(shardingName) || op->getNumOperands() == 0 || !llvm::all_equal(op->getOperands()))
    return {};
  Value value = op->getOperand(0);
  return typeOf(value).hasStaticShape() ? value : Value();
}

static SmallVector<int64_t> without(int64_t rank, int64_t dim) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim)
      dims.push_back(d);
  return dims;
}

/// Whether a reshape only inserts a dimension of size 1 here.
static bool insertsOne(stablehlo::ReshapeOp op, int64_t dim) {
  SmallVector<int64_t> shape(typeOf(op->getResult(0)).getShape());
  if (dim >= static_cast<int64_t>(shape.size()) || shape[dim] != 1)
    return false;
  shape.erase(shape.begin() + dim);
  return ArrayRef(shape) == typeOf(op->getOperand(0)).getShape();
}

namespace {
/// concatenate(x, x, ...), then a reshape that gives the copies a dimension of their own.
struct SplitCopies : OpRewritePattern<stablehlo::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto concat = op->getOperand(0).getDefiningOp<stablehlo::ConcatenateOp>();
    Value value = repeated(concat);
    if (!value || !concat->hasOneUse() || op->hasAttr(shardingName))
      return failure();
    const auto dim = static_cast<int64_t>(concat.getDimension());
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape.insert(shape.begin() + dim, static_cast<int64_t>(concat->getNumOperands()));
    if (ArrayRef(shape) != typeOf(op->getResult(0)).getShape())
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, op->getResult(0).getType(), value,
                                                             without(static_cast<int64_t>(shape.size()), dim));
    return success();
  }
};

/// concatenate(y, y, ...) along a dimension of size 1, which a reshape may have added.
struct CopiesOfOne : OpRewritePattern<stablehlo::ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op, PatternRewriter &rewriter) const override {
    Value value = repeated(op);
    const auto dim = static_cast<int64_t>(op.getDimension());
    if (!value || op->getNumOperands() < 2 || typeOf(value).getDimSize(dim) != 1)
      return failure();
    const int64_t rank = typeOf(value).getRank();
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
        reshape && !reshape->hasAttr(shardingName) && insertsOne(reshape, dim)) {
      value = reshape->getOperand(0);
      dims = without(rank, dim);
    }
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, op->getResult(0).getType(), value, dims);
    return success();
  }
};

/// Indices with a last dimension of size 1 for a single index.
struct GatherOfReshape : OpRewritePattern<stablehlo::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::GatherOp op, PatternRewriter &rewriter) const override {
    auto reshape = op->getOperand(1).getDefiningOp<stablehlo::ReshapeOp>();
    const int64_t last = typeOf(op->getOperand(1)).getRank() - 1;
    auto dims = op.getDimensionNumbers();
    if (!reshape || op->hasAttr(shardingName) || dims.getIndexVectorDim() != last || !insertsOne(reshape, last))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(1, reshape->getOperand(0)); });
    return success();
  }
};

struct StableHLOFusing : shlo::impl::StableHLOFusingBase<StableHLOFusing> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<CopiesOfOne, GatherOfReshape, SplitCopies>(context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (patterns.getOpSpecificNativePatterns().contains(op->getName()))
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    config.enableFolding(false);
    config.enableConstantCSE(false);
    (void)applyOpPatternsGreedily(ops, patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
