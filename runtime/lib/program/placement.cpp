//===- placement.cpp - memory placement of values -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/planner.h"

#include "kernels/elementwise/elementwise.h"

#include <algorithm>

namespace tt::runtime {

std::vector<uint32_t> Planner::findReplaced() const {
  std::vector<uint32_t> replaced(program.values.size(), absentOperand);
  if (created.mode != Mode::Fast)
    return replaced;
  for (size_t s = 0; s < created.steps.size(); ++s) {
    const auto &[ins, outs] = operands[s];
    if (!created.steps[s].kernel)
      continue;
    std::vector<uint32_t> taken;
    for (size_t o = 0; o < outs.size(); ++o)
      for (size_t i = 0; i < ins.size() && replaced[outs[o]] == absentOperand; ++i) {
        if (ins[i] == absentOperand || created.rootOf[ins[i]] != ins[i] ||
            !isReplaceable(ins[i], outs[o], created.steps[s].op))
          continue;
        // One name of the value, and no other result in its place.
        const auto names = std::ranges::count_if(
            ins, [&](uint32_t in) { return in != absentOperand && created.rootOf[in] == ins[i]; });
        if (names != 1 || std::ranges::find(taken, ins[i]) != taken.end() ||
            !ttnn::mayOverwrite(*created.steps[s].kernel, i, o))
          continue;
        replaced[outs[o]] = ins[i];
        taken.push_back(ins[i]);
      }
  }
  return replaced;
}

/// Both are in memory of this plan, of equal size, and the lifetime of the older one ends where that of the other
/// begins.
bool Planner::isReplaceable(uint32_t value, uint32_t by, uint32_t at) const {
  const Plan::Root &older = created.roots[value], &younger = created.roots[by];
  return older.home == Plan::Home::Arena && younger.home == Plan::Home::Arena && created.rootOf[by] == by &&
         older.lastOp == at && younger.firstOp == at && older.shards == younger.shards && !created.written[value] &&
         !created.written[by] && program.spec(value).bytes() == program.spec(by).bytes();
}

void Planner::placeValues() {
  if (observed) {
    // Hooks may read every value until it is deallocated.
    for (uint32_t value = 0; value < program.values.size(); ++value)
      created.roots[value].lastOp = opCount;
    for (const auto &[value, at] : deallocatedAt)
      created.roots[value].lastOp = at;
    for (uint32_t output : program.outputs)
      created.roots[output].lastOp = opCount;
  }
  created.replaced = findReplaced();
  if (repeatPlaces())
    return;
  const std::vector<uint32_t> &replaced = created.replaced;
  std::vector<bool> passedOn(program.values.size(), false);
  for (uint32_t value : replaced)
    if (value != absentOperand)
      passedOn[value] = true;
  std::vector<std::vector<uint32_t>> begins(opCount + 1), ends(opCount + 1);
  for (uint32_t value = 0; value < created.roots.size(); ++value) {
    const Plan::Root &root = created.roots[value];
    if (root.home != Plan::Home::Arena || created.rootOf[value] != value)
      continue; // elsewhere, a view, or between two ops of a chain
    begins[root.firstOp].push_back(value);
    if (!passedOn[value])
      ends[root.lastOp].push_back(value);
  }
  const size_t base = alignUp(created.scratchBytes);
  sim::BankAllocator space(0, int64_t(1) << 62, sim::hostAlignment, sim::Fit::Best);
  const sim::Label label = "a value";
  size_t top = 0;
  std::vector<std::vector<Plan::Exchange *>> received(opCount + 1);
  for (const Plan::Step &step : created.steps)
    if (step.exchange != Plan::Step::none && created.exchanges[step.exchange].arenaBytes)
      received[step.op].push_back(&created.exchanges[step.exchange]);
  const auto take = [&](size_t bytes) {
    const auto block = space.allocate(static_cast<int64_t>(bytes), label);
    if (!block)
      throw OutOfMemoryError(created.name() + ": intermediate values need more than 2^62 bytes of host memory");
    top = std::max(top, static_cast<size_t>(block->address + block->bytes));
    return base + static_cast<size_t>(block->address);
  };
  for (uint32_t at = 0; at <= opCount; ++at) {
    for (uint32_t value : begins[at]) {
      Plan::Root &root = created.roots[value];
      root.stride = alignUp(program.spec(value).bytes());
      if (replaced[value] != absentOperand) {
        root.offset = created.roots[replaced[value]].offset;
        continue;
      }
      root.offset = take(std::max<size_t>(1, root.stride * root.held));
    }
    for (Plan::Exchange *exchange : received[at])
      exchange->offset = take(exchange->arenaBytes);
    for (const Plan::Exchange *exchange : received[at])
      space.deallocate(static_cast<int64_t>(exchange->offset - base));
    for (uint32_t value : ends[at])
      space.deallocate(static_cast<int64_t>(created.roots[value].offset - base));
  }
  created.arenaBytes = base + top;
}

bool Planner::repeatPlaces() {
  if (!previous || observed || previous->mode != created.mode || previous->replaced != created.replaced ||
      !created.exchanges.empty() || !previous->exchanges.empty())
    return false;
  const auto isPlaced = [](const Plan &plan, uint32_t value) {
    return plan.roots[value].home == Plan::Home::Arena && plan.rootOf[value] == value;
  };
  for (uint32_t value = 0; value < created.roots.size(); ++value) {
    const Plan::Root &root = created.roots[value], &before = previous->roots[value];
    const bool placed = isPlaced(created, value);
    if (placed != isPlaced(*previous, value) ||
        (placed && (root.firstOp != before.firstOp || root.lastOp != before.lastOp || root.held != before.held ||
                    alignUp(program.spec(value).bytes()) != before.stride)))
      return false;
  }
  const size_t base = alignUp(created.scratchBytes), baseBefore = alignUp(previous->scratchBytes);
  for (uint32_t value = 0; value < created.roots.size(); ++value)
    if (isPlaced(created, value)) {
      created.roots[value].stride = previous->roots[value].stride;
      created.roots[value].offset = previous->roots[value].offset - baseBefore + base;
    }
  created.arenaBytes = previous->arenaBytes - baseBefore + base;
  return true;
}

void Planner::bindSteps() {
  for (size_t i = 0; i < created.steps.size(); ++i)
    created.steps[i].isMesh() ? bindMeshStep(created.steps[i], operands[i]) : bindStep(created.steps[i], operands[i]);
}

void Planner::bindStep(Plan::Step &step, const Operands &operands) {
  step.firstIn = static_cast<uint32_t>(created.inPointers.size());
  step.firstOut = created.outPointers;
  step.ins = static_cast<uint32_t>(operands.ins.size());
  step.outs = static_cast<uint32_t>(operands.outs.size());
  const sim::Chips own = step.devices > 1 ? created.chips : sim::Chips{0, 1};
  step.devices = own.count();
  for (uint32_t d = own.first; d < own.last; ++d) {
    for (uint32_t in : operands.ins)
      addIn(in, d);
    for (uint32_t out : operands.outs)
      addOut(out, d);
  }
}

void Planner::bindMeshStep(Plan::Step &step, const Operands &operands) {
  step.firstMeshIn = static_cast<uint32_t>(created.meshIns.size());
  step.firstMeshOut = static_cast<uint32_t>(created.meshOuts.size());
  step.meshIns = static_cast<uint32_t>(operands.ins.size());
  step.meshOuts = static_cast<uint32_t>(operands.outs.size());
  for (uint32_t in : operands.ins) {
    const auto first = static_cast<uint32_t>(created.inPointers.size());
    const uint32_t count = in == absentOperand ? 0 : shards(in);
    for (uint32_t d = 0; d < count; ++d)
      addIn(in, d);
    created.meshIns.push_back({first, count});
  }
  for (uint32_t out : operands.outs) {
    const uint32_t first = created.outPointers;
    for (uint32_t d = 0; d < shards(out); ++d)
      addOut(out, d);
    created.meshOuts.push_back({first, shards(out)});
  }
  if (step.exchange != Plan::Step::none)
    bindReceived(step);
}

/// Shards of other ranks are where they are received.
void Planner::bindReceived(const Plan::Step &step) {
  const Plan::Exchange &exchange = created.exchanges[step.exchange];
  size_t offset = exchange.offset;
  for (const auto &[rank, operand, chip, bytes] : exchange.receives) {
    created.places.push_back({false, created.meshIns[step.firstMeshIn + operand].first + chip, offset});
    offset += alignUp(bytes);
  }
}

void Planner::addIn(uint32_t value, uint32_t device) {
  const std::byte *pointer = nullptr;
  if (value != absentOperand)
    pointer = place(value, device, false, created.inPointers.size());
  created.inPointers.push_back(pointer);
}

void Planner::addOut(uint32_t value, uint32_t device) {
  place(value, device, true, created.outPointers++); // a result always has memory of its own: null until a run
}

/// The address of a constant; nullptr if a run fills in the pointer.
const std::byte *Planner::place(uint32_t value, uint32_t device, bool isOut, size_t position) {
  const Plan::Root &root = rootOf(value);
  const size_t offset = created.viewBytes[value];
  const uint32_t shard = root.shards == 1 ? 0 : device;
  if (root.shards > 1 && !created.chips.has(device))
    return nullptr; // of another rank
  switch (root.home) {
  case Plan::Home::Constant:
    return root.constant[shard] ? root.constant[shard].get() + offset : nullptr;
  case Plan::Home::Arena:
    created.places.push_back({isOut, static_cast<uint32_t>(position), root.offsetOf(shard) + offset});
    return nullptr;
  case Plan::Home::Input:
  case Plan::Home::Output:
    created.patches.push_back(
        {isOut, static_cast<uint32_t>(position), root.home == Plan::Home::Output, root.index, shard, offset});
    return nullptr;
  case Plan::Home::Unset:
    break;
  }
  throw Error(created.name() + ": value " + std::to_string(value) + " has no place");
}

} // namespace tt::runtime
