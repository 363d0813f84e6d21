//===- Composites.cpp - ops as several that cores have --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Composites.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormInferenceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitcastConvertOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseNotOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampTensorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatenateHeadsOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumSumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Exp2Op.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FracOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GetDimensionSizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GlobalAvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GroupNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexSelectOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LeakyReluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalRightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RearrangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RightShiftOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RollOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SeluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SignbitOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftmaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftsignOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SparseMatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SplitQueryKeyValueAndSplitHeadsOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SquareOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TruncOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Upsample2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"
#include "ttmlir/shapes/Rearrange.h"

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
/// The sign bit of the f32, which -0 and NaN have as well.
static Tensor valueOf(ttir::SignbitOp op, Expressions &e) {
  Tensor x = e(op.getInput()).as(e.builder.getF32Type());
  auto bits = x.type().clone(IntegerType::get(op.getContext(), 32, IntegerType::Signed));
  return e(ttir::BitcastConvertOp::create(e.builder, e.loc, bits, x.value)).less(0);
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
/// The sign is shifted in: for a negative number, the complement is shifted.
static Tensor valueOf(ttir::RightShiftOp op, Expressions &e) {
  RankedTensorType type = op.getType();
  const auto shifted = [&](Value value) {
    return e(ttir::LogicalRightShiftOp::create(e.builder, e.loc, type, value, op.getRhs()));
  };
  const auto complement = [&](Value value) {
    return e(ttir::BitwiseNotOp::create(e.builder, e.loc, value.getType(), value));
  };
  Tensor x = e(op.getLhs());
  return x.less(0).select(complement(shifted(complement(x.value).value).value), shifted(x.value));
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
  return softmax(x, x.dim(op.getDimension()), op.getNumericStable());
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

/// One value per channel, as a tensor of the rank of `x`.
static Tensor perChannel(Tensor channels, Tensor x, int64_t dim) {
  SmallVector<int64_t> shape(x.rank(), 1);
  shape[dim] = x.shape()[dim];
  return channels.wide().reshape(shape);
}

static Tensor valueOf(ttir::BatchNormInferenceOp op, Expressions &e) {
  Tensor x = e(op.getOperand()).wide();
  const int64_t dim = x.dim(op.getDimensionAttr().getInt());
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
  return ttir::reducedDims(op.getInput().getType().getRank(), op.getDimArgAttr());
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

/// Products of matrices and experts where the sparsity is not 0.
static Tensor valueOf(ttir::SparseMatmulOp op, Expressions &e) {
  Tensor a = e(op.getA()), b = e(op.getB()), live = e(op.getSparsity()).notEqual(0);
  const int64_t experts = b.shape()[1];
  if (!op.getIsInputASparse())
    a = a.reshape({a.shape()[0] * a.shape()[1], 1, a.shape()[2], a.shape()[3]});
  Tensor products = a.matmul(b, false, /*wide=*/true);
  live = live.as(products.type().getElementType()).reshape({live.type().getNumElements() / experts, experts, 1, 1});
  return live.select(products, e.full(0, products));
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

static Tensor valueOf(ttir::IndexOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  const int64_t dim = x.dim(op.getDimAttr().getInt());
  const auto position = [&](int64_t number) { return number < 0 ? number + x.shape()[dim] : number; };
  return x.slice(dim, position(op.getBeginAttr().getInt()), position(op.getEndAttr().getInt()),
                 op.getStepAttr().getInt());
}

/// Runs of `length` from `begin`, one every `stride` elements, the last one cut at the end.
static Tensor valueOf(ttir::IndexSelectOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  const auto numberOf = [](IntegerAttr attribute) { return attribute.getValue().getSExtValue(); };
  const int64_t dim = x.dim(numberOf(op.getDimAttr()));
  int64_t begin = numberOf(op.getBeginAttr());
  const int64_t size = x.shape()[dim], length = numberOf(op.getLengthAttr()),
                stride = op.getStrideAttr() ? numberOf(op.getStrideAttr()) : 0;
  SmallVector<Tensor> runs;
  do {
    runs.push_back(x.slice(dim, begin, std::min(begin + length, size), 1));
    begin += stride;
  } while (stride > 0 && begin < size);
  return e.concat(runs, dim);
}

static Tensor valueOf(ttir::RearrangeOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  const auto parsed = ::tt::shapes::rearrangement(std::string_view(op.getPattern()), x.shape());
  return x.permute(ArrayRef(parsed.order.data(), parsed.order.size())).reshape(op.getType().getShape());
}

static Tensor valueOf(ttir::RollOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  for (auto [shift, dimension] : llvm::zip_equal(op.getShifts(), op.getDims())) {
    const int64_t dim = x.dim(dimension), size = x.shape()[dim];
    const int64_t first = size == 0 ? 0 : ((size - shift % size) % size + size) % size;
    if (first != 0)
      x = e.concat({x.slice(dim, first, size, 1), x.slice(dim, 0, first, 1)}, dim);
  }
  return x;
}

/// A dimension as long as that of the result, each element between the two of `x` that are nearest to it.
static Tensor interpolated(Tensor x, int64_t dim, int64_t size, Operation *op) {
  Expressions &e = *x.e;
  const int64_t count = x.shape()[dim];
  if (size == count)
    return x;
  SmallVector<double> before, after, weights;
  for (int64_t i = 0; i < size; ++i) {
    const double at =
        std::max(0.0, (static_cast<double>(i) + 0.5) * static_cast<double>(count) / static_cast<double>(size) - 0.5);
    before.push_back(std::floor(at));
    after.push_back(std::min(std::floor(at) + 1, static_cast<double>(count - 1)));
    weights.push_back(at - std::floor(at));
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  std::swap(order[0], order[dim]);
  Tensor first = x.permute(order);
  SmallVector<int64_t> shape(first.shape());
  Tensor table = first.reshape({count, x.type().getNumElements() / count});
  auto at = [&](ArrayRef<double> rows) {
    return e.rowsAt(table, e.constant(RankedTensorType::get({size}, e.builder.getI32Type()), rows), op);
  };
  Tensor weight = e.constant(RankedTensorType::get({size, 1}, e.builder.getF32Type()), weights);
  Tensor sum = at(before) * (weight * -1 + 1) + at(after) * weight;
  shape[0] = size;
  return sum.reshape(shape).permute(order);
}

/// The nearest pixel, several times, or pixels between the nearest four.
static Tensor valueOf(ttir::Upsample2dOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  if (op.getMode() == "bilinear" && x.type().getNumElements()) {
    x = x.wide();
    for (unsigned dim : {1, 2})
      x = interpolated(x, dim, op.getType().getDimSize(dim), op);
    return x;
  }
  for (int64_t dim : {1, 2})
    if (const int64_t factor = op.getType().getDimSize(static_cast<unsigned>(dim)) / x.shape()[dim]; factor != 1)
      x = x.repeatInterleave(dim, factor);
  return x;
}

/// Query, key and value from one projection, or from one for queries and one for keys and values.
static SmallVector<Tensor> heads(ttir::SplitQueryKeyValueAndSplitHeadsOp op, Expressions &e, std::string &) {
  Tensor x = e(op.getInputTensor());
  const int64_t queries = op.getNumHeads(), pairs = op.getNumKvHeads().value_or(op.getNumHeads());
  const int64_t size = op.getValue().getType().getShape().back();
  Tensor other = op.getKvInputTensor() ? e(op.getKvInputTensor()) : x;
  int64_t begin = 0;
  const auto next = [&](Tensor from, int64_t count) {
    Tensor part = from.slice(2, begin, begin + count * size, 1);
    begin += count * size;
    return part.reshape({part.shape()[0], part.shape()[1], count, size}).permute({0, 2, 1, 3});
  };
  Tensor query = next(x, queries);
  if (op.getKvInputTensor())
    begin = 0;
  Tensor key = next(other, pairs), value = next(other, pairs);
  return {query, op.getTransposeKey() ? key.permute({0, 1, 3, 2}) : key, value};
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
  Tensor x = e(op.getOperand());
  const int64_t size = x.shape()[x.dim(op.getDimensionAttr().getInt())];
  return e.constant(op.getType(), SmallVector<double>(op.getType().getNumElements(), static_cast<double>(size)));
}

/// Each element joined with all before it along a dimension. Every step joins twice as many elements as the one before
/// it: infinities and NaN do not reach the elements before them, as they would in a product with a triangle of ones.
static Tensor scan(Tensor x, int64_t dim, double neutral, llvm::function_ref<Tensor(Tensor, Tensor)> join) {
  x = x.wide();
  const int64_t size = x.shape()[dim];
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<int64_t> before(x.rank(), 0), after(x.rank(), 0);
    before[dim] = step;
    x = join(x.slice(dim, 0, size - step, 1).pad(before, after, neutral), x);
  }
  return x;
}
static Tensor valueOf(ttir::CumSumOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  return scan(x, x.dim(op.getDimAttr().getInt()), 0, [](Tensor before, Tensor x) { return before + x; });
}
static Tensor valueOf(ttir::CumProdOp op, Expressions &e) {
  Tensor x = e(op.getInput());
  return scan(x, x.dim(op.getDimAttr().getInt()), 1, [](Tensor before, Tensor x) { return before * x; });
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// Returns the part of an op that its expression does not support.
template <class OpT> static StringRef refusalOf(OpT) { return {}; }
template <> StringRef refusalOf(ttir::IndexSelectOp op) {
  const int64_t dim = op.getDimAttr().getValue().getSExtValue(), begin = op.getBeginAttr().getValue().getSExtValue();
  ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  const bool isInside = begin >= 0 && begin < shape[dim < 0 ? dim + shape.size() : dim] &&
                        op.getLengthAttr().getValue().getSExtValue() >= 1;
  return isInside ? StringRef() : "its runs begin outside, or have no elements";
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

template <class OpT> static SmallVector<Tensor> resultsOf(OpT op, Expressions &e, std::string &refusal) {
  refusal = refusalOf(op).str();
  return refusal.empty() ? SmallVector<Tensor>{valueOf(op, e)} : SmallVector<Tensor>();
}

template <class... OpT> static void addAll(CompositeTable &table) { (addComposite<OpT>(table, resultsOf<OpT>), ...); }

const CompositeTable &mlir::tt::composites() {
  static const CompositeTable table = [] {
    CompositeTable created;
    addComposite<ttir::SplitQueryKeyValueAndSplitHeadsOp>(created, heads);
    addAll<ttir::CumProdOp, ttir::IndexSelectOp, ttir::RearrangeOp, ttir::RightShiftOp, ttir::Upsample2dOp,
           ttir::ArangeOp, ttir::BatchNormInferenceOp, ttir::ClampTensorOp, ttir::ConcatenateHeadsOp, ttir::CumSumOp,
           ttir::DotGeneralOp, ttir::EmptyOp, ttir::GetDimensionSizeOp, ttir::Exp2Op, ttir::FracOp,
           ttir::GlobalAvgPool2dOp, ttir::GroupNormOp, ttir::IndexOp, ttir::LayerNormOp, ttir::LeakyReluOp,
           ttir::RMSNormOp, ttir::ReduceAndOp, ttir::ReduceOrOp, ttir::RollOp, ttir::SeluOp, ttir::SignbitOp,
           ttir::SoftmaxOp, ttir::SoftsignOp, ttir::SparseMatmulOp, ttir::SquareOp, ttir::TruncOp>(created);
    addAttentionComposites(created);
    addQuantizationComposites(created);
    addSelectionComposites(created);
    addTrainingComposites(created);
    addWindowComposites(created);
    return created;
  }();
  return table;
}

SmallVector<Value> mlir::tt::expanded(Operation *op, const Composite &composite, Expressions &e, std::string &refusal) {
  SmallVector<Value> values;
  SmallVector<Tensor> results = composite(op, e, refusal);
  if (results.empty())
    return values;
  for (auto [value, result] : llvm::zip_equal(results, op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    values.push_back(value.as(type.getElementType()).reshape(type.getShape()).value);
  }
  return values;
}
