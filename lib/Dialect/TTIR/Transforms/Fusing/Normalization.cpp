//===- Normalization.cpp - recognition of decomposed norms and softmax ----===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DivOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ExpOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PowOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReciprocalOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RsqrtOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftmaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqrtOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SquareOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

/// One value, or two casts of one.
static bool areSame(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  auto first = lhs.getDefiningOp<TypecastOp>(), second = rhs.getDefiningOp<TypecastOp>();
  return first && second && first.getInput() == second.getInput() && lhs.getType() == rhs.getType();
}

static bool isSquare(Group &group, Value value, Value x) {
  if (auto square = group.take<SquareOp>(value))
    return areSame(square.getInput(), x);
  if (auto multiply = group.take<MultiplyOp>(value))
    return areSame(multiply.getLhs(), x) && areSame(multiply.getRhs(), x);
  auto pow = group.take<PowOp>(value);
  return pow && areSame(pow.getLhs(), x) && splat(pow.getRhs()) == 2.0;
}

/// Returns the summed value and its dimensions, if `value` is the mean over them.
static Value meanOf(Group &group, Value value, SmallVector<int64_t> &dims) {
  auto read = [&](auto op) {
    dims = reducedDims(tensorType(op.getInput()).getRank(), op.getDimArgAttr());
    return op.getInput();
  };
  if (auto mean = group.take<MeanOp>(value))
    return read(mean);
  auto sumOf = [&](Value sum, double factor) -> Value {
    auto op = group.take<SumOp>(group.shaped(sum));
    if (!op)
      return {};
    Value summed = read(op);
    double count = 1;
    for (int64_t dim : dims)
      count *= tensorType(summed).getShape()[dim];
    return std::abs(factor * count - 1) < 1e-6 ? summed : Value();
  };
  if (auto multiply = group.take<MultiplyOp>(value)) {
    for (unsigned i : {0, 1})
      if (std::optional<double> factor = splat(multiply->getOperand(i)))
        return sumOf(multiply->getOperand(1 - i), *factor);
  } else if (auto div = group.take<DivOp>(value)) {
    if (std::optional<double> count = splat(div.getRhs()); count && *count != 0)
      return sumOf(div.getLhs(), 1 / *count);
  }
  return {};
}

namespace {
/// x / sqrt(mean(x^2) + epsilon), the mean over the last dimensions.
struct RMSNormMatcher {
  RMSNormMatcher(const FusionState &state, Operation *root) : group(state, root), root(root) {}

  /// `factor`: the value by which x is multiplied or divided.
  bool match(Value x, Value factor, bool divided) {
    RankedTensorType type = tensorType(x);
    if (!haveSameType(x, root->getResult(0)) || !isa<FloatType>(type.getElementType()) || type.getEncoding())
      return false;
    // From the dimensions of the factor on: the mean is taken over those of size 1.
    const int64_t rank = type.getRank();
    for (int64_t first = rank - 1; first >= 0; --first) {
      Group kept = group;
      SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(first, rank)), dims;
      if (Value rows = group.perRow(factor, type.getShape(), last))
        if (Value sum = rootOf(rows, divided); sum && matchSum(sum, x, dims) && dims == last && group.isClosed()) {
          normalized.assign(type.getShape().begin() + first, type.getShape().end());
          return true;
        }
      group = kept;
    }
    return false;
  }

  Group group;
  Operation *root;
  SmallVector<int64_t> normalized;
  double epsilon = 0;

private:
  /// Returns x if `value` is 1 / sqrt(x) or, with `divided`, sqrt(x).
  Value rootOf(Value value, bool divided) {
    if (!divided) {
      if (auto rsqrt = group.take<RsqrtOp>(value))
        return group.shaped(rsqrt.getInput());
      auto reciprocal = group.take<ReciprocalOp>(value);
      if (!reciprocal)
        return {};
      value = group.shaped(reciprocal.getInput());
    }
    auto sqrt = group.take<SqrtOp>(value);
    return sqrt ? group.shaped(sqrt.getInput()) : Value();
  }

  bool matchSum(Value value, Value x, SmallVector<int64_t> &dims) {
    auto add = group.take<AddOp>(value);
    for (unsigned i : {0, 1}) {
      std::optional<double> number = add ? splat(add->getOperand(i)) : std::nullopt;
      Value mean = number ? add->getOperand(1 - i) : Value();
      if (!mean || tensorType(mean).getNumElements() != add.getType().getNumElements() || !(*number >= 0))
        continue;
      epsilon = *number;
      Value squares = meanOf(group, group.shaped(mean), dims);
      return squares && isSquare(group, squares, x) && tensorType(squares).getShape() == tensorType(x).getShape();
    }
    return false;
  }
};

