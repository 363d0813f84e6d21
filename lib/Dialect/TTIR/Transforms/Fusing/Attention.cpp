//===- Attention.cpp - recognition of decomposed attention ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/DataMovementOps.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DivOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatInterleaveOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftmaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// The value that is scaled by one number, and the number.
static Value unscaled(Operation *op, double &scale) {
  if (auto multiply = dyn_cast_or_null<MultiplyOp>(op)) {
    for (unsigned i : {0, 1})
      if (std::optional<double> factor = splat(multiply->getOperand(i));
          factor && haveSameType(multiply->getOperand(1 - i), multiply.getResult())) {
        scale *= *factor;
        return multiply->getOperand(1 - i);
      }
  } else if (auto div = dyn_cast_or_null<DivOp>(op)) {
    if (std::optional<double> factor = splat(div.getRhs());
        factor && *factor != 0 && haveSameType(div.getLhs(), div.getResult())) {
      scale /= *factor;
      return div.getLhs();
    }
  }
  return {};
}

/// Whether a reshape leaves the last two dimensions alone.
static bool keepsMatrices(Value from, Value to) {
  ArrayRef<int64_t> before = tensorType(from).getShape(), after = tensorType(to).getShape();
  return before.size() >= 2 && after.size() >= 2 && before.take_back(2) == after.take_back(2);
}

namespace {
/// Query, key or value, without the steps that attention performs itself.
struct Side {
  Value value;
  double scale = 1;
  int64_t repeats = 1; // of each head
  bool swapped = false;
};

/// softmax(query * key^T * scale + mask) * value
class AttentionMatcher {
public:
  AttentionMatcher(const FusionState &state, MatmulOp root) : state(state), group(state, root), root(root) {}

  bool match() {
    // The kernel of attention takes no config: products and softmax with one are not fused.
    if (root->getDiscardableAttr(ttcore::computeConfigName))
      return false;
    element = root.getType().getElementType();
    if (!isa<FloatType>(element) || root.getType().getEncoding() || root.getTransposeA() || root.getTransposeB())
      return false;
    Value chances = uncast(root.getA()), all = group.shaped(chances);
    if (all != chances && !keepsMatrices(all, chances))
      return false;
    auto softmax = group.take<SoftmaxOp>(uncast(all));
    if (!softmax || !haveSameType(softmax.getInput(), softmax.getResult()))
      return false;
    ArrayRef<int64_t> shape = softmax.getType().getShape();
    const int64_t rank = shape.size(), dim = softmax.getDimension();
    if (rank < 2 || rank > 4 || (dim != -1 && dim != rank - 1))
      return false;
    scores.assign(4 - rank, 1);
    llvm::append_range(scores, shape);
    return matchScores(uncast(softmax.getInput())) && matchSides() && group.isClosed();
  }

  /// Replaces the root by the op, whose shape differs only in its leading dimensions.
  Value build(PatternRewriter &rewriter) {
    const Location loc = root.getLoc(), own = ttcore::withoutSourceNumber(loc);
    SmallVector<Value> operands;
    for (Side &side : sides) {
      Value value = reshape(rewriter, root, side.value, ofHeads(side));
      if (side.swapped)
        value = move(rewriter, own, Movement::permutation(tensorType(value).getShape(), {0, 1, 3, 2}), value);
      operands.push_back(value);
    }
    Value bias = mask ? buildMask(rewriter, own) : Value();
    SmallVector<int64_t> shape(scores);
    shape.back() = root.getType().getShape().back();
    ArrayRef<int64_t> target = root.getType().getShape();
    RankedTensorType type = root.getType().clone(shape);
    auto made = ScaledDotProductAttentionOp::create(
        rewriter, ArrayRef(shape) == target ? loc : own, type, operands[0], operands[1], operands[2], bias, Value(),
        rewriter.getBoolAttr(false), rewriter.getF32FloatAttr(scale), IntegerAttr());
    if (ArrayRef(shape) == target)
      return made;
    SmallVector<int32_t> sizes(target.begin(), target.end());
    return ReshapeOp::create(rewriter, loc, root.getType(), made, rewriter.getI32ArrayAttr(sizes));
  }

private:
  Value uncast(Value value) {
    if (auto cast = group.take<TypecastOp>(value); cast && isFloat(cast.getInput()) && isFloat(value))
      return cast.getInput();
    return value;
  }

