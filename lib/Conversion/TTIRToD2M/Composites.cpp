//===- Composites.cpp - ops as several that cores have --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"
#include "Patterns.h"
#include "Shapes.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormInferenceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampTensorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatenateHeadsOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumSumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Exp2Op.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FracOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GetDimensionSizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GlobalAvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GroupNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LeakyReluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SeluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftmaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftsignOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SquareOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TruncOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static Tensor truncated(Tensor x) { return x.less(0).select(x.ceil(), x.floor()); }

static Tensor valueOf(ttir::Exp2Op op, Expressions &e) { return e.full(2, e(op.getInput())).pow(e(op.getInput())); }
static Tensor valueOf(ttir::FracOp op, Expressions &e) { return e(op.getInput()) - truncated(e(op.getInput())); }
static Tensor valueOf(ttir::TruncOp op, Expressions &e) { return truncated(e(op.getInput())); }
static Tensor valueOf(ttir::SquareOp op, Expressions &e) { return e(op.getInput()) * e(op.getInput()); }
static Tensor valueOf(ttir::SoftsignOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  return x / (x.abs() + 1);
}
static Tensor valueOf(ttir::LeakyReluOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  return x.less(0).select(x * op.getParameter().convertToFloat(), x);
}
static Tensor valueOf(ttir::SeluOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  return x.less(0).select(x.expm1() * op.getAlpha().convertToFloat(), x) * op.getScale().convertToFloat();
}
static Tensor valueOf(ttir::ClampTensorOp op, Expressions &e) {
  return e(op.getInput()).maximum(e(op.getMin())).minimum(e(op.getMax()));
}

//===----------------------------------------------------------------------===//
// Softmax, norms
//===----------------------------------------------------------------------===//

static Tensor softmax(Tensor x, int64_t dim, bool isStable) {
  if (isStable)
    x = x - x.max({dim});
  Tensor powers = x.exp();
  return powers / powers.sum({dim});
}

static Tensor valueOf(ttir::SoftmaxOp op, Expressions &e) {
  Tensor x = e(op.getInput()).wide();
  const int64_t dim = op.getDimension();
  return softmax(x, dim < 0 ? dim + x.rank() : dim, op.getNumericStable());
}

/// The last dimensions, as many as the normalized shape has.
static SmallVector<int64_t> lastOf(Tensor x, size_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(x.rank() - static_cast<int64_t>(count), x.rank()));
}

static Tensor scaledAndMoved(Tensor x, Value weight, Value bias, Expressions &e) {
  if (weight)
    x = x * e(weight).wide();
  if (bias)
    x = x + e(bias).wide();
  return x;
}

static Tensor valueOf(ttir::RMSNormOp op, Expressions &e) {
  Tensor x = e(op.getInput()).wide();
  Tensor scale = ((x * x).mean(lastOf(x, op.getNormalizedShape().size())) + op.getEpsilon().convertToFloat()).rsqrt();
  return scaledAndMoved(x * scale, op.getWeight(), op.getBias(), e);
}

static Tensor normalized(Tensor x, ArrayRef<int64_t> dims, float epsilon) {
  Tensor centered = x - x.mean(dims);
  return centered * ((centered * centered).mean(dims) + epsilon).rsqrt();
}

static Tensor valueOf(ttir::LayerNormOp op, Expressions &e) {
  Tensor x = e(op.getInput()).wide();
  x = normalized(x, lastOf(x, op.getNormalizedShape().size()), op.getEpsilon().convertToFloat());
  return scaledAndMoved(x, op.getWeight(), op.getBias(), e);
}

/// A value per channel, as a tensor of the rank of `x`.
static Tensor perChannel(Tensor channels, Tensor x, int64_t dim) {
  SmallVector<int64_t> shape(x.rank(), 1);
  shape[dim] = x.shape()[dim];
  return channels.wide().reshape(shape);
}

static Tensor valueOf(ttir::BatchNormInferenceOp op, Expressions &e) {
  Tensor x = e(op.getOperand()).wide();
  const int64_t dim = op.getDimension();
  Tensor scale = perChannel(e(op.getScale()), x, dim) *
                 (perChannel(e(op.getVariance()), x, dim) + op.getEpsilon().convertToFloat()).rsqrt();
  return (x - perChannel(e(op.getMean()), x, dim)) * scale + perChannel(e(op.getOffset()), x, dim);
}

