//===- Branches.cpp - sums of convolutions of one image -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// The padding before the first row and column.
static std::array<int64_t, 2> paddingBefore(Conv2dOp conv) {
  std::array<int64_t, 4> sides = imageSides(conv.getPadding());
  return {sides[0], sides[1]};
}

/// [height, width] from one number for both, or each.
static std::array<int64_t, 2> perDimension(Attribute numbers) {
  if (auto number = dyn_cast<IntegerAttr>(numbers))
    return {number.getInt(), number.getInt()};
  ArrayRef<int32_t> each = cast<DenseI32ArrayAttr>(numbers).asArrayRef();
  return {each.front(), each.back()};
}

/// For each dimension of the window, the position in it at which the window of `small` begins; nothing if the window of
/// `large` does not contain it at every place of the image.
static std::optional<std::array<int64_t, 2>> positionIn(Conv2dOp large, Conv2dOp small) {
  ArrayRef<int64_t> outer = tensorType(large.getWeight()).getShape().take_back(2),
                    inner = tensorType(small.getWeight()).getShape().take_back(2);
  std::array<int64_t, 2> before = paddingBefore(large), other = paddingBefore(small),
                         step = perDimension(large.getDilation()), position;
  for (unsigned dim : {0, 1}) {
    const int64_t shift = before[dim] - other[dim];
    position[dim] = shift / step[dim];
    if (shift < 0 || shift % step[dim] != 0 || position[dim] + inner[dim] > outer[dim])
      return std::nullopt;
  }
  return position;
}

namespace {
/// conv2d(x, v) + conv2d(x, w) with constant weights, where one window contains the other: the branches of a block that
/// was trained with several. Images of one output size make equal steps over one image.
struct FuseBranches : Fusion<AddOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    auto lhs = state.only<Conv2dOp>(add.getLhs()), rhs = state.only<Conv2dOp>(add.getRhs());
    if (!lhs || !rhs || lhs == rhs || !areBranches(add, lhs, rhs))
      return rewriter.notifyMatchFailure(add, "adds no convolutions of one image with constant weights");
    std::optional<std::array<int64_t, 2>> position = positionIn(lhs, rhs);
    if (!position) {
      std::swap(lhs, rhs);
      position = positionIn(lhs, rhs);
    }
    if (!position)
      return rewriter.notifyMatchFailure(add, "neither window contains the other");
    const Location loc = ttcore::withoutSourceNumber(add.getLoc());
    RankedTensorType type = tensorType(lhs.getWeight());
    Value padded = rhs.getWeight();
    if (tensorType(padded).getShape() != type.getShape()) {
      SmallVector<int32_t> sizes(8, 0);
      for (unsigned dim : {0, 1}) {
        const unsigned at = 2 + dim;
        sizes[2 * at] = static_cast<int32_t>((*position)[dim]);
        sizes[2 * at + 1] =
            static_cast<int32_t>(type.getDimSize(at) - tensorType(padded).getDimSize(at) - (*position)[dim]);
      }
      padded =
          PadOp::create(rewriter, loc, type, padded, rewriter.getDenseI32ArrayAttr(sizes), rewriter.getF32FloatAttr(0));
    }
    SmallVector<Value> operands = {lhs.getInput(),
                                   AddOp::create(rewriter, loc, TypeRange(type), ValueRange{lhs.getWeight(), padded})};
    if (Value bias = sumOf(rewriter, loc, lhs.getBias(), rhs.getBias()))
      operands.push_back(bias);
    rewriter.replaceOpWithNewOp<Conv2dOp>(add, TypeRange(add.getType()), ValueRange(operands),
                                          llvm::to_vector(lhs->getAttrs()));
    return success();
  }

private:
  bool areBranches(AddOp add, Conv2dOp lhs, Conv2dOp rhs) const {
    NamedAttrList one(lhs->getAttrs()), other(rhs->getAttrs());
    for (NamedAttrList *each : {&one, &other})
      each->erase(lhs.getPaddingAttrName());
    auto isFixed = [&](Value value) { return !value || (!tensorType(value).getEncoding() && state.isConstant(value)); };
    return one == other && !lhs.getFlattenedCompatInfoAttr() && lhs.getInput() == rhs.getInput() &&
           haveSameType(lhs.getResult(), add.getResult()) && haveSameType(rhs.getResult(), add.getResult()) &&
           isFloat(add.getResult()) && isFloat(lhs.getWeight()) &&
           tensorType(lhs.getWeight()).getElementType() == tensorType(rhs.getWeight()).getElementType() &&
           tensorType(lhs.getWeight()).getShape().take_front(2) ==
               tensorType(rhs.getWeight()).getShape().take_front(2) &&
           isFixed(lhs.getWeight()) && isFixed(rhs.getWeight()) && isFixed(lhs.getBias()) && isFixed(rhs.getBias()) &&
           ttcore::mayJoin(add, lhs) && ttcore::mayFuse(lhs, rhs);
  }
  /// The sum of two biases in f32, either of which may be absent.
  static Value sumOf(PatternRewriter &rewriter, Location loc, Value lhs, Value rhs) {
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    RankedTensorType type = RankedTensorType::get(tensorType(lhs).getShape(), rewriter.getF32Type());
    return AddOp::create(rewriter, loc, TypeRange(type), ValueRange{lhs, rhs});
  }
};
} // namespace

void ttir::populateBranchFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseBranches>(patterns.getContext(), state);
}
