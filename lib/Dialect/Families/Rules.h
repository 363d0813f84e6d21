//===- Rules.h - folds and canonical forms of both dialects -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One implementation for TTIR and TTNN: templates over a dialect's `DataMovementOps`, or over an op's class.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_DIALECT_FAMILIES_RULES_H
#define TTMLIR_LIB_DIALECT_FAMILIES_RULES_H

#include "ttmlir/Dialect/Families/DataMovement.h"
#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/Families/Traits.h"

#include "mlir/IR/PatternMatch.h"

#include <cmath>

namespace mlir::tt::folds {

inline RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }
inline Type elementType(Value value) { return tensorType(value).getElementType(); }
inline bool areAll(ArrayRef<int64_t> values, int64_t expected) {
  return llvm::all_of(values, [&](int64_t value) { return value == expected; });
}
inline SmallVector<int64_t> integersOf(ArrayAttr values) {
  return llvm::map_to_vector(values.getAsRange<IntegerAttr>(), [](IntegerAttr value) { return value.getInt(); });
}

//===----------------------------------------------------------------------===//
// Permutes, transposes, reshapes, squeezes, unsqueezes
//===----------------------------------------------------------------------===//

/// Replaces a movement that moves nothing, or reverses the one before it, by its input; a movement of a constant by the
/// moved constant.
template <class Ops> OpFoldResult movement(Operation *op, Attribute constant) {
  Value source = op->getOperand(0), result = op->getResult(0);
  std::optional<Movement> second = movementOf<Ops>(op);
  if (!second)
    return {};
  if (second->isIdentity())
    if (OpFoldResult same = forward(result, source))
      return same;
  Operation *producer = source.getDefiningOp();
  if (std::optional<Movement> first = movementOf<Ops>(producer))
    if (std::optional<Movement> whole = first->then(*second); whole && whole->isIdentity())
      if (OpFoldResult same = forward(result, producer->getOperand(0)); same && mayReplace(result, source))
        return same;
  if (!second->isPermutation())
    return reshapeOf(constant, source, result);
  View view;
  SmallVector<int64_t> strides = rowMajor(second->from);
  for (int64_t dim : second->order)
    view.strides.push_back(strides[dim]);
  return viewOf(constant, source, result, view);
}

/// Replaces two data movement ops by one equivalent op.
template <class Ops, class Op> struct ComposeDataMovement : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value between = op->getOperand(0);
    Operation *producer = between.getDefiningOp();
    std::optional<Movement> first = movementOf<Ops>(producer), second = movementOf<Ops>(op);
    if (!first || !second)
      return rewriter.notifyMatchFailure(op, "does not follow a movement");
    std::optional<Movement> whole = first->then(*second);
    if (!whole || whole->isIdentity())
      return rewriter.notifyMatchFailure(op, "one op cannot do both, or none needs to");
    Value source = producer->getOperand(0);
    if (!mayReplace(between, source))
      return rewriter.notifyMatchFailure(op, "a tensor on the way is written to or freed");
    rewriter.replaceOp(op, createMovement<Ops>(rewriter, op->getLoc(), *whole, source, op->getResult(0).getType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Parts, copies, joints
//===----------------------------------------------------------------------===//

/// The begin and the step of a slice.
struct SliceRange {
  SmallVector<int64_t> begins, steps;
};
template <class Op> std::optional<SliceRange> sliceOf(Op op) {
  SliceRange range{integersOf(op.getBegins()), integersOf(op.getStep())};
  RankedTensorType from = tensorType(op.getInput()), to = tensorType(op.getResult());
  for (auto [begin, step, size, count] : llvm::zip_equal(range.begins, range.steps, from.getShape(), to.getShape())) {
    begin += begin < 0 ? size : 0;
    const int64_t last = begin + (count - 1) * step;
    if (std::min(begin, last) < 0 || step == 0 || count < 1 || std::max(begin, last) >= size)
      return std::nullopt;
  }
  return range;
}

template <class Op> OpFoldResult slice(Op op, Attribute constant) {
  // A slice backward ends before the first element: one with its input's size takes all of it, forward.
  if (OpFoldResult same = forward(op.getResult(), op.getInput()))
    return same;
  std::optional<SliceRange> range = constant ? sliceOf(op) : std::nullopt;
  if (!range)
    return {};
  View view;
  for (auto [begin, step, stride] :
       llvm::zip_equal(range->begins, range->steps, rowMajor(tensorType(op.getInput()).getShape()))) {
    view.offset += begin * stride;
    view.strides.push_back(step * stride);
  }
  return viewOf(constant, op.getInput(), op.getResult(), view);
}

template <class Ops, class Op> struct SliceOfSlice : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().template getDefiningOp<Op>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "is of no slice");
    std::optional<SliceRange> first = sliceOf(inner), second = sliceOf(op);
    if (!first || !second || elementType(inner.getInput()) != elementType(op.getInput()) ||
        !Ops::agree(tensorType(inner.getInput()), tensorType(op.getInput())) ||
        !mayReplace(op.getInput(), inner.getInput()))
      return rewriter.notifyMatchFailure(op, "the slices have another format, or are empty");
    SmallVector<int32_t> begins, ends, steps;
    for (auto [b1, s1, b2, s2, count] : llvm::zip_equal(first->begins, first->steps, second->begins, second->steps,
                                                        tensorType(op.getResult()).getShape())) {
      begins.push_back(b1 + b2 * s1);
      // Steps of a single element may be of any size.
      steps.push_back(llvm::isInt<32>(s1 * s2) ? s1 * s2 : 1);
      ends.push_back(begins.back() + (count - 1) * s1 * s2 + (steps.back() > 0 ? 1 : -1));
    }
    rewriter.replaceOpWithNewOp<Op>(op, op.getResult().getType(), inner.getInput(), rewriter.getI32ArrayAttr(begins),
                                    rewriter.getI32ArrayAttr(ends), rewriter.getI32ArrayAttr(steps));
    return success();
  }
};