/// Per image and group of channels; the mask of padded channels is another form of the input.
static Tensor valueOf(ttir::GroupNormOp op, Expressions &e) {
  Tensor x = e(op.getInput()).wide();
  const auto channels = static_cast<int64_t>(op.getChannelDim()), groups = static_cast<int64_t>(op.getNumGroups());
  SmallVector<int64_t> shape(x.shape()), dims;
  shape[channels] /= groups;
  shape.insert(shape.begin() + channels, groups);
  for (int64_t dim = 1; dim < x.rank() + 1; ++dim)
    if (dim != channels)
      dims.push_back(dim);
  Tensor made = normalized(x.reshape(shape), dims, op.getEpsilon().convertToFloat()).reshape(x.shape());
  if (op.getWeight())
    made = made * perChannel(e(op.getWeight()), made, channels);
  if (op.getBias())
    made = made + perChannel(e(op.getBias()), made, channels);
  return made;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <class OpT> static SmallVector<int64_t> dimsOf(OpT op) {
  const int64_t rank = op.getInput().getType().getRank();
  SmallVector<int64_t> dims;
  if (ArrayAttr listed = op.getDimArgAttr())
    for (Attribute dim : listed) {
      const int64_t number = cast<IntegerAttr>(dim).getInt();
      dims.push_back(number < 0 ? number + rank : number);
    }
  return dims.empty() ? llvm::to_vector(llvm::seq<int64_t>(0, rank)) : dims;
}

static Tensor valueOf(ttir::ReduceOrOp op, Expressions &e) {
  return e(op.getInput()).notEqual(0).max(dimsOf(op)).reshape(op.getType().getShape());
}
static Tensor valueOf(ttir::ReduceAndOp op, Expressions &e) {
  return e(op.getInput()).equal(0).max(dimsOf(op)).equal(0).reshape(op.getType().getShape());
}
static Tensor valueOf(ttir::GlobalAvgPool2dOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  return x.mean({x.rank() - 3, x.rank() - 2});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Tensor valueOf(ttir::DotGeneralOp op, Expressions &e) {
  Tensor lhs = e(op.getLhs()), rhs = e(op.getRhs());
  SmallVector<int64_t> shape;
  // [batch, kept, contracted] and [batch, contracted, kept]
  const auto arranged = [&](Tensor x, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted, bool keptLast) {
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < x.rank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim))
        kept.push_back(dim);
    const auto count = [&](ArrayRef<int64_t> dims) {
      return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                             [&](int64_t n, int64_t dim) { return n * x.shape()[dim]; });
    };
    SmallVector<int64_t> order(batch);
    order.append(keptLast ? contracted.begin() : kept.begin(), keptLast ? contracted.end() : kept.end());
    order.append(keptLast ? kept.begin() : contracted.begin(), keptLast ? kept.end() : contracted.end());
    return x.permute(order).reshape({count(batch), count(keptLast ? contracted : ArrayRef<int64_t>(kept)),
                                     count(keptLast ? ArrayRef<int64_t>(kept) : contracted)});
  };
  Tensor a = arranged(lhs, op.getBatchDimsLhs(), op.getContractDimsLhs(), false);
  Tensor b = arranged(rhs, op.getBatchDimsRhs(), op.getContractDimsRhs(), true);
  return a.matmul(b).reshape(op.getType().getShape());
}

