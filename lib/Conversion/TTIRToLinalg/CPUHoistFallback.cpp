//===- CPUHoistFallback.cpp - ops that the chip lacks, on the host --------===//
// SPDX-License-Identifier: Apache-2.0
//
// Every op has a phase: that of its latest operand, plus one for an op of the chip whose operand is computed on the
// host. No path leads from a phase to an earlier one, so connected host ops of one phase can be one call: everything
// that they read is computed before, and none of their users computes one of their operands. Users of an observed
// value, and ops after an op with side effects, are also one phase later.
//
//===----------------------------------------------------------------------===//

#include "Hoister.h"
#include "Lowering.h"
#include "Region.h"

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ZerosOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CPUHOISTFALLBACK
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

/// Dialects that this pass ignores.
static constexpr StringLiteral deviceDialects[] = {"builtin",   "debug",  "func", "quant", "sdy",
                                                   "stablehlo", "ttcore", "ttir", "ttnn"};

//===----------------------------------------------------------------------===//
// What the host takes
//===----------------------------------------------------------------------===//

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string refusalOf(Type type) {
  if (isa<BaseMemRefType>(type))
    return "it works on " + textOf(type) + ", and the host computes tensors";
  auto tensor = dyn_cast<TensorType>(type);
  if (tensor && (!isa<RankedTensorType>(type) || !tensor.hasStaticShape()))
    return "it has a " + textOf(type) + "; expected tensors of static sizes";
  if (tensor && cast<RankedTensorType>(type).getEncoding())
    return "it has a " + textOf(type) + "; expected tensors without an encoding";
  Type element = getElementTypeOrSelf(type);
  const bool isKnown = isa<IndexType, Float32Type, Float64Type, BFloat16Type>(element) || hostElement(element);
  return isKnown ? "" : "the host has no type for " + textOf(type);
}

