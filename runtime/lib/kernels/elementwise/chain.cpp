//===- chain.cpp - fused chains of elementwise ops ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/kernel.h"

#include <map>

namespace tt::ttnn {

bool isChainable(const Kernel &kernel) {
  const auto *elementwise = dynamic_cast<const ElementwiseKernel *>(&kernel);
  if (!elementwise || elementwise->total == 0)
    return false;
  // Rows of a block format that end within a group have groups of their own. Other links may have other rows.
  const bool hasGroups = sim::isBlockFormat(elementwise->stages.front().spec.dtype);
  return elementwise->unit == (hasGroups ? sim::blockGroup : 1);
}

size_t chainElements(const Kernel &kernel) { return dynamic_cast<const ElementwiseKernel &>(kernel).total; }

size_t chainSlots(const Kernel &kernel) {
  return ElementwiseKernel::slotsOf(dynamic_cast<const ElementwiseKernel &>(kernel).stages.front());
}

bool mayOverwrite(const Kernel &kernel, size_t operand, size_t result) {
  const auto *elementwise = dynamic_cast<const ElementwiseKernel *>(&kernel);
  if (!elementwise)
    return false;
  bool stored = false;
  for (const Stage &stage : elementwise->stages) {
    // A stage reads its part of a chunk before it stores: later ones would read the result.
    for (const Operand &read : stage.operands)
      if (read.access != Access::Stage && read.index == operand &&
          (stored || read.access != Access::Same || read.bytes != elementwise->outBytes(result)))
        return false;
    stored = stored || stage.out == static_cast<int>(result);
  }
  return stored;
}

/// Operands of bf16 in memory that more than one stage reads are converted once, by stages before all others.
static void shareLoads(std::vector<Stage> &stages) {
  struct Use {
    size_t stage, k;
  };
  std::map<uint32_t, std::vector<Use>> uses; // by operand of the kernel
  size_t slots = 0;
  for (size_t s = 0; s < stages.size(); ++s) {
    slots += ElementwiseKernel::slotsOf(stages[s]);
    for (size_t k = 0; k < stages[s].operands.size(); ++k)
      if (stages[s].operands[k].access == Access::Same && stages[s].takesBf16AsF32(k))
        uses[stages[s].operands[k].index].push_back({s, k});
  }
  std::erase_if(uses, [&](const auto &entry) { return entry.second.size() < 2 || ++slots > maxChainSlots; });
  if (uses.empty())
    return;
  for (Stage &stage : stages)
    for (Operand &operand : stage.operands)
      if (operand.access == Access::Stage)
        operand.index += static_cast<uint32_t>(uses.size());
  std::vector<Stage> loads;
  for (const auto &[index, places] : uses) {
    const auto [s, k] = places.front();
    Stage load = stages[s];
    load.f = load.fRounded = nullptr;
    load.operands = {stages[s].operands[k]};
    load.loadsF[0] = stages[s].loadsF[k];
    load.out = -1;
    load.direct = load.kept = true;
    load.rowAligned = load.rounded = false;
    for (const Use &use : places) {
      Operand &operand = stages[use.stage].operands[use.k];
      operand.access = Access::Stage;
      operand.index = static_cast<uint32_t>(loads.size());
      operand.bytes = sizeof(float);
      operand.direct = true;
    }
    loads.push_back(std::move(load));
  }
  stages.insert(stages.begin(), std::make_move_iterator(loads.begin()), std::make_move_iterator(loads.end()));
}

/// Results in bf16 that only stages in f32 use stay in f32 between them.
static void keepRounded(std::vector<Stage> &stages) {
  for (uint32_t s = 0; s < stages.size(); ++s) {
    std::vector<Operand *> users;
    bool all = stages[s].kept && stages[s].f && stages[s].spec.dtype == DataType::BFloat16;
    for (Stage &stage : stages)
      for (size_t k = 0; k < stage.operands.size(); ++k)
        if (stage.operands[k].access == Access::Stage && stage.operands[k].index == s) {
          users.push_back(&stage.operands[k]);
          all = all && stage.takesBf16AsF32(k);
        }
    stages[s].rounded = all;
    for (Operand *operand : users)
      if (all) {
        operand->bytes = sizeof(float);
        operand->direct = true;
      }
  }
}

std::unique_ptr<Kernel> chainOf(std::span<const Link> links) {
  std::vector<Stage> stages;
  int outs = 0;
  for (const Link &link : links) {
    stages.push_back(dynamic_cast<const ElementwiseKernel &>(*link.kernel).stages.front());
    Stage &stage = stages.back();
    stage.out = link.stored ? outs++ : -1;
    for (size_t k = 0; k < stage.operands.size(); ++k) {
      const int from = link.ins[k];
      stage.operands[k].index = static_cast<uint32_t>(from < 0 ? ~from : from);
      if (from < 0) {
        stage.operands[k].access = Access::Stage;
        stages[static_cast<size_t>(~from)].kept = true;
      }
    }
  }
  keepRounded(stages);
  shareLoads(stages);
  return std::make_unique<ElementwiseKernel>(std::move(stages));
}

} // namespace tt::ttnn
