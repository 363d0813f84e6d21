//===- steps.h - stages of elementwise ops as a list of calls -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// If all stages compute in f32 and no operand has to be broadcast along a dimension, the loops to run and the memory
// that they read and write are known before the first chunk. A chunk is then a list of calls and little else, so it can
// be short: the values of all stages stay in the first-level cache.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernels/elementwise/stage.h"

namespace tt::ttnn {

class Steps {
public:
  /// Whether stages can be computed as steps.
  static bool fit(const std::vector<Stage> &stages);

  Steps() = default;
  explicit Steps(const std::vector<Stage> &stages);
  bool empty() const { return steps.empty(); }
  /// Elements [begin, end) in the calling thread.
  void run(const Buffers &buffers, size_t begin, size_t end) const;

private:
  enum class Kind : uint8_t { Load, Compute, Round, Store };
  enum class Memory : uint8_t { None, Slot, In, Out };
  /// The memory of values: a slot with those of a chunk, or an operand or result of the kernel.
  struct Place {
    Memory memory = Memory::None;
    uint32_t index = 0; // of the slot, operand or result
    size_t bytes = 0;   // of an element in memory
  };
  struct Step {
    explicit Step(Kind kind) : kind(kind) {}
    Kind kind;
    Load<float> load = nullptr;
    Run<float> compute = nullptr;
    Store<float> store = nullptr;
    std::array<Place, maxElementwiseIns> ins{};
    Place out;
    Scalars scalars;
  };
  /// An operand of one value, repeated in a slot.
  struct Repeated {
    Load<float> load;
    uint32_t operand, slot;
  };
  struct Call;
  struct Moving;
  static constexpr size_t chunk = 512, mostSlots = Stage::work + 1 + maxChainSlots, mostSteps = 128;

  void add(const std::vector<Stage> &stages, const Stage &stage);

  std::vector<Step> steps;
  std::vector<Repeated> repeated;
};

} // namespace tt::ttnn
