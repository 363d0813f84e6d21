//===- DataMovement.cpp - fusion of ops that move values ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatInterleaveOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

namespace {
/// A dimension of size 1 that is added after another, broadcast, and merged with it: [b, h, s, d] to [b, h, 1, s, d],
/// [b, h, n, s, d] and [b, h * n, s, d].
struct FuseRepetition : Fusion<ReshapeOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Group group(state, op);
    Value repeated = op.getInput();
    ArrayRef<int64_t> factors;
    if (auto broadcast = group.take<BroadcastOp>(repeated))
      factors = broadcast.getBroadcastDimensions();
    else if (auto repeat = group.take<RepeatOp>(repeated))
      factors = repeat.getRepeatDimensions();
    auto isFactor = [](int64_t factor) { return factor != 1; };
    if (llvm::count_if(factors, isFactor) != 1)
      return rewriter.notifyMatchFailure(op, "does not follow a broadcast of one dimension");
    Value given = repeated.getDefiningOp()->getOperand(0);
    const int64_t dim = llvm::find_if(factors, isFactor) - factors.begin(), factor = factors[dim];
    ArrayRef<int64_t> shape = tensorType(given).getShape();
    if (dim == 0 || factor < 1 || !llvm::isUInt<32>(factor) || shape.size() != factors.size() || shape[dim] != 1 ||
        tensorType(given).getElementType() != op.getType().getElementType())
      return rewriter.notifyMatchFailure(op, "does not broadcast a dimension of size 1 behind another");
    SmallVector<int64_t> before(shape);
    before.erase(before.begin() + dim);
    SmallVector<int64_t> joined(before);
    joined[dim - 1] *= factor;
    Value input = group.shaped(given);
    if (ArrayRef(joined) != op.getType().getShape() || tensorType(input).getShape() != ArrayRef(before) ||
        !group.isClosed())
      return rewriter.notifyMatchFailure(op, "does not join the dimension with the one before it");
    rewriter.replaceOpWithNewOp<RepeatInterleaveOp>(op, op.getType(), input, static_cast<uint32_t>(factor),
                                                    static_cast<int32_t>(dim - 1));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Slices of products
//===----------------------------------------------------------------------===//

/// Applies to `value` the slice of one dimension.
static Value sliceLike(PatternRewriter &rewriter, SliceStaticOp slice, int64_t from, Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<int32_t> begins(shape.size(), 0), ends(shape.begin(), shape.end()), step(shape.size(), 1);
  auto at = [&](ArrayAttr numbers) { return static_cast<int32_t>(cast<IntegerAttr>(numbers[from]).getInt()); };
  begins[dim] = at(slice.getBegins());
  ends[dim] = at(slice.getEnds());
  step[dim] = at(slice.getStep());
  shape[dim] = slice.getType().getShape()[from];
  return SliceStaticOp::create(rewriter, ttcore::withoutSourceNumber(slice.getLoc()), type.clone(shape), value,
                               rewriter.getI32ArrayAttr(begins), rewriter.getI32ArrayAttr(ends),
                               rewriter.getI32ArrayAttr(step));
}

namespace {
/// Rows or columns of a product are the product of these rows of its left or columns of its right operand.
struct FuseSliceOfProduct : Fusion<SliceStaticOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(SliceStaticOp slice, PatternRewriter &rewriter) const override {
    if (auto product = state.only<MatmulOp>(slice.getInput()))
      return slicedOperands(slice, product, Value(), rewriter);
    if (auto product = state.only<LinearOp>(slice.getInput()))
      return slicedOperands(slice, product, product.getBias(), rewriter);
    return rewriter.notifyMatchFailure(slice, "takes no part of a product that nothing else uses");
  }

private:
  template <class Op>
  static LogicalResult slicedOperands(SliceStaticOp slice, Op product, Value bias, PatternRewriter &rewriter) {
    ArrayRef<int64_t> whole = product.getType().getShape(), part = slice.getType().getShape();
    const int64_t rank = whole.size();
    Value a = product.getA(), b = product.getB();
    if (rank < 2 || tensorType(a).getRank() < 2 || tensorType(b).getRank() < 2 ||
        product.getType().getElementType() != slice.getType().getElementType() || product.getType().getEncoding())
      return rewriter.notifyMatchFailure(slice, "is no part of a product of matrices");
    if (whole.drop_back(2) != part.drop_back(2) || whole == part)
      return rewriter.notifyMatchFailure(slice, "takes no rows or columns");
    // A product of one row or column of which a bias has more stays unchanged.
    auto take = [&](int64_t from, Value side, int64_t dim) {
      if (whole[from] == part[from])
        return side;
      Value taken = tensorType(side).getDimSize(dim) == 1 ? side : sliceLike(rewriter, slice, from, side, dim);
      bias = slicedBias(rewriter, slice, from, bias);
      return taken;
    };
    a = take(rank - 2, a, tensorType(a).getRank() - (product.getTransposeA() ? 1 : 2));
    b = take(rank - 1, b, tensorType(b).getRank() - (product.getTransposeB() ? 2 : 1));
    SmallVector<Value> operands = {a, b};
    if (bias)
      operands.push_back(bias);
    rewriter.replaceOpWithNewOp<Op>(slice, TypeRange(slice.getType()), ValueRange(operands),
                                    llvm::to_vector(product->getAttrs()));
    return success();
  }

  /// The part of a bias that broadcasts to the whole result.
  static Value slicedBias(PatternRewriter &rewriter, SliceStaticOp slice, int64_t from, Value bias) {
    if (!bias)
      return bias;
    const int64_t dim = from - slice.getType().getRank() + tensorType(bias).getRank();
    return dim < 0 || tensorType(bias).getShape()[dim] == 1 ? bias : sliceLike(rewriter, slice, from, bias, dim);
  }
};
} // namespace

void ttir::populateMovementFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseRepetition>(patterns.getContext(), state);
  if (state.options.permuteSliceAfterMatmulEnabled)
    patterns.add<FuseSliceOfProduct>(patterns.getContext(), state);
}