/// The reason why the host does not compute an op and its regions, empty if it does; `culprit` is the op concerned.
static std::string refusalIn(Operation *outer, Operation *&culprit) {
  std::string refusal;
  outer->walk<WalkOrder::PreOrder>([&](Operation *op) {
    culprit = op;
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "ttir") {
      refusal = host::refusalOf(op);
    } else if (!op->isRegistered()) {
      refusal = "it is of no dialect that is known";
    } else if (!llvm::is_contained(hostDialects, dialect)) {
      refusal = "the host computes ops of the dialects arith, linalg, math, scf and tensor";
    } else {
      auto types = llvm::to_vector(
          llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::append_range(types, block.getArgumentTypes());
      for (Type type : types)
        if (refusal.empty())
          refusal = ::refusalOf(type);
      if (refusal.empty() && op == outer && !isMemoryEffectFree(op))
        refusal = "it has effects on memory";
    }
    return refusal.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return refusal;
}

//===----------------------------------------------------------------------===//
// Ops of one function
//===----------------------------------------------------------------------===//

namespace {
class BlockFallback {
public:
  BlockFallback(Block &block, function_ref<bool(Operation *)> isForHost, Hoister &hoister,
                llvm::StringMap<func::FuncOp> &known, const ttcore::ObservedSources &observed)
      : block(block), isForHost(isForHost), hoister(hoister), known(known), observed(observed) {}

  LogicalResult run() {
    giveConstantsToChip();
    findPhases();
    sort();
    SmallVector<SmallVector<Operation *>> parts = connected();
    for (ArrayRef<Operation *> ops : parts)
      if (failed(HostRegion(ops, hoister, known, held, isForHost).outline()))
        return failure();
    // Values computed here that are no longer read.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if ((phases.contains(&op) && isForHost(&op)) || (isFree(&op) && op.use_empty())) {
        op.dropAllUses();
        op.erase();
      }
    return success();
  }

private:
  /// Constants of other dialects that ops of the chip read.
  void giveConstantsToChip() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isFree(&op) || !isa<RankedTensorType>(op.getResult(0).getType()))
        continue;
      auto isOfChip = [&](OpOperand &use) { return !isForHost(block.findAncestorOpInBlock(*use.getOwner())); };
      if (llvm::none_of(op.getUses(), isOfChip))
        continue;
      OpBuilder builder(&op);
      Value created;
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        created = ttir::ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(constant.getValue()))->getResult(0);
      else
        created = zeros(builder, op);
      op.getResult(0).replaceUsesWithIf(created, isOfChip);
    }
  }
  static Value zeros(OpBuilder &builder, Operation &op) {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<int32_t> shape(type.getShape().begin(), type.getShape().end());
    return ttir::ZerosOp::create(builder, op.getLoc(), type, shape)->getResult(0);
  }

  /// The op of this block that produces a value; null for an argument, and for a value that is created where it is
  /// read.
  Operation *producerOf(Value value) const {
    Operation *producer = value.getDefiningOp();
    return producer && producer->getBlock() == &block && !isFree(producer) ? producer : nullptr;
  }
  void eachProducer(Operation *op, function_ref<void(Operation *)> take) const {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = producerOf(operand))
          take(producer);
    });
  }

  void findPhases() {
    int64_t base = 0, latestOfHost = -1, latest = 0;
    for (Operation &op : block.without_terminator()) {
      if (isFree(&op))
        continue;
      const bool isHost = isForHost(&op);
      int64_t phase = base;
      eachProducer(&op, [&](Operation *producer) {
        const bool ends = isForHost(producer) && (!isHost || observed.contains(producer));
        phase = std::max(phase, phases.lookup(producer) + ends);
      });
      if (!isHost && !isMemoryEffectFree(&op))
        base = phase = std::max({phase, latestOfHost + 1, latest});
      latest = std::max(latest, phase);
      if (isHost)
        latestOfHost = std::max(latestOfHost, phase);
      phases[&op] = phase;
    }
  }

  /// Ops by phase; within a phase, those of the chip come first.
  void sort() {
    // Paired with their positions, so that equal ones keep their order.
    SmallVector<std::pair<std::tuple<int64_t, bool, size_t>, Operation *>> ops;
    for (Operation &op : block.without_terminator())
      if (phases.contains(&op))
        ops.push_back({{phases.lookup(&op), isForHost(&op), ops.size()}, &op});
    if (llvm::is_sorted(ops, llvm::less_first()))
      return;
    llvm::sort(ops, llvm::less_first());
    Operation *end = block.getTerminator();
    for (auto [place, op] : ops)
      op->moveBefore(end);
  }

  /// Host ops, grouped by what can be one call.
  SmallVector<SmallVector<Operation *>> connected() {
    llvm::EquivalenceClasses<Operation *> classes;
    for (Operation &op : block.without_terminator()) {
      if (!phases.contains(&op) || !isForHost(&op))
        continue;
      classes.insert(&op);
      eachProducer(&op, [&](Operation *producer) {
        if (isForHost(producer) && phases.lookup(producer) == phases.lookup(&op))
          classes.unionSets(producer, &op);
      });
    }
    SmallVector<SmallVector<Operation *>> parts;
    DenseMap<Operation *, size_t> indices;
    for (Operation &op : block.without_terminator()) {
      if (!phases.contains(&op) || !isForHost(&op))
        continue;
      auto [index, isNew] = indices.try_emplace(classes.getLeaderValue(&op), parts.size());
      if (isNew)
        parts.emplace_back();
      parts[index->second].push_back(&op);
    }
    return parts;
  }

  Block &block;
  function_ref<bool(Operation *)> isForHost;
  Hoister &hoister;
  llvm::StringMap<func::FuncOp> &known;
  const ttcore::ObservedSources &observed;
  DenseMap<Operation *, int64_t> phases;
  DenseMap<Value, Value> held; // tensors of the program, by the values of the host that they stand for
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct HoistFallback : tt::impl::CPUHoistFallbackBase<HoistFallback> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp device = deviceModule(getOperation());
    lowered.clear();
    bool ok = true;
    SmallVector<Block *> blocks; // that have ops for the host
    for (auto function : device.getOps<func::FuncOp>()) {
      for (Block &block : function.getBody()) {
        bool any = false;
        for (Operation &op : block.without_terminator()) {
          any |= isForHost(&op);
          ok &= succeeded(check(&op));
        }
        if (any)
          blocks.push_back(&block);
        if (any && enabled && !llvm::hasSingleElement(function.getBody())) {
          function.emitError() << "'" << function.getSymName() << "' has ops for the host and "
                               << llvm::range_size(function.getBody()) << " blocks; expected one";
          ok = false;
        }
      }
    }
    if (!ok)
      return signalPassFailure();
    if (blocks.empty())
      return markAllAnalysesPreserved();
    Hoister hoister(getOperation());
    ttcore::ObservedSources observed(getOperation());
    llvm::StringMap<func::FuncOp> known;
    auto forHost = [&](Operation *op) { return isForHost(op); };
    for (Block *block : blocks)
      if (failed(BlockFallback(*block, forHost, hoister, known, observed).run()))
        return signalPassFailure();
  }

private:
  bool isForHost(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return false;
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect != "ttir")
      return llvm::is_contained(hostDialects, dialect);
    // Without the option, the conversion reports it, with the reason that its pattern gives.
    if (!enabled || !hasCode(op->getName().getStringRef()))
      return false;
    auto [found, isNew] = lowered.try_emplace(op->getName(), true);
    if (isNew)
      found->second = !ttnn::ttirLowering(op->getName().getStringRef(), &getContext()).empty();
    return !found->second;
  }

  LogicalResult check(Operation *op) {
    const bool isHost = isForHost(op);
    if (!isHost && (!enabled || llvm::is_contained(deviceDialects, op->getName().getDialectNamespace())))
      return success();
    Operation *culprit = op;
    std::string refusal = refusalIn(op, culprit);
    if (refusal.empty() && enabled)
      return success();
    InFlightDiagnostic error = op->emitError() << "'" << op->getName() << "' is no op of the chip";
    if (refusal.empty())
      return error << "; with the option cpu-fallback the host computes it";
    error << (enabled ? ", and the host does not take it: " : ", nor would the host take it with cpu-fallback: ");
    if (culprit != op)
      error << "of '" << culprit->getName() << "' in it, ";
    return error << refusal;
  }

  DenseMap<OperationName, bool> lowered; // whether ops of TTIR have a lowering for the chip
};
} // namespace
