//===- FactorRulesRouting.cpp - factors of choices of tokens and experts --===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops that send tokens between devices have no factors: the values of a device depend on the tokens of all. Neither has
// sampling, which draws random numbers.
//
//===----------------------------------------------------------------------===//

#include "FactorRules.h"

namespace tt::shapes {
namespace {

/// Tokens [..., size] are independent of each other.
bool topKRouter(const Op &op, Factors &factors) {
  const View in = factors.operand(0);
  const int64_t bias = numberOf(op, "bias");
  for (int64_t dim = 0; dim + 1 < static_cast<int64_t>(in.size()); ++dim)
    factors.addAt(
        {{0, dim}, alignedPlace(factors, bias, dim), {resultNumber(factors), dim}, {resultNumber(factors, 1), dim}},
        sizeAt(in, dim));
  return takeRestWhole(factors);
}

/// Rows, columns and the reduction dimension are those of each product. The first dimension of `sparsity` may be that
/// of a.
bool sparseMatmul(const Op &op, Factors &factors) {
  const View a = factors.operand(0), b = factors.operand(1), sparsity = factors.operand(2);
  const auto rank = static_cast<int64_t>(factors.result(0).size());
  const int64_t result = resultNumber(factors);
  // The hint is the number of products of the whole.
  const bool isCounted = optionalInteger(op, "nnz").value_or(0) != 0;
  if (!sparsity.empty() && sparsity[0] == a[0] && !isCounted)
    factors.addAt({{0, 0}, {2, 0}, {result, 0}}, a[0]);
  factors.addAt({{0, 2}, {result, rank - 2}}, a[2])
      .addAt({{1, 3}, {result, rank - 1}}, b[3])
      .addAt({{0, 3}, {1, 2}}, a[3], kReduction);
  return takeRestWhole(factors);
}

/// Scores are summed over the heads.
bool indexerScores(const Op &op, Factors &factors) {
  factors.addAt({{0, 0}, {1, 0}, {numberOf(op, "weights"), 0}, {resultNumber(factors), 0}}, factors.operand(0)[0]);
  return takeRestWhole(factors);
}

/// Weights and biases [layers, experts, ...] are packed one by one.
bool packWeights(const Op &, Factors &factors) {
  for (int64_t dim = 0; dim < 2; ++dim)
    factors.add(View(Sizes(factors.numTensors(), dim)), sizeAt(factors.operand(0), dim));
  return takeRestWhole(factors);
}

} // namespace

std::span<const FactorRow> routingFactorRules() {
  static constexpr FactorRow rows[] = {
      {"indexerScores", indexerScores}, {"packFirstWeights", packWeights}, {"packLastWeight", packWeights},
      {"sparseMatmul", sparseMatmul},   {"topKRouter", topKRouter},
  };
  return rows;
}

} // namespace tt::shapes
