//===- GreedyL1SpillManagement.cpp - what does not fit into L1 ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DecisionTrace.h"
#include "L1.h"
#include "Overrides.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNGREEDYL1SPILLMANAGEMENT
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// A tensor that moves back to DRAM: the op that produces it, by its number at the time.
struct Spill {
  unsigned number;
  std::string name, location, reason;
};

/// One run of a function on an empty chip.
class Run {
public:
  Run(func::FuncOp function, const ChipMemory &chip, double share, const Overrides &overrides,
      SymbolTableCollection &symbols)
      : function(function), chip(chip), overrides(overrides), symbols(symbols), facts(function.getBody().front(), chip),
        l1(chip.base, chip.end), most(static_cast<int64_t>(share * static_cast<double>(chip.usable()))),
        addresses(facts.tensors.size()) {}

  /// Moves tensors that do not fit to DRAM, with the reason. Returns false if all fit.
  bool spill(SmallVectorImpl<Spill> &spills) {
    for (auto [number, op] : llvm::enumerate(facts.ops)) {
      for (unsigned tensor : facts.madeBy[number])
        place(tensor, number, spills);
      // Kernels use only the space below the tensors, if possible.
      for (int64_t circular; (circular = circularOf(op)) && chip.base + circular > l1.lowest();)
        if (!evict(number,
                   llvm::formatv("the circular buffers of op {0} ({1}) take {2} bytes of each core", number,
                                 op->getName(), circular)
                       .str(),
                   spills))
          break;
      highest = std::max(highest, l1.used());
      for (unsigned tensor : facts.endsAt[number])
        release(tensor);
    }
    for (Value value : moved)
      putIntoDram(value);
    return !moved.empty();
  }
  int64_t peak() const { return highest; }

private:
  void place(unsigned tensor, unsigned number, SmallVectorImpl<Spill> &spills) {
    const int64_t bytes = llvm::alignTo(std::max<int64_t>(facts.tensors[tensor].bytes, 1), chip.l1Alignment);
    live.push_back(tensor);
    while (llvm::is_contained(live, tensor)) {
      std::optional<int64_t> address = l1.used() + bytes <= most ? l1.allocate(bytes) : std::nullopt;
      if (address) {
        addresses[tensor] = *address;
        return;
      }
      evict(number,
            llvm::formatv(
                "op {0} ({1}) needs {2} bytes of each core for its result, in addition to {3} of {4} that are taken",
                number, facts.ops[number]->getName(), bytes, l1.used(), most)
                .str(),
            spills);
    }
  }

  /// Moves the tensor that is needed again last to DRAM; among equals, the largest.
  bool evict(unsigned number, const std::string &why, SmallVectorImpl<Spill> &spills) {
    std::optional<unsigned> victim;
    auto rank = [&](unsigned tensor) {
      const L1Tensor &each = facts.tensors[tensor];
      const auto *next = llvm::upper_bound(each.uses, number);
      // Tensors that this op reads or produces are needed now.
      const bool isNow = llvm::is_contained(each.uses, number);
      const unsigned nextUse = isNow ? number : next == each.uses.end() ? each.created : *next;
      return std::tuple(nextUse, each.bytes);
    };
    for (unsigned tensor : live)
      if (!victim || rank(tensor) > rank(*victim))
        victim = tensor;
    if (!victim)
      return false;
    const auto [nextUse, bytes] = rank(*victim);
    const L1Tensor &tensor = facts.tensors[*victim];
    Operation *producer = facts.ops[tensor.created];
    spills.push_back(
        {tensor.created, producer->getName().getStringRef().str(), locationText(producer),
         llvm::formatv("{0}; of what lies in L1 then, this is needed again last, by op {1}, and takes {2} bytes", why,
                       nextUse, bytes)
             .str()});
    for (Value value : tensor.values)
      overrides.warnOfMove(value.getDefiningOp(), spills.back().reason);
    llvm::append_range(moved, tensor.values);
    release(*victim);
    return true;
  }

  void release(unsigned tensor) {
    auto *at = llvm::find(live, tensor);
    if (at == live.end())
      return;
    live.erase(at);
    if (std::optional<int64_t> address = std::exchange(addresses[tensor], std::nullopt))
      l1.deallocate(*address, llvm::alignTo(std::max<int64_t>(facts.tensors[tensor].bytes, 1), chip.l1Alignment));
  }

