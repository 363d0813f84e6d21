//===- EraseInverseOps.cpp - cancellation of inverse data movement --------===//
//
// Movements next to each other become one, or none. To bring them next to each other, they are moved down through
// elementwise ops, a whole group of these at a time, and only where fewer of them are left in the end. So the number of
// movements falls with every round, and rounds are few: a group is all that can be reached.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRERASEINVERSEOPS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

//===----------------------------------------------------------------------===//
// Ops that do nothing, and movements in a row
//===----------------------------------------------------------------------===//

/// Whether every value of one format is a value of the other.
static bool holds(Type wide, Type narrow) {
  if (wide == narrow)
    return true;
  if (wide.isF32())
    return narrow.isBF16() || narrow.isF16() || narrow.isInteger(1);
  auto to = dyn_cast<IntegerType>(wide), from = dyn_cast<IntegerType>(narrow);
  return to && from && to.getSignedness() == from.getSignedness() && to.getWidth() >= from.getWidth() &&
         from.getWidth() > 1;
}

/// Ops that may turn out to change nothing but a type that is the same.
static bool mayDoNothing(Operation *op) {
  auto isOne = [](auto values) { return llvm::all_of(values, [](int64_t value) { return value == 1; }); };
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return isOne(broadcast.getBroadcastDimensions());
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return isOne(repeat.getRepeatDimensions());
  if (auto pad = dyn_cast<PadOp>(op))
    return llvm::all_of(pad.getPadding(), [](int32_t size) { return size == 0; });
  // Slices go forwards: one with as many values as its input has all of them.
  return isa<TypecastOp, SliceStaticOp>(op) || (isa<ConcatOp>(op) && op->getNumOperands() == 1);
}

namespace {
/// One function at work.
class Eraser {
public:
  Eraser(Operation *module, FunctionOpInterface function)
      : body(function.getFunctionBody().front()), builder(module->getContext()), observed(module) {}

  void simplify();
  /// Whether some group of ops was worth it.
  bool commute();
  bool hasChanged() const { return changed; }

private:
  /// Elementwise ops in program order.
  using Group = SmallVector<Operation *>;

  std::optional<Movement> movementOf(Operation *op) const {
    return op && !observed.contains(op) ? Movement::of(op) : std::nullopt;
  }
  void replace(Operation *op, Value value);
  void simplifyCast(TypecastOp op);
  /// Reads past an op, which is erased later if nothing else reads it.
  Value skip(Operation *op) {
    skipped.insert(op);
    return op->getOperand(0);
  }
  void eraseSkipped();
  std::optional<Movement> carriedBy(Operation *op);
  bool isAdaptable(Value operand, const Movement &movement, Operation *op);
  Value adapt(Value operand, const Movement &movement, Operation *op);
  SmallVector<Group, 0> findGroups();
  int64_t gainOf(const Group &group);
  void apply(const Group &group);

  Block &body;
  OpBuilder builder;
  ttcore::ObservedSources observed;
  ttcore::ConstantAnalysis constants;
  /// Movements that values have behind them and that could come after the elementwise ops that made them.
  DenseMap<Value, Movement> carried;
  DenseSet<Operation *> grouped, skipped;
  bool changed = false;
};
} // namespace

void Eraser::replace(Operation *op, Value value) {
  changed = true;
  op->getResult(0).replaceAllUsesWith(value);
  skipped.erase(op);
  op->erase();
}

/// Casts to a type and back, or on to a third one, where the type between holds all values.
void Eraser::simplifyCast(TypecastOp op) {
  auto inner = op.getInput().getDefiningOp<TypecastOp>();
  if (!inner || observed.contains(inner) || !holds(elementOf(inner.getResult()), elementOf(inner.getInput())))
    return;
  changed = true;
  if (inner.getInput().getType() == op.getResult().getType())
    replace(op, skip(inner));
  else
    op->setOperand(0, skip(inner));
}

void Eraser::eraseSkipped() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (skipped.contains(&op) && op.use_empty()) {
      // What it read may have been skipped for its sake only.
      if (Operation *maker = op.getOperand(0).getDefiningOp(); movementOf(maker))
        skipped.insert(maker);
      op.erase();
    }
  skipped.clear();
}

void Eraser::simplify() {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (op.getNumOperands() == 0 || op.getNumResults() != 1 || observed.contains(&op))
      continue;
    bool keepsType = op.getOperand(0).getType() == op.getResult(0).getType();
    if (keepsType && mayDoNothing(&op)) {
      replace(&op, op.getOperand(0));
      continue;
    }
    if (auto cast = dyn_cast<TypecastOp>(op)) {
      simplifyCast(cast);
      continue;
    }
    std::optional<Movement> second = Movement::of(&op);
    if (!second)
      continue;
    Value source = op.getOperand(0);
    std::optional<Movement> whole = second;
    if (std::optional<Movement> first = movementOf(source.getDefiningOp()))
      if ((whole = first->then(*second)))
        source = skip(source.getDefiningOp());
    bool alone = source == op.getOperand(0);
    if (alone && !second->isIdentity() && second->isPermutation() == isa<PermuteOp, TransposeOp>(op))
      continue;
    builder.setInsertionPoint(&op);
    replace(&op, (alone ? *second : *whole).apply(builder, op.getLoc(), source));
  }
  eraseSkipped();
}

//===----------------------------------------------------------------------===//
// Movements through elementwise ops
//===----------------------------------------------------------------------===//