/// x, if `value` is x - mean(x) with the mean over the last dimensions; null otherwise, or if it has users outside the
/// group.
Value withMean(Group group, Value value, int64_t dimensions) {
  auto centred = group.take<SubtractOp>(value);
  if (!centred || !haveSameType(centred.getLhs(), value))
    return {};
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  const int64_t rank = shape.size();
  SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(rank - dimensions, rank)), dims;
  Value rows = group.perRow(centred.getRhs(), shape, last);
  Value summed = rows ? meanOf(group, rows, dims) : Value();
  return summed == centred.getLhs() && dims == last && group.isClosed() ? summed : Value();
}

/// The rms_norm of a value minus its mean is the layer_norm of the value.
template <class Op> struct FuseRMSNorm : Fusion<Op> {
  using Fusion<Op>::Fusion;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    constexpr bool divided = std::is_same_v<Op, DivOp>;
    for (unsigned i : {0, 1}) {
      if (divided && i == 1)
        break;
      RMSNormMatcher matcher(this->state, op);
      Value x = op->getOperand(i);
      if (!matcher.match(x, op->getOperand(1 - i), divided))
        continue;
      auto rows = rewriter.getDenseI64ArrayAttr(matcher.normalized);
      auto epsilon = rewriter.getF32FloatAttr(matcher.epsilon);
      if (Value whole = withMean(matcher.group, x, matcher.normalized.size()))
        rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), whole, Value(), Value(), rows, epsilon);
      else
        rewriter.replaceOpWithNewOp<RMSNormOp>(op, op.getType(), x, Value(), Value(), rows, epsilon);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "scales no value by the root of the mean of its squares");
  }
};

/// The row of a norm's shape that `value` repeats for every row; null if it does not.
Value rowOf(const FusionState &state, Value value, ArrayRef<int64_t> rows) {
  while (auto broadcast = state.passed<BroadcastOp>(value))
    value = broadcast.getInput();
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  const bool isRow = shape.size() >= rows.size() && shape.take_back(rows.size()) == rows && isFloat(value) &&
                     llvm::all_of(shape.drop_back(rows.size()), [](int64_t size) { return size == 1; }) &&
                     !tensorType(value).getEncoding();
  if (!isRow)
    return {};
  auto shaped = state.passed<ReshapeOp>(value);
  return shaped && tensorType(shaped.getInput()).getShape() == rows ? Value(shaped.getInput()) : value;
}

/// A layer_norm plus a value that is the same for every row.
struct FuseNormBias : Fusion<AddOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value normed = op->getOperand(i);
      auto norm = haveSameType(normed, op.getResult()) ? state.only<LayerNormOp>(normed) : LayerNormOp();
      if (!norm || norm.getBias() || !ttcore::mayFuse(norm, op))
        continue;
      ArrayRef<int64_t> rows = norm.getNormalizedShape();
      Value bias = rowOf(state, op->getOperand(1 - i), rows);
      if (!bias)
        continue;
      rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), norm.getInput(), norm.getWeight(),
                                               reshape(rewriter, op, bias, rows), norm.getNormalizedShapeAttr(),
                                               norm.getEpsilonAttr());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no layer_norm plus a bias");
  }
};

/// A norm times a value that is the same for every row. The norm may be rounded on the way, and its input may be wider
/// than the result for the norm's sake: norms are computed in f32 in any case.
template <class Norm> struct FuseNormWeight : Fusion<MultiplyOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MultiplyOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value normed = op->getOperand(i), weight = op->getOperand(1 - i);
      if (!haveSameType(normed, op.getResult()) || !isFloat(normed))
        continue;
      auto cast = state.only<TypecastOp>(normed);
      auto norm = state.only<Norm>(cast ? cast.getInput() : normed);
      if (!norm || norm.getWeight() || norm.getBias() || !ttcore::mayFuse(norm, op))
        continue;
      ArrayRef<int64_t> rows = norm.getNormalizedShape();
      weight = rowOf(state, weight, rows);
      if (!weight)
        continue;
      Value input = norm.getInput();
      if (auto widened = cast ? state.passed<TypecastOp>(input) : TypecastOp();
          widened && haveSameType(widened.getInput(), op.getResult()))
        input = widened.getInput();
      rewriter.replaceOpWithNewOp<Norm>(op, op.getType(), input, reshape(rewriter, op, weight, rows), Value(),
                                        norm.getNormalizedShapeAttr(), norm.getEpsilonAttr());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no norm times a weight");
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// mean
//===----------------------------------------------------------------------===//