  /// Returns the bytes of circular buffers of an op, or of all ops that it runs; a function with tensors in L1 has all
  /// of it.
  int64_t circularOf(Operation *op) {
    int64_t bytes = 0;
    auto take = [&](Operation *each) {
      if (familyOf(each) != Family::None)
        bytes = std::max(bytes, OpCost::circularBytes(each, OpTensors(each), chip.without(chip.end - l1.lowest())));
    };
    auto takeAll = [&](Operation *each) {
      take(each);
      for (Type type : each->getResultTypes())
        if (std::optional<::ttmlir::cost::PlacedTensor> lies = placedTensor(type);
            lies && lies->memory == ::ttmlir::cost::Memory::L1)
          bytes = chip.usable();
    };
    op->walk(take);
    SmallVector<Operation *> open = {op};
    SmallPtrSet<Operation *, 4> seen;
    while (!open.empty())
      open.pop_back_val()->walk([&](Operation *each) {
        for (NamedAttribute attribute : each->getAttrs())
          if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
            if (auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
                callee && seen.insert(callee).second) {
              callee.walk(takeAll);
              open.push_back(callee);
            }
      });
    return bytes;
  }

  static void putIntoDram(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(withLayout(type, TTNNLayoutAttr::of(type).withBufferType(type.getShape(), BufferType::DRAM)));
  }

  func::FuncOp function;
  const ChipMemory &chip;
  const Overrides &overrides;
  SymbolTableCollection &symbols;
  L1Tensors facts;
  L1 l1;
  int64_t most, highest = 0;
  std::vector<std::optional<int64_t>> addresses;
  SmallVector<unsigned> live;
  SmallVector<Value> moved;
};

struct GreedyL1SpillManagement : ttnn::impl::TTNNGreedyL1SpillManagementBase<GreedyL1SpillManagement> {
  using Base::Base;

  void runOnOperation() override {
    ttcore::ChipDescAttr chip = chipOf(getOperation());
    if (!chip)
      return signalPassFailure();
    const ChipMemory memory(chip);
    FailureOr<Overrides> overrides = Overrides::parse(getOperation(), overrideOutputLayout, insertMemReconfig, "");
    if (failed(overrides))
      return signalPassFailure();
    SymbolTableCollection symbols;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.getBody().hasOneBlock() || (onlyRequestedGrids && !hasGrids(function)) ||
          !hasL1(function))
        continue;
      SmallVector<Spill> spills;
      int64_t peak = 0;
      // Moved tensors leave room for others, which then get other addresses: repeats until a run finds nothing to do.
      // Each run moves something out of L1, so this terminates.
      for (bool again = true; again;) {
        Run run(function, memory, tensorL1UsageCap, *overrides, symbols);
        again = run.spill(spills);
        peak = run.peak();
      }
      removeIdleMoves(function);
      if (enableDecisionTrace && failed(extendTrace(function, spills, peak)))
        return signalPassFailure();
    }
  }

private:
  static bool hasGrids(func::FuncOp function) {
    return llvm::any_of(function.getBody().front(), [](Operation &op) { return op.hasAttr(ttcore::gridName); });
  }

  static bool hasL1(func::FuncOp function) {
    return llvm::any_of(function.getBody().front().without_terminator(), [](Operation &op) {
      return llvm::any_of(op.getResultTypes(), [](Type type) {
        TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
        return layout && layout.isOnDevice() && layout.getBufferType() != BufferType::DRAM;
      });
    });
  }

  /// Changes of layout that change nothing any more.
  static void removeIdleMoves(func::FuncOp function) {
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front().without_terminator()))
      if (op.getName().stripDialect() == "to_memory_config" && isa_and_nonnull<TTNNDialect>(op.getDialect()) &&
          op.getOperand(0).getType() == op.getResult(0).getType() &&
          llvm::none_of(op.getResult(0).getUsers(), [](Operation *user) { return isa<DeallocateOp>(user); })) {
        op.getResult(0).replaceAllUsesWith(op.getOperand(0));
        op.erase();
      }
  }

  LogicalResult extendTrace(func::FuncOp function, ArrayRef<Spill> spills, int64_t peak) {
    llvm::json::Object trace = readDecisionTrace(decisionTraceDir, function.getSymName());
    if (trace.empty())
      trace = llvm::json::Object{{"function", function.getSymName()}, {"ops", llvm::json::Array()}};
    llvm::StringMap<std::string> byLocation;
    llvm::json::Array list;
    for (const Spill &spill : spills) {
      list.push_back(llvm::json::Object{
          {"op", int64_t(spill.number)}, {"name", spill.name}, {"location", spill.location}, {"reason", spill.reason}});
      byLocation[spill.name + spill.location] = spill.reason;
    }
    if (llvm::json::Array *ops = trace.getArray("ops"))
      for (llvm::json::Value &value : *ops) {
        llvm::json::Object &op = *value.getAsObject();
        auto found = byLocation.find((op.getString("op").value_or("") + op.getString("location").value_or("")).str());
        if (found != byLocation.end()) {
          op["spilled"] = "back to DRAM: " + found->getValue();
          op["place"] = "DRAM, interleaved";
        }
      }
    trace["spills"] = std::move(list);
    trace["l1_peak_bytes"] = peak;
    return writeDecisionTrace(function, decisionTraceDir, function.getSymName(), trace);
  }
};
} // namespace
