//===- EraseInverseOps.cpp - cancellation of inverse data movement --------===//
// SPDX-License-Identifier: Apache-2.0
//
// Adjacent data movement ops become one, or none. To make them adjacent, they are moved down through elementwise ops,
// and permutes also through concats, slices and pads: a whole group of these at a time, and only if fewer of them are
// left in the end. Their number therefore decreases with every round, and rounds are few: a group is everything that
// can be reached.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"
#include "ttmlir/Dialect/TTIR/IR/DataMovementOps.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRERASEINVERSEOPS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }
static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

//===----------------------------------------------------------------------===//
// Identity ops, and sequences of data movement ops
//===----------------------------------------------------------------------===//

/// Ops that may change only the type, and that not at all.
static bool mayDoNothing(Operation *op) {
  auto isOne = [](auto values) { return llvm::all_of(values, [](int64_t value) { return value == 1; }); };
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return isOne(broadcast.getBroadcastDimensions());
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return isOne(repeat.getRepeatDimensions());
  if (auto pad = dyn_cast<PadOp>(op))
    return llvm::all_of(pad.getPadding(), [](int32_t size) { return size == 0; });
  // Slices go forward: one with as many values as its input has all of them.
  return isa<TypecastOp, SliceStaticOp>(op) || (isa<ConcatOp>(op) && op->getNumOperands() == 1);
}

/// The reason why an op stays: a cache needs it, or an adjacent user does.
static constexpr StringLiteral isCopy = "what it reads or gives is written to, so that both are needed";

namespace {
/// A pattern for an op whose own value is not observed.
template <class Op> struct Erasure : OpRewritePattern<Op> {
  Erasure(MLIRContext *context, ttcore::FusionState &state) : OpRewritePattern<Op>(context), state(state) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (state.isObserved(op))
      return rewriter.notifyMatchFailure(op, "its value is observed");
    return erase(op, rewriter);
  }
  virtual LogicalResult erase(Op op, PatternRewriter &rewriter) const = 0;

  ttcore::FusionState &state;
};

/// An op that does nothing.
template <class Op> struct EraseIdentity : Erasure<Op> {
  using Erasure<Op>::Erasure;
  LogicalResult erase(Op op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 || op->getOperand(0).getType() != op->getResult(0).getType() || !mayDoNothing(op))
      return rewriter.notifyMatchFailure(op, "changes something");
    if (!folds::mayReplace(op->getResult(0), op->getOperand(0)))
      return rewriter.notifyMatchFailure(op, isCopy);
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// Casts to a type and back, or on to a third one, if the intermediate type holds all values.
struct EraseCast : Erasure<TypecastOp> {
  using Erasure::Erasure;
  LogicalResult erase(TypecastOp op, PatternRewriter &rewriter) const override {
    auto inner = state.passed<TypecastOp>(op.getInput());
    if (!inner || !folds::holds(elementOf(inner.getResult()), elementOf(inner.getInput())))
      return rewriter.notifyMatchFailure(op, "rounds what was rounded before");
    if (!folds::mayReplace(op.getInput(), inner.getInput()) || !folds::mayReplace(op.getResult(), inner.getInput()))
      return rewriter.notifyMatchFailure(op, isCopy);
    if (inner.getInput().getType() == op.getType()) {
      rewriter.replaceOp(op, inner.getInput());
      return success();
    }
    Value between = op.getInput();
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
    state.released(between);
    return success();
  }
};

/// A sequence of data movement ops that one op, or none, can replace; a permute or a squeeze that only changes the
/// shape.
template <class Op> struct EraseMovement : Erasure<Op> {
  using Erasure<Op>::Erasure;
  LogicalResult erase(Op op, PatternRewriter &rewriter) const override {
    std::optional<Movement> second = ttir::movementOf(op);
    if (!second)
      return rewriter.notifyMatchFailure(op, "changes more than the place of values");
    Operation *producer = op.getInput().getDefiningOp();
    std::optional<Movement> first =
        producer && !this->state.isObserved(producer) ? ttir::movementOf(producer) : std::nullopt;
    if (std::optional<Movement> whole = first ? first->then(*second) : std::nullopt) {
      if (!folds::mayReplace(op.getInput(), producer->getOperand(0)) ||
          (whole->isIdentity() && !folds::mayReplace(op.getResult(), producer->getOperand(0))))
        return rewriter.notifyMatchFailure(op, isCopy);
      rewriter.replaceOp(op, move(rewriter, op.getLoc(), *whole, producer->getOperand(0)));
      return success();
    }
    if (!second->isIdentity() && second->isPermutation() != op->template hasTrait<trait::KeepsOrder>())
      return rewriter.notifyMatchFailure(op, "follows no movement that goes together with it");
    if (second->isIdentity() && !folds::mayReplace(op.getResult(), op.getInput()))
      return rewriter.notifyMatchFailure(op, isCopy);
    rewriter.replaceOp(op, move(rewriter, op.getLoc(), *second, op.getInput()));
    return success();
  }
};
} // namespace

