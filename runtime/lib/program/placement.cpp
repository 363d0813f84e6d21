//===- placement.cpp - a place in memory for every value ------------------===//

#include "program/planner.h"

namespace tt::runtime {

void Planner::placeValues() {
  if (observed) {
    // Hooks may look at every value until it is deallocated.
    for (uint32_t value = 0; value < program.values.size(); ++value)
      exe.roots[value].lastOp = opCount;
    for (const auto &[value, at] : deallocatedAt)
      exe.roots[value].lastOp = at;
    for (uint32_t output : program.outputs)
      exe.roots[output].lastOp = opCount;
  }
  std::vector<std::vector<uint32_t>> begins(opCount + 1), ends(opCount + 1);
  for (uint32_t value = 0; value < exe.roots.size(); ++value) {
    const Executable::Root &root = exe.roots[value];
    if (root.home != Executable::Home::Arena || exe.rootOf[value] != value)
      continue; // elsewhere, a view, or between two ops of a chain
    begins[root.firstOp].push_back(value);
    ends[root.lastOp].push_back(value);
  }
  const size_t base = alignUp(exe.scratchBytes);
  sim::BankAllocator space(0, int64_t(1) << 62, sim::hostAlignment);
  const sim::Label label = "a value";
  size_t top = 0;
  for (uint32_t at = 0; at <= opCount; ++at) {
    for (uint32_t value : begins[at]) {
      Executable::Root &root = exe.roots[value];
      root.stride = alignUp(program.spec(value).bytes());
      const auto block = space.allocate(static_cast<int64_t>(root.stride * root.shards), label);
      if (!block)
        throw OutOfMemoryError(exe.name() + ": intermediate values need more than 2^62 bytes of host memory");
      root.offset = base + static_cast<size_t>(block->address);
      top = std::max(top, static_cast<size_t>(block->address + block->bytes));
    }
    for (uint32_t value : ends[at])
      space.deallocate(static_cast<int64_t>(exe.roots[value].offset - base));
  }
  exe.arenaBytes = base + top;
  exe.arena = sim::allocateHostOnce(exe.arenaBytes, "the intermediate values of a program");
}

void Planner::bindSteps() {
  size_t ins = 0, outs = 0, meshIns = 0, meshOuts = 0;
  for (size_t i = 0; i < exe.steps.size(); ++i) {
    const bool mesh = exe.steps[i].mesh;
    const size_t devices = mesh ? program.devices() : exe.steps[i].devices;
    ins += operands[i].ins.size() * devices;
    outs += operands[i].outs.size() * devices;
    meshIns += mesh ? operands[i].ins.size() : 0;
    meshOuts += mesh ? operands[i].outs.size() : 0;
  }
  // Spans point into these, so they must not move.
  exe.inPointers.reserve(ins);
  exe.outPointers.reserve(outs);
  exe.meshIns.reserve(meshIns);
  exe.meshOuts.reserve(meshOuts);
  for (size_t i = 0; i < exe.steps.size(); ++i)
    exe.steps[i].mesh ? bindMeshStep(exe.steps[i], operands[i]) : bindStep(exe.steps[i], operands[i]);
}

void Planner::bindStep(Executable::Step &step, const Operands &operands) {
  step.firstIn = static_cast<uint32_t>(exe.inPointers.size());
  step.firstOut = static_cast<uint32_t>(exe.outPointers.size());
  step.ins = static_cast<uint32_t>(operands.ins.size());
  step.outs = static_cast<uint32_t>(operands.outs.size());
  for (uint32_t d = 0; d < step.devices; ++d) {
    for (uint32_t in : operands.ins)
      addIn(in, d);
    for (uint32_t out : operands.outs)
      addOut(out, d);
  }
}

void Planner::bindMeshStep(Executable::Step &step, const Operands &operands) {
  step.firstMeshIn = static_cast<uint32_t>(exe.meshIns.size());
  step.firstMeshOut = static_cast<uint32_t>(exe.meshOuts.size());
  step.meshIns = static_cast<uint32_t>(operands.ins.size());
  step.meshOuts = static_cast<uint32_t>(operands.outs.size());
  for (uint32_t in : operands.ins) {
    const size_t first = exe.inPointers.size();
    const uint32_t count = in == absentOperand ? 0 : shards(in);
    for (uint32_t d = 0; d < count; ++d)
      addIn(in, d);
    exe.meshIns.emplace_back(exe.inPointers.data() + first, count);
  }
  for (uint32_t out : operands.outs) {
    const size_t first = exe.outPointers.size();
    for (uint32_t d = 0; d < shards(out); ++d)
      addOut(out, d);
    exe.meshOuts.emplace_back(exe.outPointers.data() + first, shards(out));
  }
}

void Planner::addIn(uint32_t value, uint32_t device) {
  const std::byte *pointer = nullptr;
  if (value != absentOperand)
    pointer = place(value, device, false, exe.inPointers.size());
  exe.inPointers.push_back(pointer);
}

void Planner::addOut(uint32_t value, uint32_t device) {
  // A result always has memory of its own, so the pointer is not one to a constant.
  exe.outPointers.push_back(const_cast<std::byte *>(place(value, device, true, exe.outPointers.size())));
}

const std::byte *Planner::place(uint32_t value, uint32_t device, bool isOut, size_t position) {
  const Executable::Root &root = rootOf(value);
  const size_t offset = exe.viewBytes[value];
  const uint32_t shard = root.shards == 1 ? 0 : device;
  switch (root.home) {
  case Executable::Home::Constant:
    return root.constant[shard] ? root.constant[shard].get() + offset : nullptr;
  case Executable::Home::Arena:
    return exe.arenaAddress(root, shard) + offset;
  case Executable::Home::Input:
  case Executable::Home::Output:
    exe.patches.push_back(
        {isOut, static_cast<uint32_t>(position), root.home == Executable::Home::Output, root.index, shard, offset});
    return nullptr;
  case Executable::Home::Unset:
    break;
  }
  throw Error(exe.name() + ": value " + std::to_string(value) + " has no place");
}

} // namespace tt::runtime