/// Whether an operand that carries no movement can be moved back at no cost in a run: a constant, or one value.
bool Eraser::isAdaptable(Value operand, const Movement &movement, Operation *op) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getEncoding() || type.getRank() > static_cast<int64_t>(movement.to.size()))
    return false;
  if (ShapedType::getNumElements(type.getShape()) == 1)
    return true;
  return constants.isConstant(operand) && (movement.isPermutation() || type.getShape() == ArrayRef(movement.to));
}

/// The operand as it is before the movement.
Value Eraser::adapt(Value operand, const Movement &movement, Operation *op) {
  builder.setInsertionPoint(op);
  Location loc = ttcore::withoutSourceNumber(op->getLoc());
  ArrayRef<int64_t> shape = shapeOf(operand);
  if (ShapedType::getNumElements(shape) == 1)
    return Movement::reshape(shape, SmallVector<int64_t>(movement.from.size(), 1)).apply(builder, loc, operand);
  if (!movement.isPermutation())
    return movement.inverse().apply(builder, loc, operand);
  SmallVector<int64_t> whole(shape);
  whole.insert(whole.begin(), movement.to.size() - shape.size(), 1);
  Value ranked = Movement::reshape(shape, whole).apply(builder, loc, operand);
  return Movement::permutation(whole, movement.inverse().order).apply(builder, loc, ranked);
}

/// The movement of all operands of an elementwise op, as far as they are more than constants.
std::optional<Movement> Eraser::carriedBy(Operation *op) {
  auto result = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  if (!op->hasTrait<trait::Elementwise>() || !result || result.getEncoding() || observed.contains(op))
    return std::nullopt;
  const Movement *common = nullptr;
  for (Value operand : op->getOperands()) {
    auto found = carried.find(operand);
    if (found == carried.end())
      continue;
    if (common && !common->isLike(found->second))
      return std::nullopt;
    // Broadcasting is by dimension, which only an order of all of them keeps.
    if (found->second.isPermutation() ? static_cast<int64_t>(found->second.to.size()) != result.getRank()
                                      : ArrayRef(found->second.to) != result.getShape())
      return std::nullopt;
    common = &found->second;
  }
  if (!common)
    return std::nullopt;
  Movement movement = *common;
  for (Value operand : op->getOperands())
    if (!carried.contains(operand) && !isAdaptable(operand, movement, op))
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
      Operation *maker = operand.getDefiningOp();
      if (!maker || !carried.contains(operand))
        continue;
      // Ops that share a movement decide together what becomes of it.
      classes.unionSets(maker, &op);
    }
  }
  llvm::MapVector<Operation *, Group> groups;
  for (Operation *op : ops)
    groups[classes.getLeaderValue(op)].push_back(op);
  return llvm::to_vector<0>(llvm::make_second_range(groups));
}

/// By how many movements there are fewer when a group's come after it.
int64_t Eraser::gainOf(const Group &group) {
  grouped.clear();
  grouped.insert_range(group);
  DenseSet<Operation *> sources;
  int64_t gain = 0;
  for (Operation *op : group) {
    bool needed = false;
    const Movement &movement = carried.at(op->getResult(0));
    for (Operation *user : op->getUsers()) {
      if (grouped.contains(user))
        continue;
      std::optional<Movement> next = movementOf(user);
      std::optional<Movement> whole = next ? movement.then(*next) : std::nullopt;
      needed |= !whole;
      gain += whole && whole->isIdentity();
    }
    gain -= needed;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && carried.contains(operand) && !grouped.contains(maker))
        sources.insert(maker);
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
      if (auto known = before.find(operand); known != before.end())
        operands.push_back(known->second);
      else if (carried.contains(operand))
        operands.push_back(skip(operand.getDefiningOp()));
      else
        operands.push_back(adapt(operand, movement, op));
    }
    builder.setInsertionPoint(op);
    Operation *moved = builder.clone(*op);
    moved->setOperands(operands);
    moved->setLoc(ttcore::withoutSourceNumber(op->getLoc()));
    moved->getResult(0).setType(cast<RankedTensorType>(op->getResult(0).getType()).clone(movement.from));
    before[op->getResult(0)] = moved->getResult(0);
  }
  // What the op gave is now given by the movement behind it.
  for (Operation *op : group) {
    builder.setInsertionPoint(op);
    Value value = carried.at(op->getResult(0)).apply(builder, op->getLoc(), before.at(op->getResult(0)));
    op->getResult(0).replaceAllUsesWith(value);
    skipped.insert(value.getDefiningOp());
  }
  for (Operation *op : llvm::reverse(group))
    op->erase();
}

bool Eraser::commute() {
  constants = {};
  SmallVector<Group, 0> groups = findGroups();
  llvm::erase_if(groups, [&](Group &group) { return gainOf(group) <= 0; });
  for (const Group &group : groups)
    apply(group);
  changed |= !groups.empty();
  return !groups.empty();
}

namespace {
struct EraseInverseOps : ttir::impl::TTIREraseInverseOpsBase<EraseInverseOps> {
  using Base::Base;

  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || !function.getFunctionBody().hasOneBlock())
        return;
      Eraser eraser(getOperation(), function);
      eraser.simplify();
      for (uint64_t round = 0; round < maxIterations && eraser.commute(); ++round)
        eraser.simplify();
      changed |= eraser.hasChanged();
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
