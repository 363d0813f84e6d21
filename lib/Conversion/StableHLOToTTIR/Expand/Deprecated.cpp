//===- Deprecated.cpp - deprecated ops by those that replace them ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
//===----------------------------------------------------------------------===//
// Products by letters
//===----------------------------------------------------------------------===//

/// A tensor and a letter for each of its dimensions.
struct Lettered {
  Expr value;
  std::string letters;

  bool isPlain() const { return llvm::SmallSet<char, 8>(letters.begin(), letters.end()).size() == letters.size(); }
  void sumWithout(StringRef kept) {
    for (size_t i = letters.size(); i-- > 0;)
      if (!kept.contains(letters[i])) {
        SmallVector<int64_t> shape(value.shape());
        shape.erase(shape.begin() + static_cast<ptrdiff_t>(i));
        value = sum(value, static_cast<int64_t>(i)).reshape(shape);
        letters.erase(i, 1);
      }
  }
  void reorder(StringRef to) {
    SmallVector<int64_t> permutation;
    for (char letter : to)
      permutation.push_back(static_cast<int64_t>(letters.find(letter)));
    value = value.transpose(permutation);
    letters = to.str();
  }
};

bool isPermuted(StringRef a, StringRef b) {
  return a.size() == b.size() && llvm::all_of(a, [&](char letter) { return b.contains(letter); });
}

struct ExpandEinsum : OpRewritePattern<stablehlo::EinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::EinsumOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto [inputs, to] = op.getEinsumConfig().split("->");
    auto [left, right] = inputs.split(',');
    Lettered a{{builder, op.getLhs()}, left.str()}, b{{builder, op.getRhs()}, right.str()};
    if (op.getEinsumConfig().contains("...") || !a.isPlain() || !b.isPlain() ||
        llvm::any_of(to, [&](char letter) { return !left.contains(letter) && !right.contains(letter); }))
      return rewriter.notifyMatchFailure(op, "letters repeat, or stand for several dimensions");
    a.sumWithout((right + to).str());
    b.sumWithout((StringRef(a.letters) + to).str());
    SmallVector<int64_t> batchA, batchB, contractA, contractB;
    std::string batch, rest;
    SmallVector<int64_t> shape;
    for (auto [i, letter] : llvm::enumerate(a.letters)) {
      const size_t j = b.letters.find(letter);
      if (j == std::string::npos)
        continue;
      (to.contains(letter) ? batchA : contractA).push_back(static_cast<int64_t>(i));
      (to.contains(letter) ? batchB : contractB).push_back(static_cast<int64_t>(j));
      if (to.contains(letter)) {
        batch += letter;
        shape.push_back(a.value.size(static_cast<int64_t>(i)));
      }
    }
    for (const Lettered *operand : {&a, &b})
      for (auto [i, letter] : llvm::enumerate(operand->letters)) {
        const Lettered &other = operand == &a ? b : a;
        if (other.letters.find(letter) != std::string::npos)
          continue;
        rest += letter;
        shape.push_back(operand->value.size(static_cast<int64_t>(i)));
      }
    if (!isPermuted(batch + rest, to))
      return failure();
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(getContext(), batchA, batchB, contractA, contractB);
    Type element = typeOf(op.getResult()).getElementType();
    Value product =
        stablehlo::DotGeneralOp::create(builder, RankedTensorType::get(shape, element), a.value.value(),
                                        b.value.value(), numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
    Lettered result{{builder, product}, batch + rest};
    result.reorder(to);
    rewriter.replaceOp(op, result.value.value());
    return success();
  }
};

struct ExpandUnaryEinsum : OpRewritePattern<stablehlo::UnaryEinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::UnaryEinsumOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto [from, to] = op.getEinsumConfig().split("->");
    Lettered value{{builder, op.getOperand()}, from.str()};
    if (op.getEinsumConfig().contains("...") || !value.isPlain())
      return rewriter.notifyMatchFailure(op, "letters repeat, or stand for several dimensions");
    if (!llvm::all_of(to, [from = from](char letter) { return from.contains(letter); }))
      return failure();
    value.sumWithout(to);
    if (!isPermuted(value.letters, to))
      return failure();
    value.reorder(to);
    rewriter.replaceOp(op, value.value.value());
    return success();
  }
};

