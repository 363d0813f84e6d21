//===- Normalization.cpp - norms and statistics of rows -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace tt::shapes {
namespace {

constexpr int64_t tileColumns = 32;

/// The operand, if it is present, has as many values as `expected` in the same order, and otherwise sizes of 1.
void expectValues(const Op &op, std::string_view name, View expected) {
  const Operand *found = optionalOperand(op, name);
  if (!found)
    return;
  const auto withoutOnes = [](View shape) {
    Sizes sizes;
    for (const int64_t size : shape)
      if (size != 1)
        sizes.push_back(size);
    return sizes;
  };
  if (!(withoutOnes(found->shape) == withoutOnes(expected)))
    failOperand(op, name, "has shape ", found->shape, "; expected ", expected);
}

/// Weights and biases have `count` values, in any shape: the chip's library keeps them in rows of a tile's width.
void expectWeights(const Op &op, int64_t count) {
  for (const std::string_view name : {"weight", "bias"})
    if (const Operand *found = optionalOperand(op, name); found && volume(op, found->shape) != count)
      failOperand(op, name, "has shape ", found->shape, "; expected ", View(Sizes{count}));
}

void layerNorm(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const Sizes normalized = integers(op, "normalized_shape");
  if (normalized.empty() || normalized.size() > input.size() || !equal(input.last(normalized.size()), normalized))
    failAttribute(op, "normalized_shape", "is ", normalized, "; expected the last sizes of ", input);
  expectShape(op, "weight", normalized);
  expectShape(op, "bias", normalized);
  results.push_back(Sizes(input));
}

View rows(const Op &op) {
  const Operand &input = operand(op, "input");
  if (input.shape.empty())
    failOperand(op, "input", op.describe(input), "; expected rank 1 or more");
  return input.shape;
}

/// Over the last dimension.
void layerNormLastDim(const Op &op, Results &results) {
  const View input = rows(op);
  expectWeights(op, input.back());
  results.push_back(Sizes(input));
}

/// A tensor that is added to the input has its shape.
void checkResidual(const Op &op, View input) { expectShape(op, nameOf(op, {"residual", "residual_input"}), input); }

/// Infers as `layerNormLastDim` does, for input + residual.
void residualNorm(const Op &op, Results &results) {
  layerNormLastDim(op, results);
  checkResidual(op, results.back());
}

/// Infers as `residualNorm` does, for rows that are split over the chips along `cluster_axis`.
void distributedNorm(const Op &op, Results &results) {
  chipsAlong(op, "cluster_axis");
  residualNorm(op, results);
}

/// Sums of the rows of input + residual, each in the first column of a tile.
void rowSums(const Op &op, Results &results, int64_t sums) {
  const View input = rows(op);
  checkResidual(op, input);
  results.push_back(resized(input, input.size() - 1, sums * tileColumns));
}
void rowSquares(const Op &op, Results &results) { rowSums(op, results, 1); }
void rowMoments(const Op &op, Results &results) { rowSums(op, results, 2); }

/// Infers as `layerNormLastDim` does, with two tiles of sums for each chip.
void normOfSums(const Op &op, Results &results) {
  layerNormLastDim(op, results);
  const View input = results.back(), stats = shapeOf(op, "stats");
  const View before = input.first(input.size() - 1);
  if (stats.empty() || !equal(stats.first(stats.size() - 1), before) || stats.back() < 1 ||
      stats.back() % (2 * tileColumns) != 0)
    failOperand(op, "stats", "has shape ", stats, "; expected ",
                View(resized(input, input.size() - 1, 2 * tileColumns)), " for each chip, side by side");
}

void groupNorm(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  const size_t dim = dimension(op, "channel_dim", optionalInteger(op, "channel_dim").value_or(-1), 4);
  const int64_t channels = input[dim], groups = integer(op, "num_groups");
  if (groups < 1 || channels % groups != 0)
    failAttribute(op, "num_groups", "is ", groups, ", which does not divide ", channels, " channels");
  expectWeights(op, channels);
  results.push_back(Sizes(input));
}

/// Parameters have one value per index of `dimension`; in training, the new running mean and variance follow.
void normalizeBatch(const Op &op, Results &results, bool training) {
  const View input = shapeOf(op, "operand");
  const Sizes channels = {input[dimension(op, "dimension", input.size())]};
  for (size_t i = 1; i < op.operands.size(); ++i)
    expectShape(op, op.operands[i].name, channels);
  results.push_back(Sizes(input));
  for (int i = 0; training && i < 2; ++i)
    results.push_back(channels);
}
void batchNorm(const Op &op, Results &results) { normalizeBatch(op, results, false); }
void batchNormTraining(const Op &op, Results &results) { normalizeBatch(op, results, true); }

/// TTNN's form: channels are dimension 1 of 4, parameters are 1 x C x 1 x 1 or C.
void batchNormChannels(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  for (const std::string_view name : {"running_mean", "running_var", "weight", "bias"})
    expectValues(op, name, Sizes{1, input[1], 1, 1});
  results.push_back(Sizes(input));
}

/// Infers as `batchNormChannels` does; statistics are required.
void batchNormInference(const Op &op, Results &results) {
  operand(op, "running_mean");
  operand(op, "running_var");
  batchNormChannels(op, results);
}

} // namespace

std::span<const Rule> normalizationRules() {
  static constexpr Rule rows[] = {
      {"batchNorm", batchNorm},
      {"batchNormChannels", batchNormChannels},
      {"batchNormInference", batchNormInference},
      {"batchNormTraining", batchNormTraining},
      {"distributedNorm", distributedNorm},
      {"groupNorm", groupNorm},
      {"layerNorm", layerNorm},
      {"layerNormLastDim", layerNormLastDim},
      {"normOfSums", normOfSums},
      {"residualNorm", residualNorm},
      {"rowMoments", rowMoments},
      {"rowSquares", rowSquares},
  };
  return rows;
}

} // namespace tt::shapes