  /// [where(condition, ] query * key^T [* scale] [+ mask] [, -infinity)]
  bool matchScores(Value value) {
    if (auto add = group.take<AddOp>(value)) {
      for (unsigned i : {0, 1}) {
        Value product = add->getOperand(i);
        if (!haveSameType(product, add.getResult()) || !leadsToProduct(product))
          continue;
        mask = add->getOperand(1 - i);
        return isMask(mask) && isFloat(mask) && matchProduct(product);
      }
      return false;
    }
    if (auto where = group.take<WhereOp>(value)) {
      for (unsigned i : {1, 2}) {
        std::optional<double> number = splat(where->getOperand(i));
        Value product = where->getOperand(3 - i);
        // A negative number so large that adding a score changes nothing.
        if (!number || !(*number <= -1e30) || !haveSameType(product, where.getResult()))
          continue;
        mask = where.getFirst();
        least = *number;
        maskElement = where.getType().getElementType();
        hidesWhereSet = i == 1;
        return isMask(mask) && matchProduct(product);
      }
      return false;
    }
    return matchProduct(value);
  }

  /// Whether the scores come from there.
  bool leadsToProduct(Value value) const {
    double ignored = 1;
    for (int steps = 0; steps < 6; ++steps) {
      Operation *op = value.getDefiningOp();
      if (isa_and_nonnull<MatmulOp>(op))
        return true;
      if (isa_and_nonnull<ReshapeOp, TypecastOp>(op))
        value = op->getOperand(0);
      else if (Value inside = unscaled(op, ignored))
        value = inside;
      else
        return false;
    }
    return false;
  }

  bool isMask(Value &value) {
    if (auto broadcast = state.passed<BroadcastOp>(value))
      value = broadcast.getInput();
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    if (shape.size() > scores.size() || tensorType(value).getEncoding())
      return false;
    for (auto [size, whole] : llvm::zip_equal(shape, ArrayRef(scores).take_back(shape.size())))
      if (size != 1 && size != whole)
        return false;
    return true;
  }

  bool matchProduct(Value value) {
    while (true) {
      Value next = uncast(value);
      Operation *op = next.getDefiningOp();
      if (Value inside = op && state.mayReadPast(op) ? unscaled(op, scale) : Value()) {
        group.add(op);
        next = inside;
      } else if (Value inside = group.shaped(next); inside != next) {
        if (!keepsMatrices(inside, next))
          return false;
        next = inside;
      }
      if (next == value)
        break;
      value = next;
    }
    auto product = group.take<MatmulOp>(value);
    if (!product || product.getTransposeA())
      return false;
    sides[0].value = product.getA();
    sides[1].value = product.getB();
    // The op takes keys as rows.
    sides[1].swapped = !product.getTransposeB();
    sides[2].value = root.getB();
    return true;
  }

  bool matchSides() {
    for (auto [index, side] : llvm::enumerate(sides)) {
      peel(side, /*mayScale=*/index < 2);
      scale *= side.scale;
      if (tensorType(side.value).getElementType() != element || tensorType(side.value).getEncoding() ||
          tensorType(side.value).getRank() < 2 || tensorType(side.value).getRank() > 4)
        return false;
    }
    const int64_t rows = scores[2], columns = scores[3];
    const int64_t size = matrixOf(sides[0]).second, valueSize = root.getType().getShape().back();
    return !sides[0].swapped && matches(sides[0], rows, size) && matches(sides[1], columns, size) &&
           matches(sides[2], columns, valueSize) && ofHeads(sides[0])[1] == scores[1] &&
           ofHeads(sides[1])[1] == ofHeads(sides[2])[1];
  }

  /// Skips ops that change no matrix, and steps that attention performs.
  void peel(Side &side, bool mayScale) const {
    while (true) {
      Value value = side.value;
      Operation *op = value.getDefiningOp();
      if (!op || !state.mayReadPast(op) || (!movesValues(op) && !ttcore::mayFuse(op, root)))
        return;
      double factor = 1;
      if (auto cast = dyn_cast<TypecastOp>(op);
          cast && tensorType(value).getElementType() != element && isFloat(cast.getInput()))
        side.value = cast.getInput();
      else if (auto repeat = dyn_cast<RepeatInterleaveOp>(op); repeat && side.repeats == 1 &&
                                                               tensorType(value).getRank() == 4 &&
                                                               (repeat.getDim() == 1 || repeat.getDim() == -3))
        side.value = repeat.getInput(), side.repeats = repeat.getRepeats();
      else if (std::optional<Movement> movement = movementOf(op);
               movement && movement->isPermutation() && swapsLastTwo(movement->order))
        side.value = op->getOperand(0), side.swapped = !side.swapped;
      else if (movement && !movement->isPermutation() && movement->to.size() <= 4 && movement->from.size() <= 4 &&
               keepsMatrices(op->getOperand(0), value))
        side.value = op->getOperand(0);
      else if (Value inside = mayScale ? unscaled(op, factor) : Value())
        side.value = inside, side.scale *= factor;
      else
        return;
    }
  }

