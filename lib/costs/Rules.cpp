//===- Rules.cpp - the table of cost rules, and what they share -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"
#include "plans/PlanRules.h"

#include <cstring>
#include <vector>

namespace ttmlir::cost {

using tt::shapes::Attribute;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rows;
    for (auto family : {attentionRules, collectiveRules, computeRules, dataMovementRules, debugRules,
                        normalizationRules, routingRules, trainingRules, windowRules})
      rows.insert(rows.end(), family().begin(), family().end());
    std::sort(rows.begin(), rows.end(), [](const Rule &a, const Rule &b) { return a.op < b.op; });
    return rows;
  }();
  return all;
}

/// The optimizer looks up rules several times per op: the end of a name, which distinguishes most names, is their hash.
static size_t hashOf(std::string_view op) {
  uint64_t end = 0;
  const size_t size = std::min(op.size(), sizeof(end));
  std::memcpy(&end, op.data() + op.size() - size, size);
  return ((end + op.size()) * 0x9E3779B97F4A7C15) >> 55;
}

const Rule *findRule(std::string_view op) {
  constexpr size_t slots = 512; // as many as hashes
  static const std::array<const Rule *, slots> index = [] {
    std::array<const Rule *, slots> filled{};
    for (const Rule &rule : rules()) {
      size_t slot = hashOf(rule.op);
      while (filled[slot])
        slot = (slot + 1) % slots;
      filled[slot] = &rule;
    }
    return filled;
  }();
  size_t slot = hashOf(op);
  while (index[slot] && index[slot]->op != op)
    slot = (slot + 1) % slots;
  return index[slot];
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The cores that work on a sharded result keeps as busy as the one with most of it; 0 if it is not sharded.
int64_t busyCores(const PlacedTensor &result) {
  if (!result.isShardInL1() || result.shards == Shards::Other || result.shardRows <= 0 || result.shardColumns <= 0)
    return 0;
  // Not by the product, which may wrap to 0 for some shard sizes.
  return std::max<int64_t>(1, result.tiles / tilesAlong(result.shardRows) / tilesAlong(result.shardColumns));
}

static int phasesOf(const Op &op) {
  const std::string_view fidelity = text(op, "compute_config.math_fidelity");
  if (fidelity == "lofi")
    return 1;
  return fidelity.starts_with("hifi") ? std::clamp(fidelity.back() - '0', 1, 4) : op.phases;
}

Work workOf(const Rule &rule, const Op &op) {
  Work work;
  if (rule.traffic == Traffic::None) {
    work.launched = false;
    return work;
  }
  if (rule.traffic != Traffic::Own)
    addTraffic(work, op, rule.traffic == Traffic::Network);
  if (rule.work)
    rule.work(op, work);
  if (rule.sends)
    addSends(work, sendsOf(rule, op));
  work.phases = phasesOf(op);
  if (!op.outs.empty() && !work.cores)
    work.cores = busyCores(op.outs[0]);
  return work;
}

Work readOf(const Rule &rule, const PlacedTensor &operand, const PlacedTensor &result) {
  Work work;
  if (rule.traffic == Traffic::Network || !isOnSameCores(operand, result))
    addTransfer(work, operand);
  return work;
}

int64_t circularBytes(const Rule &rule, const Op &op, const Chip &chip) {
  if (op.outs.empty() || !op.outs[0].onDevice())
    return 0;
  // Without elements, nothing is read or written.
  auto isEmpty = [](const PlacedTensor &tensor) { return tensor.rows <= 0 || tensor.columns <= 0; };
  if (std::any_of(op.outs.begin(), op.outs.end(), isEmpty) ||
      std::any_of(op.ins.begin(), op.ins.end(), [&](const auto &each) { return each && isEmpty(*each); }))
    return 0;
  int64_t bytes = 0;
  const std::vector<plan::Step> steps = plan::briefPlanOf(op, chip);
  for (const plan::Step &step : steps)
    bytes = std::max(bytes, step.bytes());
  return steps.empty() && rule.circular ? rule.circular(op, chip) : bytes;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

int64_t number(const Op &op, std::string_view name, int64_t absent) {
  const Attribute found = op.attribute(name);
  return found.kind == Attribute::Kind::Integer ? found.integer : absent;
}

bool flag(const Op &op, std::string_view name, bool absent) {
  const Attribute found = op.attribute(name);
  return found.kind == Attribute::Kind::Boolean ? found.integer != 0 : absent;
}

tt::shapes::Sizes numbers(const Op &op, std::string_view name) {
  Attribute found = op.attribute(name);
  if (found.kind == Attribute::Kind::Integer)
    return tt::shapes::Sizes({found.integer});
  return std::move(found.integers);
}

std::string_view text(const Op &op, std::string_view name) { return op.attribute(name).text; }

bool accumulatesF32(const Op &op) {
  return flag(op, "compute_config.fp32_dest_acc_en", !op.outs.empty() && op.outs[0].isF32);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

int64_t present(const Op &op) {
  return std::count_if(op.ins.begin(), op.ins.end(), [](const auto &in) { return in.has_value(); });
}

void addTransfer(Work &work, const PlacedTensor &tensor) {
  if (tensor.memory == Memory::DRAM) {
    work.dramBytes += tensor.bytes;
    work.dramPages += tensor.pages();
  } else if (tensor.memory == Memory::L1) {
    work.l1Bytes += tensor.bytes;
  }
}

void addTraffic(Work &work, std::span<const std::optional<PlacedTensor>> ins, std::span<const PlacedTensor> outs,
                bool moves) {
  for (const auto &operand : ins)
    if (operand && (moves || outs.empty() || !isOnSameCores(*operand, outs[0])))
      addTransfer(work, *operand);
  for (size_t i = 0; i < outs.size(); ++i)
    if (i || !outs[i].isShardInL1())
      addTransfer(work, outs[i]);
}

/// Cycles of a tile through the vector unit, by type of the result, if they are published (docs/cost-model.md).
struct VectorFunction {
  std::string_view op;
  int64_t bf16, f32;
};
static constexpr VectorFunction vectorFunctions[] = {
    {"exp", exponentialCycles, exponentialCycles},
    {"gelu", 256, 256},
    {"reciprocal", 1070, 1070},
    {"rsqrt", 1008, 1008},
    {"sigmoid", 256, 256},
    {"sqrt", 880, 880},
    {"softplus", 1500, 1500},
    {"tanh", 530, 1601},
    {"typecast", 80, 80},
};

static int64_t vectorCycles(std::string_view function, bool isF32) {
  for (const VectorFunction &row : vectorFunctions)
    if (row.op == function)
      return isF32 ? row.f32 : row.bf16;
  return 0;
}

static std::string_view withoutDialect(std::string_view op) { return op.substr(op.find('.') + 1); }

void addVectorPass(Work &work, std::string_view op, const PlacedTensor &result) {
  work.sfpuTiles += result.tiles;
  work.sfpuCycles += result.tiles * vectorCycles(withoutDialect(op), result.isF32);
}

void vectorPasses(const Op &op, Work &work) {
  for (const PlacedTensor &out : op.outs)
    addVectorPass(work, op.name, out);
}

void addActivation(const Op &op, Work &work) {
  std::string_view name = text(op, "activation");
  if (name.empty())
    name = text(op, "conv2d_config.activation.op_type");
  if (name.empty())
    name = text(op, "conv2d_config.activation");
  if (name.empty() || name == "relu" || name == "identity")
    return;
  if (name == "recip")
    name = "reciprocal";
  work.sfpuCycles += op.outs[0].tiles * vectorCycles(name, false);
  work.sfpuTiles += op.outs[0].tiles;
}

void addRows(Work &work, const PlacedTensor &operand, int64_t passes) {
  work.fpuTiles += passes * operand.tiles;
  work.isDividedByUnits = true;
  work.units = {std::max<int64_t>(1, operand.tiles / std::max<int64_t>(1, tilesAlong(operand.columns))), 1, 1};
}

} // namespace ttmlir::cost