static Tensor valueOf(ttir::ScaledDotProductAttentionOp op, Expressions &e) {
  Tensor query = e(op.getQuery()), key = e(op.getKey()), value = e(op.getValue());
  const ArrayRef<int64_t> shape = query.shape();
  const int64_t groups = shape[1] / key.shape()[1];
  // Heads of keys and values for all their queries.
  if (groups != 1) {
    key = key.repeatInterleave(1, groups);
    value = value.repeatInterleave(1, groups);
  }
  const float scale = op.getScale() ? op.getScale()->convertToFloat() : 1 / std::sqrt(static_cast<float>(shape.back()));
  Tensor scores = query.matmul(key, /*transposeB=*/true, /*wide=*/true) * scale;
  if (op.getAttentionMask())
    scores = scores + e(op.getAttentionMask()).wide();
  if (op.getIsCausal()) {
    const int64_t rows = scores.shape()[2], columns = scores.shape()[3];
    SmallVector<double> mask;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        mask.push_back(column > row ? -std::numeric_limits<double>::infinity() : 0.0);
    scores = scores + e.constant(RankedTensorType::get({1, 1, rows, columns}, scores.type().getElementType()), mask);
  }
  return softmax(scores, 3, /*isStable=*/true).as(op.getType().getElementType()).matmul(value);
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

static Tensor valueOf(ttir::IndexOp op, Expressions &e) {
  return e(op.getInput()).slice(op.getDim(), op.getBegin(), op.getEnd(), op.getStep());
}

static Tensor valueOf(ttir::ConcatenateHeadsOp op, Expressions &e) {
  return e(op.getInput()).permute({0, 2, 1, 3}).reshape(op.getType().getShape());
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static Tensor valueOf(ttir::ArangeOp op, Expressions &e) {
  RankedTensorType type = op.getType();
  const auto dim = static_cast<unsigned>(op.getArangeDimension());
  int64_t behind = 1;
  for (unsigned later = dim + 1; later < type.getRank(); ++later)
    behind *= type.getDimSize(later);
  SmallVector<double> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(static_cast<double>(op.getStart() + i / behind % type.getDimSize(dim) * op.getStep()));
  return e.constant(type, values);
}
static Tensor valueOf(ttir::EmptyOp op, Expressions &e) {
  return e.constant(op.getType(), SmallVector<double>(op.getType().getNumElements(), 0));
}
static Tensor valueOf(ttir::GetDimensionSizeOp op, Expressions &e) {
  const int64_t size = op.getOperand().getType().getDimSize(op.getDimension());
  return e.constant(op.getType(), SmallVector<double>(op.getType().getNumElements(), static_cast<double>(size)));
}

/// A product with a triangle of ones.
static Tensor valueOf(ttir::CumSumOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  auto dim = static_cast<int64_t>(op.getDim());
  dim += dim < 0 ? x.rank() : 0;
  const int64_t size = x.shape()[dim];
  SmallVector<double> ones;
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size; ++column)
      ones.push_back(column >= row ? 1 : 0);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  std::swap(order[dim], order.back());
  Tensor last = x.permute(order);
  Tensor sums = last.reshape({x.type().getNumElements() / size, size})
                    .matmul(e.constant(RankedTensorType::get({size, size}, x.type().getElementType()), ones));
  return sums.reshape(last.shape()).permute(order);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// What an op has that its expression does not.
template <class OpT> static StringRef refusalOf(OpT) { return {}; }
template <> StringRef refusalOf(ttir::ScaledDotProductAttentionOp op) {
  if (op.getAttentionSink() || op.getSlidingWindowSize())
    return "it has an attention sink or a sliding window";
  if (op.getQuery().getType().getRank() != 4 ||
      op.getQuery().getType().getDimSize(1) % op.getKey().getType().getDimSize(1))
    return "it has another form than [batch, heads, length, size], with whole groups of queries for each head of keys";
  return {};
}
template <> StringRef refusalOf(ttir::BatchNormInferenceOp op) {
  return op.getDimension() < op.getOperand().getType().getRank() ? StringRef() : "its dimension is none of the input's";
}

template <> StringRef refusalOf(ttir::CumSumOp op) {
  if (!isa<FloatType>(op.getType().getElementType()))
    return "it has integers";
  return op.getType().getRank() ? StringRef() : "it has no dimensions";
}
template <> StringRef refusalOf(ttir::GroupNormOp op) {
  const auto channels = static_cast<int64_t>(op.getChannelDim());
  if (op.getInputMask())
    return "it has a mask";
  if (channels < 1 || channels >= op.getInput().getType().getRank() || op.getNumGroups() == 0 ||
      op.getInput().getType().getDimSize(static_cast<unsigned>(channels)) % static_cast<int64_t>(op.getNumGroups()))
    return "its channels are no whole groups";
  return {};
}

namespace {
/// An op is the value of an expression, in the op's type.
template <class OpT> struct LowerComposite : TilePattern<OpT> {
  using TilePattern<OpT>::TilePattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor, ConversionPatternRewriter &rewriter) const override {
    if (StringRef refusal = refusalOf(op); !refusal.empty())
      return notifyMatchFailure(rewriter, op, refusal);
    Expressions expressions(rewriter, op.getLoc());
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Tensor value = valueOf(op, expressions).as(type.getElementType());
    rewriter.replaceOp(op, value.reshape(type.getShape()).value);
    return success();
  }
};
} // namespace

template <class... OpT> static void addComposites(RewritePatternSet &patterns, const TileTypes &types) {
  patterns.add<LowerComposite<OpT>...>(types, patterns.getContext());
}

void tt::addCompositePatterns(RewritePatternSet &patterns, const TileTypes &types) {
  addComposites<ttir::ArangeOp, ttir::BatchNormInferenceOp, ttir::ClampTensorOp, ttir::ConcatenateHeadsOp,
                ttir::CumSumOp, ttir::DotGeneralOp, ttir::EmptyOp, ttir::GetDimensionSizeOp, ttir::Exp2Op, ttir::FracOp,
                ttir::GlobalAvgPool2dOp, ttir::GroupNormOp, ttir::IndexOp, ttir::LayerNormOp, ttir::LeakyReluOp,
                ttir::RMSNormOp, ttir::ReduceAndOp, ttir::ReduceOrOp, ttir::ScaledDotProductAttentionOp, ttir::SeluOp,
                ttir::SoftmaxOp, ttir::SoftsignOp, ttir::SquareOp, ttir::TruncOp>(patterns, types);
}
