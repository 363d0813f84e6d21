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

} // namespace

std::span<const Rule> routingRules() {
  static constexpr Rule rows[] = {
      {"sampling", sampling},
      {"sparseMatmul", sparseMatmul},
      {"topKRouter", topKRouter},
  };
  return rows;
}

} // namespace tt::shapes
