//===- steps.cpp - stages of elementwise ops as a list of calls -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/steps.h"

#include "tt/sim/formats.h"

namespace tt::ttnn {

bool Steps::fit(const std::vector<Stage> &stages) {
  size_t calls = 0;
  for (const Stage &stage : stages) {
    // Block formats are stored row by row, or groups of a row would be those of others.
    if (stage.i || sim::isBlockFormat(stage.spec.dtype) ||
        std::ranges::any_of(stage.operands, [](const Operand &o) { return o.access == Access::Broadcast; }))
      return false;
    calls += stage.operands.size() + 3; // loads, the op, and two of a store and a rounding
  }
  return calls <= mostSteps;
}

Steps::Steps(const std::vector<Stage> &stages) {
  for (const Stage &stage : stages)
    add(stages, stage);
}

void Steps::add(const std::vector<Stage> &stages, const Stage &stage) {
  const auto slot = [](uint32_t index) { return Place{Memory::Slot, index, 0}; };
  Step op(Kind::Compute);
  op.compute = stage.function<float>();
  op.scalars = stage.scalars;
  for (size_t k = 0; k < stage.operands.size(); ++k) {
    const Operand &operand = stage.operands[k];
    Place &place = op.ins[k];
    if (operand.access == Access::Scalar) {
      place = slot(stage.scalarSlots[k]);
      repeated.push_back({stage.loadsF[k], operand.index, place.index});
      continue;
    }
    place = {Memory::In, operand.index, operand.bytes};
    if (operand.access == Access::Stage) {
      const Stage &from = stages[operand.index];
      place = from.direct && from.out >= 0 ? Place{Memory::Out, static_cast<uint32_t>(from.out), operand.bytes}
                                           : slot(from.slot);
    }
    if (operand.direct || !op.compute)
      continue;
    Step load(Kind::Load);
    load.load = stage.loadsF[k];
    load.ins[0] = place;
    load.out = place = slot(static_cast<uint32_t>(k));
    steps.push_back(load);
  }
  const Place out = stage.out >= 0 ? Place{Memory::Out, static_cast<uint32_t>(stage.out), stage.outBytes} : Place();
  // f32 is computed in place; other types are stored from a slot.
  op.out = stage.direct && stage.out >= 0 ? out : slot(stage.direct || stage.rounded ? stage.slot : Stage::work);
  if (!op.compute) {
    op.kind = Kind::Load;
    op.load = stage.loadsF[0];
  }
  steps.push_back(op);
  if (stage.direct)
    return;
  Step store(Kind::Store), round(Kind::Round);
  store.store = stage.storeF;
  store.ins[0] = round.out = op.out;
  store.out = out;
  if (stage.out >= 0)
    steps.push_back(store);
  store.out = slot(stage.slot);
  if (stage.rounded && !stage.fRounded)
    steps.push_back(round);
  else if (stage.kept && !stage.rounded)
    steps.push_back(store);
}

/// A step with the memory of a thread.
struct Steps::Call {
  Kind kind;
  union {
    Load<float> load;
    Run<float> compute;
    Store<float> store;
  };
  const std::byte *ins[maxElementwiseIns];
  std::byte *out;
  const Scalars *scalars;
};
struct Steps::Moving {
  const std::byte **place;
  size_t bytes;
};

void Steps::run(const Buffers &buffers, size_t begin, size_t end) const {
  alignas(64) float slots[mostSlots][chunk];
  Call calls[mostSteps];
  Moving moving[mostSteps * (maxElementwiseIns + 1)];
  size_t movingCount = 0;
  const auto resolve = [&](const Place &place, const std::byte *&at) {
    at = place.memory == Memory::Slot ? reinterpret_cast<const std::byte *>(slots[place.index]) : nullptr;
    if (place.memory < Memory::In)
      return;
    at = (place.memory == Memory::In ? buffers.ins[place.index] : buffers.outs[place.index]) + begin * place.bytes;
    moving[movingCount++] = {&at, place.bytes};
  };
  for (size_t s = 0; s < steps.size(); ++s) {
    const Step &step = steps[s];
    Call &call = calls[s];
    call.kind = step.kind;
    call.scalars = &step.scalars;
    if (step.kind == Kind::Load)
      call.load = step.load;
    else if (step.kind == Kind::Compute)
      call.compute = step.compute;
    else
      call.store = step.store;
    for (size_t k = 0; k < step.ins.size(); ++k)
      resolve(step.ins[k], call.ins[k]);
    resolve(step.out, const_cast<const std::byte *&>(call.out));
  }
  for (const Repeated &value : repeated) {
    value.load(buffers.ins[value.operand], slots[value.slot], 1);
    std::fill_n(slots[value.slot] + 1, std::min(chunk, end - begin) - 1, slots[value.slot][0]);
  }
  // One call needs no slots.
  const size_t length = steps.size() == 1 && repeated.empty() ? end - begin : chunk;
  const auto values = [](auto *at) { return reinterpret_cast<const float *>(at); };
  for (size_t i = begin, n; i < end; i += n) {
    n = std::min(length, end - i);
    for (const Call &call : std::span(calls, steps.size())) {
      auto *out = reinterpret_cast<float *>(call.out);
      switch (call.kind) {
      case Kind::Load:
        call.load(call.ins[0], out, n);
        break;
      case Kind::Compute: {
        const float *const ins[] = {values(call.ins[0]), values(call.ins[1]), values(call.ins[2])};
        call.compute(ins, out, n, *call.scalars);
        break;
      }
      case Kind::Round:
        sim::roundToBf16(out, n);
        break;
      case Kind::Store:
        call.store(values(call.ins[0]), call.out, n);
        break;
      }
    }
    for (const Moving &place : std::span(moving, movingCount))
      *place.place += n * place.bytes;
  }
}

} // namespace tt::ttnn
