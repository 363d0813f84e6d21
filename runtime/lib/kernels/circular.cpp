//===- circular.cpp - circular buffers of the card's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"
#include "ttmlir/Target/CircularBuffers.h"

#include <algorithm>
#include <set>

namespace tt::ttnn {
namespace {

bool accumulatesF32(const OpCall &call) {
  const Attribute *found = field(call, "compute_config", "fp32_dest_acc_en");
  const bool *value = found ? std::get_if<bool>(&found->value) : nullptr;
  return value ? *value : call.outs[0].dtype == DataType::Float32;
}

int64_t numberOf(const StructAttribute &config, std::string_view name) {
  const Attribute *found = field(config, name);
  const int64_t *value = found ? std::get_if<int64_t>(&found->value) : nullptr;
  return value ? *value : 0;
}

/// A core works on a block of its part of the result at a time.
int64_t blockOf(const StructAttribute &config, std::string_view name, std::string_view part) {
  const int64_t size = numberOf(config, name), whole = numberOf(config, part);
  return size > 0 ? std::min(size, whole) : whole;
}

bool isElementwise(std::string_view name) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> found;
    for (const OpInfo &info : elementwiseOps())
      found.insert(info.name);
    return found;
  }();
  return names.contains(name);
}

} // namespace

int64_t circularBytes(const sim::ChipDesc &chip, const OpCall &call) {
  if (call.outs.empty())
    return 0;
  std::vector<std::optional<ttmlir::cost::Lying>> ins;
  for (const auto &in : call.ins)
    ins.push_back(in ? std::optional(lying(*in)) : std::nullopt);
  std::vector<ttmlir::cost::Lying> outs;
  for (const TensorSpec &out : call.outs)
    outs.push_back(lying(out));
  ttmlir::cost::KernelFacts facts{.op = call.name, .ins = ins, .outs = outs};
  facts.elementwise = isElementwise(call.name);
  facts.accumulatesF32 = accumulatesF32(call);
  facts.readsF32 = !call.ins.empty() && call.ins[0] && call.ins[0]->dtype == DataType::Float32;
  if (const bool *stable = call.attributes.find<bool>("numericStable"))
    facts.numericStable = *stable;
  if (const auto *config = call.attributes.find<StructAttribute>("matmul_program_config")) {
    facts.inner = numberOf(*config, "in0_block_w");
    facts.rows = blockOf(*config, "out_block_h", "per_core_m");
    facts.columns = blockOf(*config, "out_block_w", "per_core_n");
  }
  return ttmlir::cost::circularBytes(facts, chip.l1Size - chip.l1UnreservedBase);
}

} // namespace tt::ttnn
