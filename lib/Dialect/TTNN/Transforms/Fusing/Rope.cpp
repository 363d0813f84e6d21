//===- Rope.cpp - recognition of decomposed rotary embeddings -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTNN/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/NegOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/RotaryEmbeddingOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/SliceStaticOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether a slice takes the first, or the last, half of the last dimension, and all of the others.
static bool isHalf(SliceStaticOp slice, bool last) {
  ArrayRef<int64_t> shape = typeOf(slice.getInput()).getShape();
  auto is = [](ArrayAttr numbers, size_t dim, int64_t expected) {
    return cast<IntegerAttr>(numbers[dim]).getInt() == expected;
  };
  for (auto [dim, size] : llvm::enumerate(shape)) {
    const bool halved = dim + 1 == shape.size();
    if (!is(slice.getBegins(), dim, halved && last ? size / 2 : 0) ||
        !is(slice.getEnds(), dim, halved && !last ? size / 2 : size) || !is(slice.getStep(), dim, 1))
      return false;
  }
  return !shape.empty() && shape.back() % 2 == 0;
}

/// One row for each position of `x`, the same for all heads.
static bool isTable(Value value, Value x) {
  RankedTensorType type = typeOf(value), whole = typeOf(x);
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type), expected = TTNNLayoutAttr::of(whole);
  return layout && expected && layout.getDataType() == expected.getDataType() && layout.isOnDevice() &&
         type.getRank() >= 2 && whole.getRank() >= 2 && type.getShape().take_back(2) == whole.getShape().take_back(2) &&
         llvm::all_of(type.getShape().drop_back(2), [](int64_t size) { return size == 1; });
}

namespace {
/// x * cos + concat(-x[d / 2 :], x[: d / 2]) * sin
struct FuseRope : OpRewritePattern<AddOp> {
  FuseRope(MLIRContext *context, ttcore::FusionState &state) : OpRewritePattern(context), state(state) {}

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      auto turned = state.only<MultiplyOp>(add->getOperand(i)), plain = state.only<MultiplyOp>(add->getOperand(1 - i));
      if (!turned || !plain)
        continue;
      for (unsigned j : {0, 1}) {
        Value x = turnedValue(turned->getOperand(j)), sin = turned->getOperand(1 - j);
        for (unsigned k : {0, 1}) {
          Value cos = plain->getOperand(1 - k);
          if (!x || plain->getOperand(k) != x || x.getType() != add.getType() || !isTable(cos, x) || !isTable(sin, x) ||
              !isa<FloatType>(typeOf(x).getElementType()))
            continue;
          if (!ttcore::mayFuse(turned, add) || !ttcore::mayFuse(plain, add))
            return rewriter.notifyMatchFailure(add, "products and sum compute in different ways");
          auto made =
              RotaryEmbeddingOp::create(rewriter, add.getLoc(), TypeRange(add.getType()), ValueRange{x, cos, sin});
          ttcore::passRequestsOn(add, made);
          rewriter.replaceOp(add, made);
          return success();
        }
      }
    }
    return rewriter.notifyMatchFailure(add, "adds no halves that are exchanged and turned");
  }

private:
  /// x, if `value` consists of its halves in the other order, the second of them negated.
  Value turnedValue(Value value) const {
    auto concat = state.only<ConcatOp>(value);
    if (!concat || concat.getInputs().size() != 2)
      return {};
    const int64_t rank = typeOf(concat).getRank(), dim = concat.getDim();
    auto neg = state.only<NegOp>(concat.getInputs()[0]);
    auto second = neg ? state.only<SliceStaticOp>(neg.getInput()) : SliceStaticOp();
    auto first = state.only<SliceStaticOp>(concat.getInputs()[1]);
    if (!first || !second || first.getInput() != second.getInput() || (dim != -1 && dim != rank - 1) ||
        !isHalf(first, /*last=*/false) || !isHalf(second, /*last=*/true))
      return {};
    return first.getInput();
  }

  ttcore::FusionState &state;
};
} // namespace

void ttnn::populateRopeFusions(RewritePatternSet &patterns, ttcore::FusionState &state) {
  patterns.add<FuseRope>(patterns.getContext(), state);
}