static void populateErasures(RewritePatternSet &patterns, ttcore::FusionState &state) {
  patterns
      .add<EraseIdentity<BroadcastOp>, EraseIdentity<RepeatOp>, EraseIdentity<PadOp>, EraseIdentity<TypecastOp>,
           EraseIdentity<SliceStaticOp>, EraseIdentity<ConcatOp>, EraseCast, EraseMovement<PermuteOp>,
           EraseMovement<TransposeOp>, EraseMovement<ReshapeOp>, EraseMovement<SqueezeOp>, EraseMovement<UnsqueezeOp>>(
          patterns.getContext(), state);
}

namespace {
/// One function at work.
class Eraser {
public:
  Eraser(FunctionOpInterface function, ttcore::FusionState &state)
      : body(function.getFunctionBody().front()), rewriter(function.getContext(), &state), state(state) {}

  /// Moves data movement ops below groups of ops that have at least this gain. Returns whether there was one.
  bool commute(int64_t least);
  /// Moves data movement ops above elementwise ops if at most as many of them are left. Returns whether one was moved.
  bool commuteUp();

private:
  /// Ops that data movement ops pass through, in program order.
  using Group = SmallVector<Operation *>;

  std::optional<Movement> movementOf(Operation *op) const {
    std::optional<Movement> found = op && !state.isObserved(op) ? ttir::movementOf(op) : std::nullopt;
    return found && folds::mayReplace(op->getResult(0), op->getOperand(0)) ? found : std::nullopt;
  }
  std::optional<Movement> carriedBy(Operation *op);
  /// Whether a value has such a movement behind it.
  bool follows(Value value, const Movement &movement) const {
    auto found = carried.find(value);
    return found != carried.end() && found->second.isLike(movement);
  }
  bool isAdaptable(Value operand, const Movement &movement);
  Value adapt(Value operand, const Movement &movement, Operation *op);
  SmallVector<Group, 0> findGroups();
  int64_t gainOf(const Group &group);
  void apply(const Group &group);

  Block &body;
  IRRewriter rewriter;
  ttcore::FusionState &state;
  /// Data movement ops that follow values and could be moved after the ops that produce them.
  DenseMap<Value, Movement> carried;
  DenseSet<Operation *> grouped;
};
} // namespace

//===----------------------------------------------------------------------===//
// Data movement ops through ops
//===----------------------------------------------------------------------===//

/// Whether a permute of these sizes keeps the order of all elements.
static bool isFree(ArrayRef<int64_t> from, ArrayRef<int64_t> order) {
  return !Movement::permutation(from, order).isPermutation();
}

/// Whether an operand without a movement can be moved back at no cost at run time: a constant, or values that stay in
/// order.
bool Eraser::isAdaptable(Value operand, const Movement &movement) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getEncoding() || type.getRank() > static_cast<int64_t>(movement.to.size()))
    return false;
  if (ShapedType::getNumElements(type.getShape()) == 1)
    return true;
  if (movement.isPermutation() && type.getRank() == static_cast<int64_t>(movement.to.size()) &&
      isFree(type.getShape(), movement.inverse().order))
    return true;
  return state.isConstant(operand) && (movement.isPermutation() || type.getShape() == ArrayRef(movement.to));
}

/// The operand as it is before the movement.
Value Eraser::adapt(Value operand, const Movement &movement, Operation *op) {
  rewriter.setInsertionPoint(op);
  Location loc = ttcore::withoutSourceNumber(op->getLoc());
  ArrayRef<int64_t> shape = shapeOf(operand);
  if (ShapedType::getNumElements(shape) == 1)
    return move(rewriter, loc, Movement::reshape(shape, SmallVector<int64_t>(movement.from.size(), 1)), operand);
  if (!movement.isPermutation())
    return move(rewriter, loc, movement.inverse(), operand);
  SmallVector<int64_t> whole(shape);
  whole.insert(whole.begin(), movement.to.size() - shape.size(), 1);
  Value ranked = move(rewriter, loc, Movement::reshape(shape, whole), operand);
  return move(rewriter, loc, Movement::permutation(whole, movement.inverse().order), ranked);
}

/// Ops through which permutes pass, with their attributes permuted.
static bool isByDimension(Operation *op) {
  if (op->hasTrait<trait::Reduction>())
    return op->getAttrOfType<BoolAttr>("keep_dim").getValue();
  return isa<ConcatOp, SliceStaticOp, PadOp>(op);
}

