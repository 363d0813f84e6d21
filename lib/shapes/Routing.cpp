//===- Routing.cpp - choices of tokens and experts ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace tt::shapes {
namespace {

/// Candidates of each user, [users, candidates] or [1, 1, users, candidates].
void sampling(const Op &op, Results &results) {
  const View values = shapeOf(op, "input_values");
  if ((values.size() != 2 && values.size() != 4) || (values.size() == 4 && (values[0] != 1 || values[1] != 1)) ||
      values.back() < 1)
    failOperand(op, "input_values", "has shape ", values,
                "; expected users x candidates or 1 x 1 x users x candidates, of at least one candidate");
  expectShape(op, "input_indices", values);
  expectIntegers(op, operand(op, "input_indices"));
  expectIntegers(op, operand(op, "k"));
  const int64_t users = values[values.size() - 2];
  for (const std::string_view name : {"k", "p", "temp"})
    if (const View each = shapeOf(op, name); volume(op, each) != users)
      failOperand(op, name, "has shape ", each, "; expected a value for each of ", users, " users");
  results.push_back(values.size() == 4 ? Sizes{1, 1, 1, users} : Sizes{users});
}

/// Tokens [..., size], weights [size, experts].
void topKRouter(const Op &op, Results &results) {
  const View input = shapeOf(op, "input"), weight = shapeOf(op, "weight", 2);
  const int64_t experts = integer(op, "num_experts"), k = integer(op, "k");
  if (input.empty() || input.back() != weight[0])
    failOperand(op, "input", "has shape ", input, "; expected rows of ", weight[0], ", as ", Name{"weight"}, " has");
  if (experts != weight[1])
    failAttribute(op, "num_experts", "is ", experts, "; expected ", weight[1], ", the columns of ", Name{"weight"});
  if (k < 1 || k > experts)
    failAttribute(op, "k", "is ", k, "; expected 1 to ", experts);
  const Sizes logits = resized(input, input.size() - 1, experts);
  const View bias = shapeOf(op, "bias");
  if (!equal(broadcast(op, logits, bias, "input * weight and bias"), logits))
    failOperand(op, "bias", "has shape ", bias, ", which does not broadcast to ", View(logits));
  for (int i = 0; i < 2; ++i)
    results.push_back(resized(input, input.size() - 1, k));
}

/// b is [1, experts, K, N]; what the others are depends on which are sparse.
void sparseMatmul(const Op &op, Results &results) {
  const View a = shapeOf(op, "a", 4), b = shapeOf(op, "b", 4);
  const bool sparseA = boolean(op, "is_input_a_sparse"), sparseB = boolean(op, "is_input_b_sparse");
  if (!sparseA && !sparseB)
    failAttribute(op, "is_input_a_sparse", "and 'is_input_b_sparse' are false; expected one of them to be true");
  if (b[0] != 1)
    failOperand(op, "b", "has shape ", b, "; expected 1 x experts x K x N");
  if (a[3] != b[2])
    fail(op, "inner dimensions ", a[3], " of ", Name{"a"}, " and ", b[2], " of ", Name{"b"}, " differ");
  if (sparseA && (a[1] != b[1] || (sparseB && a[0] != 1)))
    failOperand(op, "a", "has shape ", a, "; expected ", sparseB ? "1" : "batches", " x ", b[1], " x M x K");
  const View sparsity = shapeOf(op, "sparsity");
  Sizes products = {a[0], b[1]};
  if (!sparseA)
    products = {a[0], a[1], b[1]};
  if (const int64_t count = volume(op, products); volume(op, sparsity) != count)
    failOperand(op, "sparsity", "has shape ", sparsity, "; expected a value for each of ", count, " products");
  if (const auto count = optionalInteger(op, "nnz"); count && (*count < 0 || *count > volume(op, products)))
    failAttribute(op, "nnz", "is ", *count, "; expected 0 to ", volume(op, products), ", the number of products");
  if (sparseA)
    results.push_back({a[0], b[1], a[2], b[3]});
  else
    results.push_back({a[0], a[1], 1, b[1], a[2], b[3]});
}

void indexerScores(const Op &op, Results &results) {
  const View query = shapeOf(op, "query", 4), key = shapeOf(op, "key", 4);
  if (const Sizes wanted = {query[0], 1, key[2], query[3]}; !equal(key, wanted))
    failOperand(op, "key", "has shape ", key, "; expected ", View(wanted));
  expectShape(op, "weights", resized(query, 3, 1));
  results.push_back({query[0], 1, query[2], key[2]});
}

//===----------------------------------------------------------------------===//
// Experts on the devices of a mesh
//===----------------------------------------------------------------------===//

/// Experts of a device, by the mapping [1, 1, experts, devices].
int64_t expertsOfDevice(const Op &op) {
  const View mapping = shapeOf(op, "expert_mapping", 4);
  const int64_t devices = op.mesh().empty() ? mapping[3] : volume(op, op.mesh());
  if (mapping[0] != 1 || mapping[1] != 1 || mapping[3] < 1 || mapping[3] != devices)
    failOperand(op, "expert_mapping", "has shape ", mapping, "; expected 1 x 1 x experts x ", devices,
                op.mesh().empty() ? ", at least one device" : ", the devices of the mesh");
  if (mapping[2] % mapping[3] != 0)
    failOperand(op, "expert_mapping", "has ", mapping[2], " experts, which do not divide among ", mapping[3],
                " devices");
  return mapping[2] / mapping[3];
}

/// 'num_devices', which are those along 'cluster_axis'.
int64_t devicesAlong(const Op &op) {
  const int64_t devices = integer(op, "num_devices");
  const auto chips = chipsAlong(op, "cluster_axis");
  if (devices < 1 || (chips && *chips != devices))
    failAttribute(op, "num_devices", "is ", devices, "; expected ",
                  chips ? std::to_string(*chips) + ", the devices of the mesh along 'cluster_axis'" : "1 or more");
  return devices;
}

void dispatchTokens(const Op &op, Results &results) {
  const View input = shapeOf(op, "input_tensor", 4);
  const int64_t devices = devicesAlong(op);
  expertsOfDevice(op);
  if (input[1] != 1 && input[2] != 1)
    failOperand(op, "input_tensor", "has shape ", input,
                "; expected batch x sequence x 1 x size or batch x 1 x "
                "sequence x size");
  const Sizes gathered = {1, sizeOr(op, 1, multiply(input[0], devices)), input[1] * input[2], input[3]};
  results.push_back(gathered);
  expectIntegers(op, operand(op, "expert_indices"));
  for (const std::string_view name : {"expert_indices", "expert_scores"}) {
    const Operand *each = optionalOperand(op, name);
    if (!each)
      continue;
    if (each->shape.size() != 4 || !equal(resized(input, 3, each->shape[3]), each->shape))
      failOperand(op, name, "has shape ", each->shape, "; expected that of ", Name{"input_tensor"}, ", ", input,
                  ", but for the last dimension");
    if (name == "expert_scores" && each->shape[3] != shapeOf(op, "expert_indices")[3])
      failOperand(op, name, "has ", each->shape[3], " values for each token; expected ",
                  shapeOf(op, "expert_indices")[3], ", one for each expert");
    results.push_back(resized(gathered, 3, each->shape[3]));
  }
}

void combineTokens(const Op &op, Results &results) {
  const View input = shapeOf(op, "input_tensor", 4), metadata = shapeOf(op, "expert_metadata", 4);
  const int64_t devices = devicesAlong(op), experts = expertsOfDevice(op), k = integer(op, "num_experts_per_tok"),
                dim = integer(op, "output_shard_dim");
  expectIntegers(op, operand(op, "expert_metadata"));
  if (input[0] != experts)
    failOperand(op, "input_tensor", "has shape ", input, "; expected ", experts, " experts of a device first");
  if (const Sizes wanted = {1, input[1], input[2], k}; !equal(metadata, wanted))
    failOperand(op, "expert_metadata", "has shape ", metadata, "; expected ", View(wanted));
  if (dim != 1 && dim != 2)
    failAttribute(op, "output_shard_dim", "is ", dim, "; expected 1 (batch) or 2 (sequence)");
  const auto split = static_cast<size_t>(dim);
  if (input[split] % devices != 0)
    failOperand(op, "input_tensor", "has ", input[split], " in dimension ", dim, ", which does not divide among ",
                devices, " devices");
  Sizes result = resized(input, split, input[split] / devices);
  result[0] = k;
  results.push_back(result);
}

void remapTokens(const Op &op, Results &results) {
  const View scores = shapeOf(op, "topk_tensor", 4), metadata = shapeOf(op, "expert_metadata", 4);
  const int64_t experts = expertsOfDevice(op), all = shapeOf(op, "expert_mapping")[2],
                size = integer(op, "reduction_size");
  expectIntegers(op, operand(op, "expert_metadata"));
  if (scores[0] != 1 || scores[3] != all)
    failOperand(op, "topk_tensor", "has shape ", scores, "; expected 1 x batch x sequence x ", all, " experts");
  if (!equal(resized(scores, 3, metadata[3]), metadata))
    failOperand(op, "expert_metadata", "has shape ", metadata, "; expected that of ", Name{"topk_tensor"}, ", ", scores,
                ", but for the last dimension");
  if (size < 1)
    failAttribute(op, "reduction_size", "is ", size, "; expected 1 or more");
  results.push_back(resized(scores, 3, experts));
  results.push_back({1, 1, ceilDivide(volume(op, View(scores).first(3)), size), experts});
}

} // namespace

std::span<const Rule> routingRules() {
  static constexpr Rule rows[] = {
      {"combineTokens", combineTokens}, {"dispatchTokens", dispatchTokens},
      {"indexerScores", indexerScores}, {"remapTokens", remapTokens},
      {"sampling", sampling},           {"sparseMatmul", sparseMatmul},
      {"topKRouter", topKRouter},
  };
  return rows;
}

} // namespace tt::shapes