/// A repetition (broadcast, repeat, repeat_interleave) that keeps the type is an identity.
inline OpFoldResult repetition(Operation *op, Attribute constant) {
  Value input = op->getOperand(0), result = op->getResult(0);
  // Tensors without elements keep their type under any repetition, and lose nothing.
  if (OpFoldResult same = forward(result, input))
    return same;
  return splatOf(constant) ? viewOf(constant, input, result, {}) : OpFoldResult();
}

template <class Op> OpFoldResult concat(Op op) {
  return op.getInputs().size() == 1 ? forward(op.getResult(), op.getInputs().front()) : OpFoldResult();
}

/// Flattens concatenations along the same dimension, and drops parts without elements.
template <class Op> struct FlattenConcat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    int64_t rank = op.getResult().getType().getRank();
    auto dimension = [&](Op concat) { return concat.getDim() < 0 ? concat.getDim() + rank : concat.getDim(); };
    int64_t dim = dimension(op);
    SmallVector<Value> parts;
    bool changes = false;
    for (Value part : op.getInputs()) {
      auto inner = part.getDefiningOp<Op>();
      bool same =
          inner && part.hasOneUse() && dimension(inner) == dim && llvm::all_of(inner.getInputs(), [&](Value value) {
            return elementType(value) == elementType(part) && mayReplace(part, value);
          });
      if (same)
        llvm::append_range(parts, inner.getInputs());
      else if (tensorType(part).getDimSize(dim) != 0 || op.getResult().getType().getDimSize(dim) == 0)
        parts.push_back(part);
      changes |= same || parts.empty() || parts.back() != part;
    }
    if (!changes)
      return rewriter.notifyMatchFailure(op, "has no part that is a concatenation or empty");
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(parts); });
    return success();
  }
};

