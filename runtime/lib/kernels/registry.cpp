//===- registry.cpp - the table of all ops ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"
#include "core/shapes.h"
#include "ttmlir/costs/Costs.h"

#include <algorithm>
#include <array>

namespace tt::ttnn {
namespace {

// Attributes that any op may have: older and newer forms of the dialect put them on different ops, and the result's
// descriptor states the same. The op's epochs and place, and the ops merged into it, are for reports.
constexpr std::array<AttributeSpec, 14> commonAttributes = {
    {{"dtype", AttributeKind::Enum, false, "ttcore.data_type"},
     {"output_dtype", AttributeKind::Enum, false, "ttcore.data_type"},
     {"layout", AttributeKind::Enum, false, "ttnn.layout"},
     {"memory_config", AttributeKind::Struct, false, "ttnn.memory_config"},
     {"compute_config", AttributeKind::Struct, false, "ttnn.device_compute_kernel_config"},
     {"ttcore.epoch", AttributeKind::Int, false},
     {"ttcore.merged", AttributeKind::List, false},
     {"ttcore.part", AttributeKind::Int, false},
     {"ttcore.placed_epoch", AttributeKind::Int, false},
     {"ttcore.placed_cores", AttributeKind::IntArray, false},
     {"ttcore.placed_transposed", AttributeKind::Bool, false},
     {"ttcore.placed_cycles", AttributeKind::Int, false},
     {"ttcore.placed_l1", AttributeKind::Int, false},
     {"operandSegmentSizes", AttributeKind::IntArray, false}}};

constexpr std::string_view kindNames[] = {
    "a bool",     "an integer",    "a float",  "a string", "an integer array", "a float array",
    "a constant", "an enum value", "a struct", "a list",   "a number",         "an integer or an array of them"};

bool isKind(const Attribute &attribute, AttributeKind kind) {
  const auto &value = attribute.value;
  switch (kind) {
  case AttributeKind::Bool:
    return std::holds_alternative<bool>(value);
  case AttributeKind::Int:
    return std::holds_alternative<int64_t>(value);
  case AttributeKind::Float:
    return std::holds_alternative<double>(value);
  case AttributeKind::String:
    return std::holds_alternative<std::string>(value);
  case AttributeKind::IntArray:
    return std::holds_alternative<std::vector<int64_t>>(value);
  case AttributeKind::FloatArray:
    return std::holds_alternative<std::vector<double>>(value);
  case AttributeKind::Constant:
    return std::holds_alternative<ConstantAttribute>(value);
  case AttributeKind::Enum:
    return std::holds_alternative<EnumAttribute>(value);
  case AttributeKind::Struct:
    return std::holds_alternative<StructAttribute>(value);
  case AttributeKind::List:
    return std::holds_alternative<ListAttribute>(value);
  case AttributeKind::Number:
    return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
  case AttributeKind::Integers:
    return std::holds_alternative<int64_t>(value) || std::holds_alternative<std::vector<int64_t>>(value);
  }
  return false;
}

/// Returns the type of an attribute that is an enum or struct.
std::string_view typeOf(const Attribute &attribute) {
  if (const auto *value = std::get_if<EnumAttribute>(&attribute.value))
    return value->type;
  const auto *value = std::get_if<StructAttribute>(&attribute.value);
  return value ? std::string_view(value->type) : std::string_view();
}

/// Whether a type is among those separated by '|'; any is, if none is named.
bool isOneOf(std::string_view type, std::string_view types) {
  if (types.empty())
    return true;
  for (size_t from = 0; from <= types.size();) {
    const size_t to = std::min(types.find('|', from), types.size());
    if (types.substr(from, to - from) == type)
      return true;
    from = to + 1;
  }
  return false;
}

std::string_view kindOf(const Attribute &attribute) { return kindNames[attribute.value.index()]; }

/// A row with the description of the op in ODS.
OpInfo described(OpInfo info) {
  const api::Op *op = api::findOp(info.name);
  if (!op)
    throw Error("the kernel of " + std::string(info.name) + " is of no op of the dialects");
  info.operands = op->operands;
  if (info.attributes.empty()) // a row names what only MLIR can say of the op
    info.attributes = op->attributes;
  info.outs = op->anyResults ? -1 : static_cast<int>(op->results.size());
  info.optionalOuts = op->optionalResults;
  info.draws = op->has("draws_values");
  info.joins = op->has("joins_shards");
  const bool any = std::ranges::any_of(op->operands, &api::Operand::variadic);
  info.maxIns = any ? -1 : static_cast<int>(op->operands.size());
  for (size_t i = 0; i < op->operands.size(); ++i)
    if (!op->operands[i].optional && !op->operands[i].variadic)
      info.minIns = static_cast<int>(i) + 1;
  return info;
}

struct Family {
  std::vector<OpInfo> (*rows)();
  bool computes = false, effects = false; // of OpInfo
};
constexpr Family families[] = {
    {elementwiseOps, true},
    {dataMovementOps},
    {creationOps},
    {conversionOps},
    {reductionOps, true},
    {matmulOps, true},
    {convolutionOps, true},
    {poolingOps, true},
    {normalizationOps, true},
    {collectiveOps},
    {debugOps, false, /*effects=*/true},
    {attentionOps, true},
    {cacheOps},
    {headOps},
    {lookupOps},
    {resamplingOps, true},
    {scanOps, true},
    {quantizationOps, true},
    {pagedAttentionOps, true},
    {convolutionWeightOps},
    {callOps},
    {tensorFileOps, false, /*effects=*/true},
    {genericOps},
    {distributedNormalizationOps, true},
    {latentAttentionOps, true},
    {optimizerOps, true},
    {attentionTrainingOps, true},
    {routingOps, true},
    {expertOps, true},
    {mixtureOps, true},
};

std::vector<OpInfo> collect() {
  std::vector<OpInfo> all;
  for (const Family &family : families)
    for (OpInfo &info : family.rows()) {
      info.computes |= family.computes;
      info.effects = family.effects;
      info.rule = ttmlir::cost::findRule(info.name);
      if (!info.rule && family.rows == elementwiseOps)
        info.rule = &ttmlir::cost::elementwise;
      if (!info.rule)
        throw Error(std::string(info.name) + " has no rule in lib/costs");
      all.push_back(described(std::move(info)));
    }
  std::ranges::sort(all, {}, &OpInfo::name);
  return all;
}

const std::vector<OpInfo> &registry() {
  static const std::vector<OpInfo> ops = collect();
  return ops;
}

std::string countText(int64_t least, int64_t most) {
  if (most < 0)
    return "at least " + std::to_string(least);
  return least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
}

} // namespace

void Attributes::missing(std::string_view name) const {
  for (const auto &[key, attribute] : all())
    if (key == name)
      throw OpError(op + ": attribute '" + std::string(name) + "' is " + std::string(kindOf(attribute)) +
                    ", which this op does not take");
  throw OpError(op + ": attribute '" + std::string(name) + "' is missing");
}

const OpInfo *findOp(std::string_view name) {
  const auto &ops = registry();
  const auto it = std::ranges::lower_bound(ops, name, {}, &OpInfo::name);
  return it != ops.end() && it->name == name ? &*it : nullptr;
}

std::span<const OpInfo> allOps() { return registry(); }

const AttributeSpec *findAttribute(const OpInfo &info, std::string_view name) {
  auto named = [&](const AttributeSpec &spec) { return spec.name == name; };
  if (auto it = std::ranges::find_if(info.attributes, named); it != info.attributes.end())
    return &*it;
  if (auto it = std::ranges::find_if(commonAttributes, named); it != commonAttributes.end())
    return &*it;
  return nullptr;
}

bool isReproducible(const OpInfo &info, std::span<const TensorSpec> results) {
  return info.make && info.writes.empty() && !results.empty() && !info.draws && !info.effects &&
         std::ranges::none_of(results, [](const TensorSpec &spec) { return spec.distributed; });
}

/// An op across the mesh writes a shard on every chip, or one tensor. Operands may have either.
static void checkShards(const OpInfo &info, const OpCall &call) {
  const uint64_t chips = uint64_t(call.meshShape[0]) * call.meshShape[1];
  if (!info.makeMesh || chips == 1)
    return;
  for (size_t i = 0; i < call.outs.size(); ++i)
    if (call.outs[i].distributed == info.joins)
      fail(call, "result " + std::to_string(i) + " is " +
                     (info.joins ? "distributed; expected one tensor"
                                 : "one tensor; expected a shard for each of the " + std::to_string(chips) +
                                       " chips of the mesh"));
}

void check(const OpInfo &info, const OpCall &call) {
  const auto count = static_cast<int64_t>(call.ins.size());
  if (count < info.minIns || (info.maxIns >= 0 && count > info.maxIns))
    fail(call, std::to_string(count) + " operands; expected " + countText(info.minIns, info.maxIns));
  for (size_t i = 0; i < call.ins.size(); ++i)
    if (!call.ins[i] && (info.maxIns < 0 || !info.operands[i].optional))
      fail(call, "operand " + std::to_string(i) + " is absent");
  const auto outs = static_cast<int64_t>(call.outs.size());
  if (info.outs >= 0 && (outs > info.outs || outs < info.outs - info.optionalOuts))
    fail(call, std::to_string(outs) + " results; expected " + countText(info.outs - info.optionalOuts, info.outs));
  if (call.meshShape.size() != 2 || call.meshShape[0] == 0 || call.meshShape[1] == 0)
    fail(call, "the mesh shape has " + std::to_string(call.meshShape.size()) + " sizes; expected two positive ones");
  checkShards(info, call);
  for (const auto &in : call.ins)
    if (in)
      volume(in->shape);
  for (const TensorSpec &out : call.outs)
    volume(out.shape);

  for (const auto &[name, attribute] : call.attributes.all()) {
    const AttributeSpec *spec = findAttribute(info, name);
    if (!spec)
      fail(call, "unknown attribute '" + name + "'");
    if (!isKind(attribute, spec->kind))
      fail(call, "attribute '" + name + "' is " + std::string(kindOf(attribute)) + "; expected " +
                     std::string(kindNames[static_cast<size_t>(spec->kind)]));
    if (const std::string_view type = typeOf(attribute); !type.empty() && !isOneOf(type, spec->type))
      fail(call, "attribute '" + name + "' is of type " + std::string(type) + "; expected " + std::string(spec->type));
  }
  for (const AttributeSpec &spec : info.attributes)
    if (spec.required &&
        std::ranges::none_of(call.attributes.all(), [&](const auto &e) { return e.name == spec.name; }))
      fail(call, "attribute '" + std::string(spec.name) + "' is missing");
  checkShapes(info, call);
}

} // namespace tt::ttnn