/// Returns a number as the elements of a tensor hold it.
static double rounded(double number, FloatType type) {
  APFloat value(number);
  bool isInexact = false;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
  return value.convertToDouble();
}

namespace {
/// sum(x) * (1 / n) or sum(x) / n, where n is the number of elements of each sum. If sizes are open, a number may equal
/// this at some sizes only, such as n - 1 as bf16.
template <class Op> struct FuseMean : Fusion<Op> {
  using Fusion<Op>::Fusion;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<FloatType>(op.getType().getElementType());
    if (!type || op.getType().getEncoding())
      return rewriter.notifyMatchFailure(op, "no floating-point numbers");
    constexpr bool divides = std::is_same_v<Op, DivOp>;
    for (unsigned factor : {1, 0}) {
      std::optional<double> number = divides && factor == 0 ? std::nullopt : splat(op->getOperand(factor));
      Group group(this->state, op);
      auto sum = number ? group.take<SumOp>(op->getOperand(1 - factor)) : SumOp();
      if (!sum || !haveSameType(sum.getResult(), op.getResult()) ||
          tensorType(sum.getInput()).getElementType() != type || tensorType(sum.getInput()).getEncoding())
        continue;
      double count = 1;
      for (int64_t dim : reducedDims(tensorType(sum.getInput()).getRank(), sum.getDimArgAttr()))
        count *= static_cast<double>(tensorType(sum.getInput()).getShape()[dim]);
      if (count < 1 || *number != rounded(divides ? count : 1 / count, type) || !group.isClosed())
        continue;
      rewriter.replaceOpWithNewOp<MeanOp>(op, op.getType(), sum.getInput(), sum.getKeepDimAttr(), sum.getDimArgAttr());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no sum over its number of elements");
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

namespace {
/// e^(x - max(x)) / sum(e^(x - max(x))) along one dimension.
struct FuseSoftmax : Fusion<DivOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    Group group(state, op);
    auto exp = group.take<ExpOp>(op.getLhs());
    if (!exp || !haveSameType(exp.getResult(), op.getResult()) || !isa<FloatType>(op.getType().getElementType()) ||
        op.getType().getEncoding())
      return rewriter.notifyMatchFailure(op, "divides no powers of e");
    auto centred = group.take<SubtractOp>(exp.getInput());
    if (!centred || !haveSameType(centred.getLhs(), op.getResult()) ||
        !haveSameType(centred.getResult(), op.getResult()))
      return rewriter.notifyMatchFailure(op, "the powers are not of differences");
    const int64_t rank = op.getType().getRank();
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      Group along = group;
      auto sum = reductionOf<SumOp>(along, op.getRhs(), dim);
      if (!sum || sum.getInput() != exp.getResult())
        continue;
      auto top = reductionOf<MaxOp>(along, centred.getRhs(), dim);
      if (!top || top.getInput() != centred.getLhs() || !along.isClosed())
        continue;
      rewriter.replaceOpWithNewOp<SoftmaxOp>(op, op.getType(), centred.getLhs(), static_cast<int32_t>(dim),
                                             /*numericStable=*/true);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is not the quotient of a softmax, for itself alone");
  }

private:
  template <class Op> static Op reductionOf(Group &group, Value value, int64_t dim) {
    Value rows = group.perRow(value, tensorType(group.root()->getResult(0)).getShape(), dim);
    // A maximum of -infinity and a value is that value.
    if (auto maximum = rows ? group.take<MaximumOp>(rows) : MaximumOp())
      for (unsigned i : {0, 1})
        if (splat(maximum->getOperand(i)) == -std::numeric_limits<double>::infinity())
          rows = group.shaped(maximum->getOperand(1 - i));
    auto op = rows ? group.take<Op>(rows) : Op();
    return op && reducedDims(tensorType(op.getInput()).getRank(), op.getDimArgAttr()) == ArrayRef(dim) ? op : Op();
  }
};
} // namespace

void ttir::populateNormalizationFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseRMSNorm<MultiplyOp>, FuseRMSNorm<DivOp>, FuseNormWeight<RMSNormOp>, FuseNormWeight<LayerNormOp>,
               FuseNormBias, FuseSoftmax>(patterns.getContext(), state);
  if (!state.options.openSizes)
    patterns.add<FuseMean<MultiplyOp>, FuseMean<DivOp>>(patterns.getContext(), state);
}