template <class Op> OpFoldResult pad(Op op, Attribute constant) {
  if (llvm::all_of(op.getPadding(), [](int32_t size) { return size == 0; }))
    if (OpFoldResult same = forward(op.getResult(), op.getInput()))
      return same;
  // Padding with the value that it surrounds, to the bit.
  auto real = dyn_cast_or_null<FloatAttr>(splatOf(constant));
  double value = op.getValue().convertToDouble();
  return real && isNumber(real, value) && value == value ? repetition(op, constant) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Casts and layouts
//===----------------------------------------------------------------------===//

/// Replaces an op that changes only the type, and that not at all, by its operand.
inline OpFoldResult sameType(Operation *op) { return forward(op->getResult(0), op->getOperand(0)); }

/// Consecutive casts are the last one if the intermediate type holds every value of the first without rounding. A cast
/// that narrows before it widens again stays, with or without `conservative_folding`.
template <class Ops, class Op> OpFoldResult typecast(Op op) {
  if (OpFoldResult same = sameType(op))
    return same;
  auto inner = op.getInput().template getDefiningOp<Op>();
  if (!inner || !holds(elementType(inner.getResult()), elementType(inner.getInput())) ||
      !mayReplace(op.getInput(), inner.getInput()) ||
      !Ops::agree(tensorType(inner.getInput()), tensorType(op.getInput()), /*casts=*/true))
    return {};
  if (OpFoldResult same = forward(op.getResult(), inner.getInput()))
    return same;
  op.getInputMutable().assign(inner.getInput());
  return op.getResult();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

inline bool areIntegers(Operation *op) {
  auto isInteger = [](Value value) {
    auto type = dyn_cast<IntegerType>(elementType(value));
    return type && type.getWidth() > 1 && type.getWidth() <= 32;
  };
  return llvm::all_of(op->getOperands(), isInteger) && isInteger(op->getResult(0));
}

inline OpFoldResult first(OpFoldResult one, OpFoldResult other) { return one ? one : other; }

template <class Op> OpFoldResult where(Op op) {
  if (op.getSecond() == op.getThird())
    return forward(op.getResult(), op.getSecond());
  Attribute condition = splatOf(op.getFirst());
  if (!condition)
    return {};
  bool isZero = isNumber(condition, 0.0) || isNumber(condition, -0.0);
  return forward(op.getResult(), isZero ? op.getThird() : op.getSecond());
}

template <class Op> OpFoldResult clampScalar(Op op) {
  if (isa<FloatType>(elementType(op.getInput())) && isNumber(op.getMin(), -INFINITY) && isNumber(op.getMax(), INFINITY))
    return forward(op.getResult(), op.getInput());
  auto inner = op.getInput().template getDefiningOp<Op>();
  if (!inner || inner.getInput().getType() != op.getInput().getType() ||
      op.getResult().getType() != op.getInput().getType() || !mayReplace(op.getInput(), inner.getInput()))
    return {};
  // A clamp is monotonic, so two are one whose limits are those of the first, clamped by the second. Rounding is
  // monotonic, too.
  auto clamp = [](auto x, auto low, auto high) {
    auto raised = x > low ? x : low;
    return raised < high ? raised : high;
  };
  auto merge = [&](auto low, auto high, auto nextLow, auto nextHigh, auto attr) -> OpFoldResult {
    if (!(low <= high) || !(nextLow <= nextHigh))
      return {};
    op.setMinAttr(attr(clamp(low, nextLow, nextHigh)));
    op.setMaxAttr(attr(clamp(high, nextLow, nextHigh)));
    op.getInputMutable().assign(inner.getInput());
    return op.getResult();
  };
  Builder builder(op.getContext());
  Attribute limits[] = {inner.getMin(), inner.getMax(), op.getMin(), op.getMax()};
  if (isa<FloatType>(elementType(op.getInput())) && llvm::all_of(limits, llvm::IsaPred<FloatAttr>)) {
    auto number = [](Attribute attr) { return static_cast<float>(cast<FloatAttr>(attr).getValueAsDouble()); };
    // Which zero the second clamp gives for the other one as a limit is its kernel's affair.
    auto isZero = [&](Attribute attr, bool negative) {
      return number(attr) == 0 && std::signbit(number(attr)) == negative;
    };
    if (llvm::any_of(limits, [&](Attribute attr) { return isZero(attr, false); }) &&
        llvm::any_of(limits, [&](Attribute attr) { return isZero(attr, true); }))
      return {};
    return merge(number(limits[0]), number(limits[1]), number(limits[2]), number(limits[3]),
                 [&](float value) { return builder.getF32FloatAttr(value); });
  }
  if (isa<IntegerType>(elementType(op.getInput())) && llvm::all_of(limits, llvm::IsaPred<IntegerAttr>)) {
    auto number = [](Attribute attr) { return cast<IntegerAttr>(attr).getValue().getSExtValue(); };
    return merge(number(limits[0]), number(limits[1]), number(limits[2]), number(limits[3]),
                 [&](int64_t value) { return builder.getI32IntegerAttr(value); });
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Whether every reduced dimension has size 1, so that each value is reduced alone.
inline bool reducesSingles(Operation *op) {
  RankedTensorType from = tensorType(op->getOperand(0)), to = tensorType(op->getResult(0));
  return from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() == to.getNumElements() &&
         from.getNumElements() != 0 && from.getElementType() == to.getElementType();
}
/// Maximum, minimum and product of one value are the value; its sum is 0.0 for -0.0.
inline OpFoldResult reduction(Operation *op, bool isExact) {
  return reducesSingles(op) && isExact ? sameType(op) : OpFoldResult();
}

/// A reduction of single values that drops dimensions.
template <class Ops, class Op> struct ReductionOfSingles : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!reducesSingles(op) || !Ops::agree(tensorType(op.getInput()), tensorType(op.getResult())))
      return rewriter.notifyMatchFailure(op, "reduces more than single values");
    if (!mayReplace(op.getResult(), op.getInput()))
      return rewriter.notifyMatchFailure(op, "a tensor is written to or freed");
    Movement shape = Movement::reshape(tensorType(op.getInput()).getShape(), tensorType(op.getResult()).getShape());
    if (shape.isIdentity())
      return rewriter.notifyMatchFailure(op, "drops no dimension");
    rewriter.replaceOp(op, createMovement<Ops>(rewriter, op.getLoc(), shape, op.getInput(), op.getResult().getType()));
    return success();
  }
};

/// Adds the patterns that both dialects have.
template <class Ops, class Permute, class Transpose, class Reshape, class Slice, class Concat>
void populateMovementCanonicalizations(RewritePatternSet &patterns) {
  patterns.add<ComposeDataMovement<Ops, Permute>, ComposeDataMovement<Ops, Transpose>,
               ComposeDataMovement<Ops, Reshape>, SliceOfSlice<Ops, Slice>, FlattenConcat<Concat>>(
      patterns.getContext());
}

} // namespace mlir::tt::folds

#endif // TTMLIR_LIB_DIALECT_FAMILIES_RULES_H
