//===- InsertExplicitReshards.cpp - what each op needs of its operands ----===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "CommonAxes.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYINSERTEXPLICITRESHARDS
#define GEN_PASS_DEF_INSERTEXPLICITRESHARDS
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

std::optional<ReductionOp> sdy::getReductionOp(Operation *op) {
  auto reduce = dyn_cast<hlo::ReduceOp>(op);
  // Booleans of devices that hold other parts are false.
  if (isa<hlo::GatherOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return ReductionOp::MAX;
  if (!reduce)
    return ReductionOp::SUM;
  Block &body = reduce.getBody().front();
  Operation *terminator = body.getTerminator();
  if (terminator->getNumOperands() != 1)
    return std::nullopt;
  Operation *combine = terminator->getOperand(0).getDefiningOp();
  if (!combine || combine->getNumOperands() != 2 || combine->getBlock() != &body ||
      llvm::any_of(combine->getOperands(), [](Value value) { return !isa<BlockArgument>(value); }) ||
      combine->getOperand(0) == combine->getOperand(1))
    return std::nullopt;
  if (isa<hlo::MaxOp>(combine))
    return ReductionOp::MAX;
  if (isa<hlo::MinOp>(combine))
    return ReductionOp::MIN;
  if (!isa<hlo::AddOp>(combine) || getElementTypeOrSelf(combine->getOperand(0)).isInteger(1))
    return std::nullopt;
  // Each device adds the initial value, which must not be counted more than once.
  Operation *init = reduce.getInitValues().front().getDefiningOp();
  auto value = init ? init->getAttrOfType<DenseElementsAttr>("value") : DenseElementsAttr();
  if (!value || !init->hasTrait<tt::trait::Creation>() || !value.isSplat())
    return std::nullopt;
  Attribute element = value.getSplatValue<Attribute>();
  bool isZero = matchPattern(element, m_Zero()) || matchPattern(element, m_AnyZeroFloat());
  return isZero ? std::optional(ReductionOp::SUM) : std::nullopt;
}

/// Whether combining an op's results is the same as combining these operands first.
static bool keepsPartialValues(Operation *op, ArrayRef<bool> isPartial, ReductionOp reduction) {
  const size_t count = llvm::count(isPartial, true);
  const bool isFirst = count == 1 && isPartial[0], isAll = count > 0 && count == isPartial.size();
  const bool isLinear = op->hasTrait<tt::trait::Linear>(), isLinearInFirst = op->hasTrait<tt::trait::LinearInFirst>();
  // An op that only moves values commutes with any combination.
  if (op->hasTrait<tt::trait::MovesValues>() || op->hasTrait<tt::trait::ForwardsValues>())
    return (isLinear && isAll) || (isLinearInFirst && isFirst);
  switch (reduction) {
  case ReductionOp::SUM:
    if (isLinear)
      return isAll && !getElementTypeOrSelf(op->getResult(0)).isInteger(1);
    // A quotient of integers is rounded.
    if (isLinearInFirst)
      return isFirst && !(isa<hlo::DivOp>(op) && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0))));
    if (op->hasTrait<tt::trait::LinearInEach>())
      return count == 1;
    return isa<hlo::ReduceOp>(op) && isFirst && op->getNumOperands() == 2 &&
           sdy::getReductionOp(op) == ReductionOp::SUM;
  case ReductionOp::MAX:
    return isa<hlo::MaxOp>(op) && count > 0;
  case ReductionOp::MIN:
    return isa<hlo::MinOp>(op) && count > 0;
  }
  llvm_unreachable("all reductions are handled");
}

namespace {
using MaybeSharding = std::optional<Sharding>;

class Inserter {
public:
  Inserter(func::FuncOp function, bool isFull, bool exchangesEdges)
      : function(function), isFull(isFull), exchangesEdges(exchangesEdges), meshes(function) {}

  LogicalResult run() {
    if (function.isExternal())
      return success();
    if (failed(checkBoundaries()))
      return failure();
    visit(function.getBody());
    return failure(hasFailed);
  }

private:
  LogicalResult checkBoundaries() {
    auto check = [&](TensorShardingAttr sharding, StringRef what, unsigned index) -> LogicalResult {
      if (sharding && resolve(sharding, meshes).isMaximal())
        return function.emitOpError() << what << ' ' << index << " lies on a single device (" << sharding
                                      << "); expected a sharding over the axes of a mesh";
      return success();
    };
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      if (failed(check(function.getArgAttrOfType<TensorShardingAttr>(index, kShardingAttr), "argument", index)))
        return failure();
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (failed(check(getResultShardingAttr(function, index), "result", index)))
        return failure();
    return success();
  }