/// Batch dimensions of both tensors are batching dimensions of a gather.
struct ExpandTorchIndexSelect : OpRewritePattern<stablehlo::TorchIndexSelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TorchIndexSelectOp op, PatternRewriter &rewriter) const override {
    RankedTensorType operand = typeOf(op.getOperand()), index = typeOf(op.getIndex());
    const auto dim = static_cast<int64_t>(op.getDim()), batch = static_cast<int64_t>(op.getBatchDims());
    SmallVector<int64_t> batches = llvm::to_vector(llvm::seq(batch)), offsets, sizes(operand.getShape());
    for (int64_t d = 0, rank = typeOf(op.getResult()).getRank(); d < rank; ++d) {
      const bool ofIndex = d < batch || (d >= dim && d < dim + index.getRank() - batch);
      if (!ofIndex)
        offsets.push_back(d);
    }
    sizes[dim] = 1;
    for (int64_t d : batches)
      sizes[d] = 1;
    auto numbers = stablehlo::GatherDimensionNumbersAttr::get(getContext(), offsets, {dim}, batches, batches, {dim},
                                                              index.getRank());
    rewriter.replaceOpWithNewOp<stablehlo::GatherOp>(op, op.getType(), op.getOperand(), op.getIndex(), numbers, sizes,
                                                     /*indices_are_sorted=*/false);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Ops that are special cases of another
//===----------------------------------------------------------------------===//

struct ExpandBroadcast : OpRewritePattern<stablehlo::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BroadcastOp op, PatternRewriter &rewriter) const override {
    if (!typeOf(op.getResult()).hasStaticShape())
      return failure();
    const auto added = static_cast<int64_t>(op.getBroadcastSizes().size());
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(
        op, op.getType(), op.getOperand(), llvm::to_vector(llvm::seq(added, typeOf(op.getResult()).getRank())));
    return success();
  }
};

struct ExpandDot : OpRewritePattern<stablehlo::DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DotOp op, PatternRewriter &rewriter) const override {
    auto numbers =
        stablehlo::DotDimensionNumbersAttr::get(getContext(), {}, {}, {typeOf(op.getLhs()).getRank() - 1}, {0});
    rewriter.replaceOpWithNewOp<stablehlo::DotGeneralOp>(op, op.getType(), op.getLhs(), op.getRhs(), numbers,
                                                         op.getPrecisionConfigAttr(), stablehlo::DotAlgorithmAttr());
    return success();
  }
};

struct ExpandCreateToken : OpRewritePattern<stablehlo::CreateTokenOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CreateTokenOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<stablehlo::AfterAllOp>(op, op->getResultTypes(), ValueRange());
    return success();
  }
};

/// The deprecated name of a sum.
struct ExpandCrossReplicaSum : OpRewritePattern<stablehlo::CrossReplicaSumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CrossReplicaSumOp op, PatternRewriter &rewriter) const override {
    auto sum = stablehlo::AllReduceOp::create(rewriter, op.getLoc(), TypeRange(op.getType()),
                                              ValueRange(op.getOperand()), op.getReplicaGroups(),
                                              stablehlo::ChannelHandleAttr(), /*use_global_device_ids=*/false);
    Type scalar = RankedTensorType::get({}, typeOf(op.getOperand()).getElementType());
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&sum.getComputation(), {}, {scalar, scalar}, {op.getLoc(), op.getLoc()});
    Value added = stablehlo::AddOp::create(rewriter, op.getLoc(), scalar, body->getArguments());
    stablehlo::ReturnOp::create(rewriter, op.getLoc(), added);
    rewriter.replaceOp(op, sum);
    return success();
  }
};
} // namespace

void hlo::addDeprecatedExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandBroadcast, ExpandCreateToken, ExpandCrossReplicaSum, ExpandDot, ExpandEinsum,
               ExpandTorchIndexSelect, ExpandUnaryEinsum>(patterns.getContext());
}
