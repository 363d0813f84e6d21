//===- memory.cpp - the device memory of a program ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/plan.h"

namespace tt::runtime {
namespace {

template <class F> void forEachMemory(F f) {
  for (size_t i = 0; i < sim::memoryCount; ++i)
    f(static_cast<sim::Memory>(i), i);
}

/// Frees the blocks at the end unless told that all succeeded.
class Rollback {
public:
  Rollback(const MemoryPlan &plan, sim::Memories &memories, MemoryPlan::Blocks &blocks)
      : plan(plan), memories(memories), blocks(blocks) {}
  ~Rollback() {
    if (!done)
      release(plan, memories, blocks);
  }
  void dismiss() { done = true; }

  static void release(const MemoryPlan &plan, sim::Memories &memories, MemoryPlan::Blocks &blocks) {
    // After MeshDevice::deallocateAll, none of these blocks is valid.
    if (blocks.generation != memories.generation())
      blocks.of.assign(blocks.of.size(), std::nullopt);
    for (size_t i = 0; i < blocks.of.size(); ++i)
      if (auto block = std::exchange(blocks.of[i], std::nullopt))
        memories[sim::memoryOf(plan.groups[i].footprint.buffer)].deallocate(block->address);
  }

private:
  const MemoryPlan &plan;
  sim::Memories &memories;
  MemoryPlan::Blocks &blocks;
  bool done = false;
};

/// The label of blocks that are freed before any caller can read it.
const sim::Label passing = "a value of a running program";

void requireUntouched(const sim::Memories &memories, const MemoryPlan::Blocks &blocks) {
  if (blocks.generation != memories.generation())
    throw DeviceError("the buffers of the device were deallocated while a program was running on it");
}

} // namespace

std::string Purpose::text() const {
  const Program &program = plan->program;
  std::string text; // in one piece: each plan makes those of its outputs
  text.reserve(256);
  const auto addOp = [&] {
    text.append("op ").append(std::to_string(index)).append(" (").append(program.operations[index].info->name);
    text.append(") of ").append(plan->name());
  };
  const auto addResult = [&] {
    text.append("result of ");
    addOp();
    if (const std::string_view loc = program.operations[index].loc; !loc.empty())
      text.append(" at ").append(loc.substr(0, 200));
  };
  switch (of) {
  case Of::Input:
    text.append("input ").append(std::to_string(index)).append(" of ").append(plan->name());
    break;
  case Of::Output:
    text.append("output ").append(std::to_string(index)).append(" of ").append(plan->name());
    break;
  case Of::Result:
    addResult();
    break;
  case Of::Circular:
    addOp();
    return text;
  case Of::Callees:
    text.append("working memory of the programs that ");
    addResult();
    return text;
  }
  const TensorSpec &spec = program.spec(value);
  text.append(", ").append(toString(spec.dtype)).append(toString(spec.shape));
  return text.append(spec.layout == Layout::Tile ? " in tiles" : " in rows");
}

void MemoryPlan::apply(sim::Memories &memories, const Event &event, Blocks &blocks, bool named) const {
  const Group &group = groups[event.group];
  auto &block = blocks.of[event.group];
  const auto label = [&] {
    if (group.output != none)
      return outputLabels[group.output];
    return named ? sim::Label(group.label.text()) : passing;
  };
  if (group.circular)
    memories.requireCircular(group.footprint.bytesPerBank, label());
  else if (event.allocate)
    block = memories.allocate(group.footprint, label());
  else if (block)
    memories[sim::memoryOf(group.footprint.buffer)].deallocate(std::exchange(block, std::nullopt)->address);
}

void MemoryPlan::walk(sim::Memories &memories, const std::vector<bool> &moved, Blocks &blocks) const {
  try {
    for (const Event &event : events)
      if (relevant(event, moved))
        apply(memories, event, blocks, false);
  } catch (const OutOfMemoryError &) {
    // Repeated to state what the memory contains.
    Rollback::release(*this, memories, blocks);
    for (const Event &event : events)
      if (relevant(event, moved))
        apply(memories, event, blocks);
    throw;
  }
}

bool MemoryPlan::runsLike(const MemoryPlan &other) const {
  const auto isSameGroup = [](const Group &a, const Group &b) {
    return a.footprint.bytesPerBank == b.footprint.bytesPerBank && a.footprint.buffer == b.footprint.buffer &&
           a.input == b.input && a.cached == b.cached && a.circular == b.circular;
  };
  return cachedIsResident == other.cachedIsResident && outputGroups == other.outputGroups &&
         std::ranges::equal(groups, other.groups, isSameGroup) && events == other.events;
}

void MemoryPlan::addResident(uint32_t op, size_t &next, int64_t (&bytes)[sim::memoryCount]) const {
  for (; next < events.size() && events[next].op <= op; ++next) {
    const sim::Footprint &footprint = groups[events[next].group].footprint;
    if (groups[events[next].group].circular)
      continue;
    bytes[static_cast<size_t>(sim::memoryOf(footprint.buffer))] +=
        events[next].allocate ? footprint.bytesPerBank : -footprint.bytesPerBank;
  }
}

bool MemoryPlan::surelyFits(const sim::Memories &empty, int64_t alignment) const {
  // A memory is filled from one end: a block is between others, or directly after all of them.
  int64_t bytes[sim::memoryCount] = {}, circular = 0;
  for (const Event &event : events) {
    const Group &group = groups[event.group];
    if (group.circular)
      circular = std::max(circular, group.footprint.bytesPerBank);
    else if (event.allocate)
      bytes[static_cast<size_t>(sim::memoryOf(group.footprint.buffer))] += group.footprint.bytesPerBank + alignment;
  }
  bool fits = true;
  forEachMemory([&](sim::Memory memory, size_t i) {
    const int64_t more = memory == sim::Memory::L1 ? circular : 0;
    fits = fits && bytes[i] + more <= empty[memory].capacity();
  });
  return fits;
}

void MemoryPlan::simulate(sim::Memories &memories) const {
  Blocks blocks{std::vector<std::optional<sim::Block>>(groups.size()), memories.generation()};
  for (const Event &event : events)
    apply(memories, event, blocks);
}

std::vector<BufferLife> MemoryPlan::lives(sim::Memories &memories, std::span<const uint32_t> groupOf) const {
  Blocks blocks{std::vector<std::optional<sim::Block>>(groups.size()), memories.generation()};
  std::vector<BufferLife> lives;
  std::vector<size_t> lifeOf(groups.size());
  uint32_t last = 0;
  for (const Event &event : events) {
    apply(memories, event, blocks);
    const Group &group = groups[event.group];
    last = std::max(last, event.op);
    if (!event.allocate) {
      lives[lifeOf[event.group]].end = event.op;
      continue;
    }
    const sim::Memory memory = group.circular ? sim::Memory::L1 : sim::memoryOf(group.footprint.buffer);
    lifeOf[event.group] = lives.size();
    lives.push_back({event.op,
                     group.circular ? event.op + 1 : none,
                     memory,
                     group.circular ? memories[memory].begin() : blocks.of[event.group]->address,
                     group.footprint.bytesPerBank,
                     group.circular,
                     {},
                     group.label.text()});
  }
  for (BufferLife &life : lives)
    if (life.end == none)
      life.end = last + 1;
  for (uint32_t value = 0; value < groupOf.size(); ++value)
    if (groupOf[value] != none)
      lives[lifeOf[groupOf[value]]].values.push_back(value);
  return lives;
}

void MemoryPlan::addWorking(sim::Memories &memories, int64_t (&peaks)[sim::memoryCount]) const {
  const std::vector<bool> moved(groups.size(), false);
  Blocks blocks{std::vector<std::optional<sim::Block>>(groups.size()), memories.generation()};
  for (const Event &event : events)
    if (relevant(event, moved))
      apply(memories, event, blocks);
  forEachMemory([&](sim::Memory memory, size_t i) { peaks[i] = std::max(peaks[i], memories[memory].peak()); });
}

void MemoryPlan::keepOutputs(sim::MeshDevice &device, sim::Memories &memories, Blocks &blocks,
                             std::vector<sim::Allocation> &outputs) const {
  outputs.resize(outputGroups.size());
  for (size_t k = 0; k < outputGroups.size(); ++k)
    if (outputGroups[k] != none)
      outputs[k] = device.adopt(sim::memoryOf(groups[outputGroups[k]].footprint.buffer),
                                *std::exchange(blocks.of[outputGroups[k]], std::nullopt), memories.generation());
}

void MemoryPlan::run(sim::MeshDevice &device, const std::vector<bool> &moved, int64_t (&peaks)[sim::memoryCount],
                     std::vector<sim::Allocation> &outputs, History &history) const {
  device.withMemories([&](sim::Memories &memories) {
    Blocks &blocks = history.walked;
    blocks.of.assign(groups.size(), std::nullopt);
    blocks.generation = memories.generation();
    Rollback rollback(*this, memories, blocks);
    const uint64_t fingerprint = memories.fingerprint();
    for (const History::Known &state : history.known) {
      if (!state.valid || state.fingerprint != fingerprint || state.moved != moved)
        continue;
      bool free = true;
      for (size_t k = 0; k < outputGroups.size() && free; ++k)
        if (outputGroups[k] != none) {
          const Group &group = groups[outputGroups[k]];
          free = memories[sim::memoryOf(group.footprint.buffer)].allocateAt(state.outputs[k], outputLabels[k]);
          if (free)
            blocks.of[outputGroups[k]] = state.outputs[k];
        }
      if (!free) { // two states of one fingerprint: walk
        Rollback::release(*this, memories, blocks);
        break;
      }
      forEachMemory([&](sim::Memory memory, size_t i) {
        peaks[i] = state.peaks[i];
        memories[memory].raisePeak(peaks[i]);
      });
      rollback.dismiss();
      keepOutputs(device, memories, blocks, outputs);
      return;
    }
    int64_t before[sim::memoryCount];
    forEachMemory([&](sim::Memory memory, size_t i) {
      before[i] = memories[memory].peak();
      memories[memory].resetPeak();
    });
    walk(memories, moved, blocks);
    History::Known &state = history.known[history.next++ % history.known.size()];
    state.valid = true;
    state.fingerprint = fingerprint;
    state.moved = moved;
    state.outputs.resize(outputGroups.size());
    for (size_t k = 0; k < outputGroups.size(); ++k)
      if (outputGroups[k] != none)
        state.outputs[k] = *blocks.of[outputGroups[k]];
    forEachMemory([&](sim::Memory memory, size_t i) {
      peaks[i] = state.peaks[i] = memories[memory].peak();
      memories[memory].raisePeak(before[i]);
    });
    keepOutputs(device, memories, blocks, outputs);
    rollback.dismiss();
    Rollback::release(*this, memories, blocks);
  });
}

void MemoryPlan::step(sim::MeshDevice &device, const std::vector<bool> &moved, uint32_t op, size_t &next,
                      Blocks &blocks) const {
  device.withMemories([&](sim::Memories &memories) {
    requireUntouched(memories, blocks);
    for (; next < events.size() && events[next].op <= op; ++next)
      if (relevant(events[next], moved))
        apply(memories, events[next], blocks);
  });
}

std::vector<sim::Allocation> MemoryPlan::finish(sim::MeshDevice &device, Blocks &blocks) const {
  return device.withMemories([&](sim::Memories &memories) {
    requireUntouched(memories, blocks);
    std::vector<sim::Allocation> outputs;
    keepOutputs(device, memories, blocks, outputs);
    Rollback::release(*this, memories, blocks);
    return outputs;
  });
}

void MemoryPlan::abandon(sim::MeshDevice &device, Blocks &blocks) const {
  device.withMemories([&](sim::Memories &memories) { Rollback::release(*this, memories, blocks); });
}

} // namespace tt::runtime
