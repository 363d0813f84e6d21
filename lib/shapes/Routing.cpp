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

/// b is [1, experts, K, N]; the shapes of the others depend on which are sparse.
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
  if (const Sizes expected = {query[0], 1, key[2], query[3]}; !equal(key, expected))
    failOperand(op, "key", "has shape ", key, "; expected ", View(expected));
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

/// 'num_devices', the number of devices along 'cluster_axis'.
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
  Sizes gathered = {1, sizeOr(op, 1, multiply(input[0], devices)), input[1] * input[2], input[3]};
  // With scores, the tokens of batch and sequence are in one dimension.
  if (optionalOperand(op, "expert_scores"))
    gathered = {1, sizeOr(op, 1, multiply(gathered[1], gathered[2])), input[3]};
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
    results.push_back(resized(gathered, gathered.size() - 1, each->shape[3]));
  }
}

void combineTokens(const Op &op, Results &results) {
  const View input = shapeOf(op, "input_tensor", 4), metadata = shapeOf(op, "expert_metadata", 4);
  const int64_t devices = devicesAlong(op), experts = expertsOfDevice(op), k = integer(op, "num_experts_per_tok"),
                dim = integer(op, "output_shard_dim");
  expectIntegers(op, operand(op, "expert_metadata"));
  if (input[0] != experts)
    failOperand(op, "input_tensor", "has shape ", input, "; expected ", experts, " experts of a device first");
  if (const Sizes expected = {1, input[1], input[2], k}; !equal(metadata, expected))
    failOperand(op, "expert_metadata", "has shape ", metadata, "; expected ", View(expected));
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

//===----------------------------------------------------------------------===//
// Experts that are computed and combined in one op
//===----------------------------------------------------------------------===//

/// Sizes of the experts of a device.
struct Experts {
  int64_t layers, experts, size, intermediate;
};

/// w0, w1 and w2 unprepared, with all of their biases or none.
Experts plainExperts(const Op &op) {
  const View w0 = shapeOf(op, "w0", 4);
  const Experts found = {w0[0], w0[1], w0[2], w0[3]};
  expectShape(op, "w1", w0);
  expectShape(op, "w2", Sizes{w0[0], w0[1], w0[3], w0[2]});
  expectShape(op, "bias_0", Sizes{w0[0], w0[1], w0[3]});
  expectShape(op, "bias_1", Sizes{w0[0], w0[1], w0[3]});
  expectShape(op, "bias_2", Sizes{w0[0], w0[1], w0[2]});
  const bool biased = optionalOperand(op, "bias_0");
  for (const std::string_view name : {"bias_1", "bias_2"})
    if (bool(optionalOperand(op, name)) != biased)
      fail(op, "has ", biased ? "" : "no ", Name{"bias_0"}, " and ", biased ? "no " : "", Name{name},
           "; expected all biases or none");
  return found;
}

/// Weights as prepare_moe_compute_w0_w1_weights and prepare_moe_compute_w2_weights leave them.
Experts packedExperts(const Op &op) {
  const View first = shapeOf(op, "matmul_w0_w1_tensor", 4), last = shapeOf(op, "matmul_w2_tensor", 4);
  const int64_t bias = boolean(op, "has_bias") ? 1 : 0;
  const Experts found = {first[0], first[1], first[2] - bias, first[3] / 2};
  if (found.size < 0 || first[3] % 2 != 0)
    failOperand(op, "matmul_w0_w1_tensor", "has shape ", first,
                "; expected layers x experts x rows x columns of two weights", bias ? ", and a row of biases" : "");
  if (const Sizes expected = {found.layers, found.experts, found.intermediate + bias, found.size};
      !equal(last, expected))
    failOperand(op, "matmul_w2_tensor", "has shape ", last, "; expected ", View(expected));
  return found;
}

/// Experts of all devices, by the mapping [1, 1, experts, devices] or [rows, experts].
void expectMapping(const Op &op, int64_t local) {
  const Operand &mapping = operand(op, "tilize_expert_mapping_tensor");
  const View shape = mapping.shape;
  expectIntegers(op, mapping);
  const int64_t devices = op.mesh().empty() ? 0 : volume(op, op.mesh());
  const bool oneHot = shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[3] >= 1;
  if (!oneHot && (shape.size() != 2 || shape[0] < 1))
    failOperand(op, "tilize_expert_mapping_tensor", "has shape ", shape,
                "; expected 1 x 1 x experts x devices, or rows x experts");
  if (oneHot && devices && shape[3] != devices)
    failOperand(op, "tilize_expert_mapping_tensor", "has shape ", shape, "; expected 1 x 1 x experts x ", devices,
                ", the devices of the mesh");
  const int64_t all = oneHot ? shape[2] : shape[1], among = oneHot ? shape[3] : devices;
  if (among && multiply(local, among) != all)
    failOperand(op, "tilize_expert_mapping_tensor", "has ", all, " experts; expected ", local, " for each of ", among,
                " devices");
}

void computeExperts(const Op &op, Results &results) {
  const View tokens = shapeOf(op, "tilize_input_tensor"), which = shapeOf(op, "tilize_expert_indices_tensor");
  const bool isPlain = nameOf(op, {"w0", "matmul_w0_w1_tensor"}) == "w0";
  const Experts experts = isPlain ? plainExperts(op) : packedExperts(op);
  if (tokens.empty() || tokens.back() != experts.size)
    failOperand(op, "tilize_input_tensor", "has shape ", tokens, "; expected tokens of ", experts.size,
                ", as the weights have rows");
  const int64_t rows = volume(op, tokens.first(tokens.size() - 1));
  expectIntegers(op, operand(op, "tilize_expert_indices_tensor"));
  if (which.empty() || volume(op, which.first(which.size() - 1)) != rows)
    failOperand(op, "tilize_expert_indices_tensor", "has shape ", which, "; expected a row for each of ", rows,
                " tokens");
  expectShape(op, "tilize_expert_scores_tensor", which);
  expectMapping(op, experts.experts);
  if (const int64_t size = integer(op, "intermediate_size"); size != experts.intermediate)
    failAttribute(op, "intermediate_size", "is ", size, "; expected ", experts.intermediate, ", as the weights have");
  if (const int64_t layer = integer(op, "layer_id"); layer < 0 || layer >= experts.layers)
    failAttribute(op, "layer_id", "is ", layer, "; expected 0 to ", experts.layers - 1, ", the layers of the weights");
  const auto chips = chipsAlong(op, "cluster_axis");
  if (!chips && op.declared.empty())
    failAttribute(op, "cluster_axis", "leaves the result open: the module names no mesh, and no shape is declared");
  // Without a mesh, the declared types state the number of devices.
  const int64_t own = chips ? rows / *chips : op.declared[0].size() == 3 ? op.declared[0][1] : rows;
  if (chips ? rows % *chips != 0 : own < 0 || (own == 0 ? rows != 0 : rows % own != 0))
    failOperand(op, "tilize_input_tensor", "has ", rows, " tokens, which do not divide ",
                chips ? "among " : "into parts of ", chips ? *chips : own,
                chips ? " devices along 'cluster_axis'" : ", as the result has");
  const Sizes result = {which.back(), own, experts.size};
  expectShape(op, "optional_output_tensor", result);
  results.push_back(result);
}

/// 'hidden_size' and 'intermediate_size' are those of the weights.
void expectSizes(const Op &op, int64_t hidden, int64_t intermediate) {
  for (const auto &[name, expected] : {std::pair("hidden_size", hidden), std::pair("intermediate_size", intermediate)})
    if (const int64_t size = integer(op, name); size != expected)
      failAttribute(op, name, "is ", size, "; expected ", expected, ", as the weights have");
}

void packFirstWeights(const Op &op, Results &results) {
  const View w0 = shapeOf(op, "w0", 4);
  const Sizes bias = {w0[0], w0[1], w0[3]};
  expectShape(op, "w1", w0);
  expectShape(op, "bias_0", bias);
  expectShape(op, "bias_1", bias);
  const bool biased = optionalOperand(op, "bias_0");
  if (bool(optionalOperand(op, "bias_1")) != biased)
    fail(op, "has one of ", Name{"bias_0"}, " and ", Name{"bias_1"}, "; expected both or none");
  expectSizes(op, w0[2], w0[3]);
  results.push_back({w0[0], w0[1], sizeOr(op, 2, add(w0[2], biased ? 1 : 0)), sizeOr(op, 3, multiply(w0[3], 2))});
}

void packLastWeight(const Op &op, Results &results) {
  const View w2 = shapeOf(op, "w2", 4);
  expectShape(op, "bias_2", Sizes{w2[0], w2[1], w2[3]});
  expectSizes(op, w2[3], w2[2]);
  results.push_back({w2[0], w2[1], sizeOr(op, 2, add(w2[2], optionalOperand(op, "bias_2") ? 1 : 0)), w2[3]});
}

} // namespace

std::span<const Rule> routingRules() {
  static constexpr Rule rows[] = {
      {"combineTokens", combineTokens},       {"computeExperts", computeExperts},
      {"dispatchTokens", dispatchTokens},     {"indexerScores", indexerScores},
      {"packFirstWeights", packFirstWeights}, {"packLastWeight", packLastWeight},
      {"remapTokens", remapTokens},           {"sampling", sampling},
      {"sparseMatmul", sparseMatmul},         {"topKRouter", topKRouter},
  };
  return rows;
}

} // namespace tt::shapes