/// Gives an op with attributes per dimension the attributes for the order before a permute.
static void permuteAttributes(Operation *op, const Movement &movement) {
  OpBuilder builder(op->getContext());
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    int64_t dim = concat.getDim(), rank = movement.order.size();
    concat.setDim(static_cast<int32_t>(movement.order[dim < 0 ? dim + rank : dim]));
    return;
  }
  if (auto pad = dyn_cast<PadOp>(op)) {
    SmallVector<int32_t> before(pad.getPadding());
    for (auto [to, from] : llvm::enumerate(movement.order))
      for (int64_t side = 0; side < 2; ++side)
        before[2 * from + side] = pad.getPadding()[2 * to + side];
    pad.setPadding(before);
    return;
  }
  if (op->hasTrait<trait::Reduction>()) {
    auto reduced = op->getAttrOfType<ArrayAttr>("dim_arg"); // none: all of them
    if (!reduced)
      return;
    int64_t rank = movement.order.size();
    SmallVector<int32_t> before;
    for (int64_t dim : llvm::map_range(reduced.getAsRange<IntegerAttr>(), [](IntegerAttr dim) { return dim.getInt(); }))
      before.push_back(static_cast<int32_t>(movement.order[dim < 0 ? dim + rank : dim]));
    llvm::sort(before);
    op->setAttr("dim_arg", builder.getI32ArrayAttr(before));
    return;
  }
  auto slice = cast<SliceStaticOp>(op);
  auto permuted = [&](ArrayAttr values) {
    SmallVector<Attribute> before(values.begin(), values.end());
    for (auto [to, from] : llvm::enumerate(movement.order))
      before[from] = values[to];
    return builder.getArrayAttr(before);
  };
  slice.setBeginsAttr(permuted(slice.getBegins()));
  slice.setEndsAttr(permuted(slice.getEnds()));
  slice.setStepAttr(permuted(slice.getStep()));
}

/// The common movement of all operands, other than constants, of an op through which data movement ops pass.
std::optional<Movement> Eraser::carriedBy(Operation *op) {
  auto result = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  const bool isElementwise = op->hasTrait<trait::Elementwise>();
  if ((!isElementwise && !isByDimension(op)) || !result || result.getEncoding() || state.isObserved(op))
    return std::nullopt;
  const Movement *common = nullptr;
  for (Value operand : op->getOperands()) {
    auto found = carried.find(operand);
    if (found == carried.end() || (common && (common->isPermutation() || !found->second.isPermutation())))
      continue;
    // Broadcasting is per dimension, which only an order of all of them preserves.
    if (found->second.isPermutation() ? static_cast<int64_t>(found->second.to.size()) == result.getRank()
                                      : ArrayRef(found->second.to) == result.getShape())
      common = &found->second;
  }
  if (!common || (!isElementwise && !common->isPermutation()))
    return std::nullopt;
  Movement movement = *common;
  for (Value operand : op->getOperands())
    if (!follows(operand, movement) &&
        (!isAdaptable(operand, movement) || (!isElementwise && rankOf(operand) != result.getRank())))
      return std::nullopt;
  if (movement.isPermutation()) {
    movement.to = SmallVector<int64_t>(result.getShape());
    for (auto [to, from] : llvm::enumerate(movement.order))
      movement.from[from] = movement.to[to];
  }
  return movement;
}

SmallVector<Eraser::Group, 0> Eraser::findGroups() {
  carried.clear();
  llvm::EquivalenceClasses<Operation *> classes;
  SmallVector<Operation *> ops;
  for (Operation &op : body) {
    if (std::optional<Movement> movement = movementOf(&op)) {
      // A constant, or a splat, can have any order: the other operands decide.
      if (!isAdaptable(op.getResult(0), *movement))
        carried.try_emplace(op.getResult(0), *movement);
      continue;
    }
    std::optional<Movement> movement = carriedBy(&op);
    if (!movement)
      continue;
    carried.try_emplace(op.getResult(0), *movement);
    classes.insert(&op);
    ops.push_back(&op);
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !follows(operand, *movement))
        continue;
      // Ops that share a movement decide together what happens to it.
      classes.unionSets(producer, &op);
    }
  }
  llvm::MapVector<Operation *, Group> groups;
  for (Operation *op : ops)
    groups[classes.getLeaderValue(op)].push_back(op);
  return llvm::to_vector<0>(llvm::make_second_range(groups));
}