  void visit(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        visit(&op);
  }

  MaybeSharding get(Value value) const {
    TensorShardingAttr attribute = insideOf.lookup(value);
    if (!attribute)
      attribute = getShardingAttr(value);
    return attribute ? MaybeSharding(resolve(attribute, meshes)) : std::nullopt;
  }

  void visit(Operation *op) {
    SmallVector<Edge> edges = getEdges(op);
    if (!edges.empty() || tt::runsRegions(op)) {
      visitDataFlow(op, edges);
      return;
    }
    if (auto call = dyn_cast<func::CallOp>(op))
      return visitCall(call);
    if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands()) {
        TensorShardingAttr sharding = operand.getOperandNumber() < function.getNumResults()
                                          ? getResultShardingAttr(function, operand.getOperandNumber())
                                          : TensorShardingAttr();
        bring(operand, sharding ? MaybeSharding(resolve(sharding, meshes)) : std::nullopt);
      }
      return;
    }
    if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0 ||
        (isa<SdyDialect>(op->getDialect()) && !tt::isPointwise(op)))
      return;
    visitOp(op);
  }

  //===--------------------------------------------------------------------===//
  // Values between ops
  //===--------------------------------------------------------------------===//

  /// Reshards an operand unless it already has this split.
  void bring(OpOperand &operand, const MaybeSharding &requested) {
    auto shaped = dyn_cast<RankedTensorType>(operand.get().getType());
    MaybeSharding have = get(operand.get());
    if (!shaped || areEquivalent(have, requested) || (!have && !requested))
      return;
    OpBuilder builder(operand.getOwner());
    builder.setInsertionPoint(operand.getOwner());
    Value value = reduceUnrequested(builder, operand.get(), have, requested);
    have = get(value);
    if (isFull && !areEquivalent(have, requested)) {
      Sharding target = requested ? closed(*requested) : have->replicatedLike();
      value = ReshardOp::create(builder, operand.getOwner()->getLoc(), value, toAttribute(target));
    }
    operand.set(value);
  }

  /// Combines the partial values that no user accepts.
  Value reduceUnrequested(OpBuilder &builder, Value value, const MaybeSharding &have, const MaybeSharding &requested) {
    if (!have || have->unreduced.empty())
      return value;
    Axes reduced = difference(have->unreduced, requested ? AxesRef(requested->unreduced) : AxesRef());
    if (reduced.empty())
      return value;
    sortAndMerge(reduced);
    Sharding after = closed(*have);
    after.unreduced = difference(have->unreduced, reduced);
    return AllReduceOp::create(builder, value.getLoc(), value.getType(), value,
                               toListAttribute(builder.getContext(), reduced, have->mesh), have->reductionOp,
                               toAttribute(after));
  }

  static Sharding closed(Sharding sharding) {
    for (DimSharding &dim : sharding.dims)
      dim = {dim.axes, /*isClosed=*/true, std::nullopt};
    sharding.replicated.clear();
    return sharding;
  }

  void visitDataFlow(Operation *op, ArrayRef<Edge> edges) {
    for (const Edge &edge : edges) {
      TensorShardingAttr attribute = getOwnerSharding(edge);
      MaybeSharding owner = attribute ? MaybeSharding(resolve(attribute, meshes)) : std::nullopt;
      if (attribute)
        for (Value target : edge.targets)
          insideOf[target] = attribute;
      outside[edge.owner()] = owner;
    }
    for (Region &region : op->getRegions())
      visit(region);
    for (const Edge &edge : edges) {
      MaybeSharding requested = outside[edge.owner()];
      if (auto manual = dyn_cast<ManualComputationOp>(op)) {
        if (edge.kind == Edge::ManualArgument)
          requested =
              resolve(manual.getInShardings().getShardings()[cast<BlockArgument>(edge.owner()).getArgNumber()], meshes);
        else if (requested)
          requested = withoutManualAxes(*requested, getManualAxes(manual, requested->mesh));
      }
      for (OpOperand *source : edge.sources)
        bring(*source, requested);
    }
  }

  void visitCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee)
      return;
    bool wasFull = std::exchange(isFull, true);
    auto find = [&](TensorShardingAttr sharding) {
      return sharding ? MaybeSharding(resolve(sharding, meshes)) : std::nullopt;
    };
    for (OpOperand &operand : call->getOpOperands())
      bring(operand, find(callee.getArgAttrOfType<TensorShardingAttr>(operand.getOperandNumber(), kShardingAttr)));
    for (OpResult result : call->getResults())
      give(result, find(getResultShardingAttr(callee, result.getResultNumber())));
    isFull = wasFull;
  }

  /// The op produces its result in `given`; users get the sharding that they had.
  void give(OpResult result, const MaybeSharding &given) {
    MaybeSharding old = get(result);
    if (areEquivalent(old, given)) {
      return;
    }
    OpBuilder builder(result.getOwner());
    builder.setInsertionPointAfter(result.getOwner());
    Sharding base = old ? *old : *given;
    Sharding target = old ? closed(*old) : base.replicatedLike();
    auto reshard = ReshardOp::create(builder, result.getLoc(), result, toAttribute(target));
    result.replaceAllUsesExcept(reshard, reshard);
    setShardingAttr(result, toAttribute(given ? closed(*given) : base.replicatedLike()));
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// Whether the op exchanges data between shards itself. Such ops are not changed.
  static bool isOpaque(Operation *op) {
    auto call = dyn_cast<hlo::CustomCallOp>(op);
    return op->getNumOperands() == 0 ||
           (call && (call.getCallTargetName().contains("SPMD") || call.getCallTargetName().ends_with("Sharding")));
  }

  /// Combines the partial values of operands that the result does not have.
  void reduceOperands(Operation *op) {
    MaybeSharding result = get(op->getResult(0));
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (MaybeSharding have = get(operand.get()); have && !have->unreduced.empty())
        operand.set(reduceUnrequested(builder, operand.get(), have, result));
  }

  /// The result has partial values that the op computes, or that it derives from those of its operands.
  LogicalResult checkPartialValues(Operation *op, const Rule *rule, ArrayRef<MaybeSharding> shardings) {
    const MaybeSharding &result = shardings[op->getNumOperands()];
    if (!result || result->unreduced.empty() || isa<ShardingConstraintOp, PropagationBarrierOp>(op))
      return success();
    Axes computed;
    for (size_t operand = 0; rule && operand < op->getNumOperands(); ++operand) {
      FactorShardings factors = project(*rule, operand, shardings[operand] ? &*shardings[operand] : nullptr);
      for (size_t factor = 0; factor < rule->numFactors(); ++factor)
        if (rule->types[factor].kind == FactorKind::Reduction)
          llvm::append_range(computed, factors.factors[factor].axes);
    }
    for (Axis axis : difference(result->unreduced, computed)) {
      SmallVector<bool> isPartial;
      for (const MaybeSharding &sharding : shardings.take_front(op->getNumOperands()))
        isPartial.push_back(sharding && overlapsAny(axis, sharding->unreduced));
      if (!keepsPartialValues(op, isPartial, result->reductionOp)) {
        hasFailed = true;
        return op->emitOpError() << "does not give partial values along axis \""
                                 << result->mesh.getAxes()[axis.index].getName() << "\", which its result has in "
                                 << toAttribute(*result)
                                 << "; expected ones of a sum over that axis, or of operands that the op is linear in";
      }
    }
    return success();
  }

  void visitOp(Operation *op) {
    SmallVector<Value> values(op->getOperands());
    const Sharding *first = nullptr;
    SmallVector<MaybeSharding, 0> shardings;
    reduceOperands(op);
    values.assign(op->operand_begin(), op->operand_end());
    llvm::append_range(values, op->getResults());
    for (Value value : values)
      shardings.push_back(isa<RankedTensorType>(value.getType()) ? get(value) : std::nullopt);
    // The mesh of the most tensors that are split.
    SmallVector<std::pair<const Sharding *, unsigned>> counts;
    for (const MaybeSharding &sharding : shardings) {
      if (!sharding || sharding->isReplicated() || sharding->isMaximal())
        continue;
      auto *found = llvm::find_if(counts, [&](auto &entry) { return entry.first->mesh == sharding->mesh; });
      if (found == counts.end())
        counts.emplace_back(&*sharding, 1);
      else
        ++found->second;
    }
    for (auto &[sharding, count] : counts)
      if (!first || count > llvm::find_if(counts, [&](auto &e) { return e.first == first; })->second)
        first = sharding;
    if (!first || isOpaque(op))
      return;
    if (llvm::any_of(counts, [&](auto &entry) { return !haveSameAxes(entry.first->mesh, first->mesh); }))
      return;
    OpShardingRuleAttr attribute = getShardingRule(op);
    if (attribute && attribute.getIsCustomRule())
      return;
    const Rule *rule = attribute ? rules.get(attribute) : nullptr;
    if (failed(checkPartialValues(op, rule, shardings)))
      return;
    bool isConcatenation = isa<hlo::ConcatenateOp>(op);
    bool isFullHere = isFull || (isConcatenation && llvm::any_of(op->getOperands(), [&](Value operand) {
                                   return !areEquivalent(get(operand), get(op->getResult(0)));
                                 }));
    std::optional<ReductionOp> reductionOp = getReductionOp(op);
    SmallVector<Axes> assigned;
    if (rule && llvm::all_of(llvm::enumerate(shardings), [&](auto entry) {
          return !entry.value() || entry.value()->dims.size() == rule->tensors[entry.index()].size();
        })) {
      if (!assign(op, *rule, shardings, reductionOp.has_value(), isFullHere, assigned))
        return;
    } else {
      rule = nullptr;
      if (!isFullHere)
        return;
    }
    if (isFullHere)
      applyAxes(op, rule, assigned, shardings, *first);
    if (rule && reductionOp)
      combinePartialResults(op, *rule, assigned, *reductionOp, *first);
  }

  /// Returns false if nothing is to be done.
  bool assign(Operation *op, const Rule &rule, ArrayRef<MaybeSharding> shardings, bool canReduce, bool isFullHere,
              SmallVector<Axes> &assigned) const {
    SmallVector<FactorShardings, 4> tensors;
    for (auto [index, sharding] : llvm::enumerate(shardings))
      tensors.push_back(project(rule, index, sharding ? &*sharding : nullptr, /*isMissingClosed=*/true));
    OpShardings view = {rule, tensors, SmallVector<bool>(rule.numFactors(), false)};
    for (size_t factor = 0; factor < rule.numFactors(); ++factor) {
      FactorKind kind = rule.types[factor].kind;
      // Devices compute on what they hold: an op that needs a neighbor's data needs the whole dimension.
      view.needsWhole[factor] = kind == FactorKind::NeedReplication || kind == FactorKind::Permutation ||
                                (kind == FactorKind::Reduction && !canReduce);
    }
    // All except dimensions that edges of neighbors complete.
    SmallVector<WindowedDim, 2> windows;
    if (exchangesEdges)
      windows = stablehlo::getWindowedDims(op);
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    for (auto [value, tensor] : llvm::zip(values, rule.tensors)) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      for (auto [dim, factors] : llvm::enumerate(tensor)) {
        bool isWindow = llvm::any_of(factors, [&](int32_t f) { return rule.types[f].kind == FactorKind::Permutation; });
        bool isUnknown = factors.size() == 1 && rule.sizes[factors[0]] == 1 && type.getDimSize(dim) != 1;
        for (int32_t factor : factors)
          if (isWindow || isUnknown)
            view.needsWhole[factor] = true;
      }
    }
    for (size_t factor = 0; factor < rule.numFactors(); ++factor)
      if (rule.sizes[factor] > 1 && isWindowed(rule, windows, static_cast<int32_t>(factor)))
        view.needsWhole[factor] = rule.types[factor].kind == FactorKind::Reduction && !canReduce;
    if (!isFullHere && !areCompatible(view))
      return false;
    assigned = findCommonAxes(view);
    if (isFullHere)
      keepDivisible(rule, values, shardings, assigned);
    keepNeighbours(op, rule, windows, assigned);
    return true;
  }

  /// Gives up axes by which a tensor that was not split by them cannot be split.
  static void keepDivisible(const Rule &rule, ArrayRef<Value> values, ArrayRef<MaybeSharding> shardings,
                            MutableArrayRef<Axes> assigned) {
    for (auto [index, tensor] : llvm::enumerate(rule.tensors)) {
      auto type = dyn_cast<RankedTensorType>(values[index].getType());
      for (auto [dim, factors] : llvm::enumerate(tensor)) {
        auto shards = [&, factors = ArrayRef<int32_t>(factors)] {
          int64_t size = 1;
          for (int32_t factor : factors)
            size *= product(assigned[factor]);
          return size;
        };
        int64_t had = shardings[index] ? product(shardings[index]->dims[dim].axes) : 1;
        for (int32_t factor : llvm::reverse(factors))
          while (!assigned[factor].empty() && type.getDimSize(dim) % shards() != 0 && had != shards())
            assigned[factor].pop_back();
      }
    }
  }

  /// Gives up axes along which windows reach further than to the neighbors.
  static void keepNeighbours(Operation *op, const Rule &rule, ArrayRef<WindowedDim> windows,
                             MutableArrayRef<Axes> assigned) {
    for (const WindowedDim &window : windows)
      for (int32_t factor : rule.tensors[0][window.operand])
        while (!assigned[factor].empty() && !stablehlo::getFootprint(op, window, product(assigned[factor])))
          assigned[factor].pop_back();
  }

  /// Without a rule, all tensors are replicated.
  void applyAxes(Operation *op, const Rule *rule, ArrayRef<Axes> assigned, ArrayRef<MaybeSharding> shardings,
                 const Sharding &mesh) {
    auto requested = [&](size_t index, Value value) {
      Sharding sharding = Sharding::open(mesh.meshOrRef, mesh.mesh, cast<RankedTensorType>(value.getType()).getRank(),
                                         /*isClosed=*/true);
      if (shardings[index] && shardings[index]->mesh == mesh.mesh) {
        sharding.unreduced = shardings[index]->unreduced;
        sharding.reductionOp = shardings[index]->reductionOp;
      }
      if (!rule)
        return sharding;
      FactorShardings factors;
      factors.factors.resize(rule->numFactors());
      for (size_t factor = 0; factor < rule->numFactors(); ++factor)
        if (rule->has[index][factor])
          factors.factors[factor].axes = assigned[factor];
      unproject(*rule, index, factors, sharding);
      for (DimSharding &dim : sharding.dims)
        dim.isClosed = true;
      return sharding;
    };
    unsigned operands = op->getNumOperands();
    // Partial values of operands are those that the result keeps.
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType())) {
        Sharding target = requested(operand.getOperandNumber(), operand.get());
        bool wasFull = std::exchange(isFull, true);
        bring(operand, target);
        isFull = wasFull;
      }
    for (OpResult result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        give(result, requested(operands + result.getResultNumber(), result));
  }

  void combinePartialResults(Operation *op, const Rule &rule, ArrayRef<Axes> assigned, ReductionOp reductionOp,
                             const Sharding &mesh) {
    Axes axes;
    for (size_t factor = 0; factor < rule.numFactors(); ++factor)
      if (rule.types[factor].kind == FactorKind::Reduction)
        llvm::append_range(axes, assigned[factor]);
    for (OpResult result : op->getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      MaybeSharding sharding = get(result);
      Axes reduced = difference(axes, sharding ? AxesRef(sharding->unreduced) : AxesRef());
      if (reduced.empty())
        continue;
      sortAndMerge(reduced);
      Sharding after = sharding ? closed(*sharding)
                                : Sharding::open(mesh.meshOrRef, mesh.mesh,
                                                 cast<RankedTensorType>(result.getType()).getRank(), true);
      OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      auto combined =
          AllReduceOp::create(builder, op->getLoc(), result.getType(), result,
                              toListAttribute(op->getContext(), reduced, mesh.mesh), reductionOp, toAttribute(after));
      result.replaceAllUsesExcept(combined, combined);
    }
  }

  func::FuncOp function;
  bool isFull, exchangesEdges, hasFailed = false;
  Meshes meshes;
  RuleCache rules;
  DenseMap<Value, TensorShardingAttr> insideOf;
  DenseMap<Value, MaybeSharding> outside;
};

template <typename Base> struct InsertReshards : Base {
  using Base::Base;
  void runOnOperation() override {
    if (failed(Inserter(this->getOperation(), this->enableFullVersion, this->enableHaloExchange).run()))
      this->signalPassFailure();
  }
};
struct SdyInsertExplicitReshards : InsertReshards<sdy::impl::SdyInsertExplicitReshardsBase<SdyInsertExplicitReshards>> {
  using InsertReshards::InsertReshards;
};
struct InsertExplicitReshards : InsertReshards<sdy::impl::InsertExplicitReshardsBase<InsertExplicitReshards>> {
  using InsertReshards::InsertReshards;
};
} // namespace
