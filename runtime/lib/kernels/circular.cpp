//===- circular.cpp - circular buffers of the card's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"
#include "kernels/attention/attention.h"
#include "kernels/window/convolution.h"
#include "ttmlir/Target/CircularBuffers.h"

#include <algorithm>
#include <set>

namespace tt::ttnn {
namespace {

using ttmlir::cost::WindowFacts;

std::optional<bool> flagOf(const OpCall &call, std::string_view config, std::string_view name) {
  const Attribute *found = field(call, config, name);
  const bool *value = found ? std::get_if<bool>(&found->value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
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

WindowFacts convolved(const OpCall &call) {
  const Convolution c = convolutionOf(call, 2);
  WindowFacts facts{c.window.slid(), c.window.axes[0].kernel, c.window.axes[1].kernel, c.out};
  facts.hasBias = optionalOperand(call, 2);
  facts.buffersImageTwice = flagOf(call, "conv2d_config", "enable_act_double_buffer").value_or(false);
  facts.buffersWeightsTwice = flagOf(call, "conv2d_config", "enable_weights_double_buffer").value_or(false);
  if (const auto *config = call.attributes.find<StructAttribute>("conv2d_config")) {
    facts.blockRows = numberOf(*config, "act_block_h_override");
    facts.widthDivisor = std::max<int64_t>(1, numberOf(*config, "act_block_w_div"));
  }
  return facts;
}

WindowFacts pooled(const OpCall &call) {
  const Window window = windowOf(call, "channels");
  WindowFacts facts{window.slid(), window.axes[0].kernel, window.axes[1].kernel};
  facts.isAverage = call.name == "ttnn.avg_pool2d";
  const bool countsPadding = call.attributes.get<bool>("count_include_pad", true);
  for (const Axis &axis : window.axes) {
    const bool reachesOut = (axis.out - 1) * axis.stride + axis.extent() > axis.size + axis.low + axis.high;
    if (facts.isAverage && (reachesOut || (!countsPadding && (axis.low || axis.high))))
      facts.dividesUnevenly = true;
  }
  return facts;
}

} // namespace

int64_t circularBytes(const sim::ChipDesc &chip, const OpCall &call) {
  if (call.outs.empty())
    return 0;
  std::vector<std::optional<ttmlir::cost::PlacedTensor>> ins;
  for (const auto &in : call.ins)
    ins.push_back(in ? std::optional(placedTensor(*in)) : std::nullopt);
  std::vector<ttmlir::cost::PlacedTensor> outs;
  for (const TensorSpec &out : call.outs)
    outs.push_back(placedTensor(out));
  ttmlir::cost::KernelFacts facts{.op = call.name, .ins = ins, .outs = outs};
  facts.elementwise = isElementwise(call.name);
  facts.accumulatesF32 =
      flagOf(call, "compute_config", "fp32_dest_acc_en").value_or(call.outs[0].dtype == DataType::Float32);
  facts.accumulatesInL1 = flagOf(call, "compute_config", "packer_l1_acc").value_or(false);
  facts.cores = chip.cores();
  facts.readsF32 = !call.ins.empty() && call.ins[0] && call.ins[0]->dtype == DataType::Float32;
  if (const bool *stable = call.attributes.find<bool>("numericStable"))
    facts.numericStable = *stable;
  if (const auto *config = call.attributes.find<StructAttribute>("matmul_program_config")) {
    facts.inner = numberOf(*config, "in0_block_w");
    facts.rows = blockOf(*config, "out_block_h", "per_core_m");
    facts.columns = blockOf(*config, "out_block_w", "per_core_n");
  }
  if (call.name == "ttnn.conv2d")
    facts.window = convolved(call);
  else if (call.name == "ttnn.avg_pool2d" || call.name.starts_with("ttnn.max_pool2d"))
    facts.window = pooled(call);
  else if (call.name.starts_with("ttnn.scaled_dot_product_attention")) {
    facts.attended = attendedOf(call);
    facts.mask = facts.in(3);
    facts.sink = facts.in(call.name.ends_with("_decode") ? 5 : 4);
  }
  return ttmlir::cost::circularBytes(facts, chip.l1Size - chip.l1UnreservedBase);
}

} // namespace tt::ttnn