/// Returns the number of data movement ops that disappear when a group's come after it.
int64_t Eraser::gainOf(const Group &group) {
  grouped.clear();
  grouped.insert_range(group);
  DenseSet<Operation *> sources;
  int64_t gain = 0;
  for (Operation *op : group) {
    bool needed = false;
    const Movement &movement = carried.at(op->getResult(0));
    const bool costs = !movement.isPermutation() || !isFree(movement.from, movement.order);
    for (Operation *user : op->getUsers()) {
      if (grouped.contains(user) || !costs)
        continue;
      std::optional<Movement> next = movementOf(user);
      std::optional<Movement> whole = next ? movement.then(*next) : std::nullopt;
      needed |= !whole;
      gain += whole && whole->isIdentity();
    }
    gain -= needed;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && follows(operand, movement) && !grouped.contains(producer))
        sources.insert(producer);
  }
  for (Operation *source : sources)
    gain += llvm::all_of(source->getUsers(), [&](Operation *user) { return grouped.contains(user); });
  return gain;
}

void Eraser::apply(const Group &group) {
  DenseMap<Value, Value> before;
  for (Operation *op : group) {
    const Movement &movement = carried.at(op->getResult(0));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (auto known = before.find(operand); known != before.end() && follows(operand, movement))
        operands.push_back(known->second);
      else if (follows(operand, movement))
        operands.push_back(operand.getDefiningOp()->getOperand(0));
      else
        operands.push_back(adapt(operand, movement, op));
    }
    rewriter.setInsertionPoint(op);
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    if (isByDimension(moved))
      permuteAttributes(moved, movement);
    moved->setLoc(ttcore::withoutSourceNumber(op->getLoc()));
    moved->getResult(0).setType(cast<RankedTensorType>(op->getResult(0).getType()).clone(movement.from));
    before[op->getResult(0)] = moved->getResult(0);
  }
  // The movement after it now produces the result that the op produced.
  for (Operation *op : group) {
    rewriter.setInsertionPoint(op);
    Value value = move(rewriter, op->getLoc(), carried.at(op->getResult(0)), before.at(op->getResult(0)));
    rewriter.replaceAllUsesWith(op->getResult(0), value);
    state.released(value); // if nothing used it
  }
  for (Operation *op : llvm::reverse(group))
    rewriter.eraseOp(op);
}

bool Eraser::commute(int64_t least) {
  SmallVector<Group, 0> groups = findGroups();
  llvm::erase_if(groups, [&](Group &group) { return gainOf(group) < least; });
  for (const Group &group : groups)
    apply(group);
  state.eraseDead();
  return !groups.empty();
}

bool Eraser::commuteUp() {
  bool any = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    auto result = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    if (!op.hasTrait<trait::Elementwise>() || !result || result.getEncoding() || op.use_empty() ||
        state.isObserved(&op))
      continue;
    std::optional<Movement> movement = movementOf(*op.user_begin());
    // All users are the same movement, and no operand is broadcast.
    if (!movement ||
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) {
                       std::optional<Movement> other = movementOf(user);
                       return !other || !other->isLike(*movement);
                     }) ||
        llvm::any_of(op.getOperandTypes(), [&](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return !tensor || tensor.getEncoding() || tensor.getShape() != result.getShape();
        }))
      continue;
    SmallVector<Operation *> users(op.getUsers());
    llvm::SetVector<Value> moved;
    for (Value operand : op.getOperands())
      if (!state.isConstant(operand))
        moved.insert(operand);
    if (moved.size() > users.size())
      continue;
    DenseMap<Value, Value> after;
    rewriter.setInsertionPoint(&op);
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value &found = after[operand];
      if (!found)
        found = move(rewriter, ttcore::withoutSourceNumber(op.getLoc()), *movement, operand);
      operands.push_back(found);
    }
    Operation *copy = rewriter.clone(op);
    copy->setOperands(operands);
    copy->getResult(0).setType(result.clone(movement->to));
    // The op itself is then dead.
    for (Operation *user : users)
      rewriter.replaceOp(user, copy->getResult(0));
    any = true;
  }
  state.eraseDead();
  return any;
}

namespace {
struct EraseInverseOps : ttir::impl::TTIREraseInverseOpsBase<EraseInverseOps> {
  using Base::Base;

  void runOnOperation() override {
    ttcore::FusionState state(getOperation());
    RewritePatternSet set(&getContext());
    populateErasures(set, state);
    FrozenRewritePatternSet patterns(std::move(set));
    getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || !function.getFunctionBody().hasOneBlock())
        return;
      state.apply(function, patterns);
      uint64_t round = 0;
      for (; force && commuteUpwards && round < maxIterations && Eraser(function, state).commuteUp(); ++round)
        state.apply(function, patterns);
      // A movement that went up does not move down again without a gain.
      const int64_t least = force && !commuteUpwards ? 0 : 1;
      for (; commuteDownwards && round < maxIterations && Eraser(function, state).commute(least); ++round)
        state.apply(function, patterns);
    });
    if (!state.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace
