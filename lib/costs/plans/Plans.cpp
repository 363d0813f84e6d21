//===- Plans.cpp - which rule an op's plan has ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "PlanRules.h"

namespace ttmlir::plan {

std::string_view formatName(Format format) {
  switch (format) {
  case Format::Float32:
    return "Float32";
  case Format::TF32:
    return "Tf32";
  case Format::Float16B:
    return "Float16_b";
  case Format::BFP8B:
    return "Bfp8_b";
  case Format::BFP4B:
    return "Bfp4_b";
  case Format::BFP2B:
    return "Bfp2_b";
  case Format::Int32:
    return "Int32";
  case Format::UInt16:
    return "UInt16";
  }
  return "";
}

int64_t tileBytes(Format format) {
  switch (format) {
  case Format::Float32:
  case Format::TF32:
  case Format::Int32:
    return cost::f32Tile;
  case Format::BFP8B:
    return 1088;
  case Format::BFP4B:
    return 576;
  case Format::BFP2B:
    return 320;
  case Format::Float16B:
  case Format::UInt16:
    break;
  }
  return cost::bf16Tile;
}

Format formatOf(const PlacedTensor &tensor) {
  if (tensor.isF32)
    return Format::Float32;
  for (const Format format : {Format::BFP8B, Format::BFP4B, Format::BFP2B})
    if (tileBytes(format) == tensor.tileBytes)
      return format;
  return tensor.tileBytes == cost::f32Tile ? Format::Int32 : Format::Float16B;
}

Format unpacked(Format format, bool f32Destination) {
  return format != Format::Float32 ? format : f32Destination ? Format::TF32 : Format::Float16B;
}

Buffer tiles(int64_t count, Format format, bool f32Destination) {
  return {count * tileBytes(format), format, unpacked(format, f32Destination)};
}
Buffer direct(int64_t count, Format format) { return {count * tileBytes(format), format, format}; }

int64_t divisorUpTo(int64_t value, int64_t most) {
  for (int64_t divisor = std::min(value, most); divisor > 1; --divisor)
    if (value % divisor == 0)
      return divisor;
  return 1;
}

int64_t Step::bytes() const {
  int64_t sum = 0;
  for (const Buffer &buffer : buffers)
    sum += buffer.isTensor || buffer.sharesPrevious ? 0 : buffer.bytes;
  return sum;
}

Compute computeOf(const Op &op, Compute unset) {
  const std::string_view fidelity = cost::text(op, "compute_config.math_fidelity");
  if (fidelity == "lofi")
    unset.phases = 1;
  else if (fidelity.starts_with("hifi"))
    unset.phases = std::clamp(fidelity.back() - '0', 1, 4);
  unset.approximate = flag(op, "compute_config.math_approx_mode", unset.approximate);
  const bool f32 = flag(op, "compute_config.fp32_dest_acc_en", unset.f32Destination);
  unset.addsInL1 = flag(op, "compute_config.packer_l1_acc", unset.addsInL1 && f32 == unset.f32Destination);
  unset.f32Destination = f32;
  return unset;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

struct Row {
  std::string_view op;
  std::vector<Step> (*plan)(const Op &op, const Chip &chip);
  /// The config that the library uses if there is none; nullptr: it depends on the operands.
  std::optional<Compute> compute = {};
  /// The plan without lists, if it has any.
  std::vector<Step> (*brief)(const Op &op, const Chip &chip) = nullptr;
};

constexpr Compute reduces{.phases = 3, .f32Destination = true};
constexpr Compute convolves{.phases = 4, .approximate = true};
constexpr Row rows[] = {
    {"ttnn.conv1d", convolutionPlan<true>, convolves, convolutionPlan<false>},
    {"ttnn.conv2d", convolutionPlan<true>, convolves, convolutionPlan<false>},
    {"ttnn.layer_norm", normPlan<true>, Compute{.phases = 4, .f32Destination = true}},
    {"ttnn.linear", productPlan},
    {"ttnn.matmul", productPlan},
    {"ttnn.max", reductionPlan, reduces},
    {"ttnn.max_pool2d", poolPlan<true>, {}, poolPlan<false>},
    {"ttnn.mean", reductionPlan, reduces},
    {"ttnn.min", reductionPlan, reduces},
    {"ttnn.rms_norm", normPlan<false>, Compute{.phases = 4, .approximate = true}},
    {"ttnn.scaled_dot_product_attention", attentionPlan, Compute{.phases = 2, .approximate = true}},
    {"ttnn.softmax", softmaxPlan, Compute{.phases = 3, .f32Destination = true}},
    {"ttnn.sum", reductionPlan, reduces},
};

const Row *rowOf(std::string_view op) {
  const Row *found = std::lower_bound(std::begin(rows), std::end(rows), op,
                                      [](const Row &row, std::string_view name) { return row.op < name; });
  return found != std::end(rows) && found->op == op ? found : nullptr;
}

bool isProduct(std::string_view op) { return op == "ttnn.matmul" || op == "ttnn.linear"; }

} // namespace

std::optional<Compute> computeOf(const Op &op) {
  if (isProduct(op.name))
    return productCompute(op);
  const Row *row = rowOf(op.name);
  if (!row || !row->compute)
    return std::nullopt;
  Compute unset = *row->compute;
  // Exponentials of f32 are not approximate.
  if (op.name == "ttnn.softmax")
    unset.approximate = op.in(0) && !op.in(0)->isF32;
  if (row->plan == convolutionPlan<true>) // of f32 results, assumed
    unset.f32Destination = !op.outs.empty() && op.outs[0].isF32;
  return computeOf(op, unset);
}

/// Without elements, nothing is read or written.
static bool isEmpty(const PlacedTensor &tensor) { return tensor.rows <= 0 || tensor.columns <= 0; }

static std::vector<Step> planOf(const Op &op, const Chip &chip, bool isBrief) {
  if (op.outs.empty() || !op.in(0) || !op.outs[0].onDevice() || std::any_of(op.outs.begin(), op.outs.end(), isEmpty) ||
      std::any_of(op.ins.begin(), op.ins.end(), [](const auto &in) { return in && isEmpty(*in); }))
    return {};
  if (const Row *row = rowOf(op.name))
    return (isBrief && row->brief ? row->brief : row->plan)(op, chip);
  // Elementwise ops have no cost rule of their own.
  return cost::findRule(op.name) && op.name != "ttnn.assign" ? std::vector<Step>() : elementwisePlan(op);
}

std::vector<Step> planOf(const Op &op, const Chip &chip) { return planOf(op, chip, false); }
std::vector<Step> briefPlanOf(const Op &op, const Chip &chip) { return planOf(op, chip, true); }

} // namespace ttmlir::plan