  /// Rows and columns as attention takes them.
  static std::pair<int64_t, int64_t> matrixOf(const Side &side) {
    ArrayRef<int64_t> shape = tensorType(side.value).getShape();
    int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (side.swapped)
      std::swap(rows, columns);
    return {rows, columns};
  }

  /// [batch, heads, ...] of an operand as it is stored.
  SmallVector<int64_t> ofHeads(const Side &side) const {
    ArrayRef<int64_t> shape = tensorType(side.value).getShape();
    int64_t all = 1;
    for (int64_t size : shape.drop_back(2))
      all *= size;
    return {scores[0], all / std::max<int64_t>(1, scores[0]), shape[shape.size() - 2], shape.back()};
  }

  /// Its matrices have this size, and its heads match those of the scores.
  bool matches(const Side &side, int64_t rows, int64_t columns) const {
    if (matrixOf(side) != std::pair(rows, columns) || scores[0] < 1 || scores[1] < 1)
      return false;
    ArrayRef<int64_t> shape = tensorType(side.value).getShape();
    SmallVector<int64_t> split = ofHeads(side);
    if (side.repeats == 1 && split[1] == scores[1])
      return split[0] * split[1] * rows * columns == tensorType(side.value).getNumElements();
    // Heads that several of the query share.
    return shape.size() == 4 && shape[0] == scores[0] && split[1] > 0 &&
           (split[1] * side.repeats == scores[1] || (side.repeats == 1 && split[1] == 1));
  }

  Value buildMask(PatternRewriter &rewriter, Location loc) const {
    SmallVector<int64_t> shape(4 - tensorType(mask).getRank(), 1);
    llvm::append_range(shape, tensorType(mask).getShape());
    Value shaped = reshape(rewriter, root, mask, shape);
    if (!least)
      return shaped;
    auto one = [&](double number) -> Value {
      auto type = RankedTensorType::get({1, 1, 1, 1}, maskElement);
      return FullOp::create(rewriter, loc, type, rewriter.getDenseI32ArrayAttr({1, 1, 1, 1}),
                            rewriter.getF32FloatAttr(number));
    };
    Value hidden = one(*least), seen = one(0);
    if (!hidesWhereSet)
      std::swap(hidden, seen);
    return WhereOp::create(rewriter, loc, RankedTensorType::get(shape, maskElement), shaped, hidden, seen);
  }

  const FusionState &state;
  Group group;
  MatmulOp root;
  Type element;
  SmallVector<int64_t> scores; // batch, heads, rows, columns
  Side sides[3];
  double scale = 1;
  Value mask;
  std::optional<double> least; // what is added where the mask, a condition, hides a score
  Type maskElement;
  bool hidesWhereSet = false;
};

struct FuseAttention : Fusion<MatmulOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    AttentionMatcher matcher(state, op);
    if (!matcher.match())
      return rewriter.notifyMatchFailure(op, "is not the last product of an attention");
    rewriter.replaceOp(op, matcher.build(rewriter));
    return success();
  }
};

/// Attention over keys and values with repeated heads: heads of the query share them.
struct ShareHeads : Fusion<ScaledDotProductAttentionOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(ScaledDotProductAttentionOp op, PatternRewriter &rewriter) const override {
    auto key = state.passed<RepeatInterleaveOp>(op.getKey()), value = state.passed<RepeatInterleaveOp>(op.getValue());
    auto repeatsHeads = [](RepeatInterleaveOp repeat) {
      return repeat && (repeat.getDim() == 1 || repeat.getDim() == -3);
    };
    if (!repeatsHeads(key) || !repeatsHeads(value) || key.getRepeats() != value.getRepeats())
      return rewriter.notifyMatchFailure(op, "its keys and values are not repeated alike");
    auto shared = ScaledDotProductAttentionOp::create(
        rewriter, op.getLoc(), op.getType(), op.getQuery(), key.getInput(), value.getInput(), op.getAttentionMask(),
        op.getAttentionSink(), op.getIsCausalAttr(), op.getScaleAttr(), op.getSlidingWindowSizeAttr());
    rewriter.replaceOp(op, shared);
    return success();
  }
};
} // namespace

void ttir::populateAttentionFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseAttention, ShareHeads>(patterns.getContext(), state);
}
