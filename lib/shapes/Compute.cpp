//===- Compute.cpp - elementwise ops, reductions, orderings, products -----===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <utility>

namespace tt::shapes {
namespace {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// NumPy's broadcasting of all operands.
void elementwise(const Op &op, Results &results) {
  Sizes shape(operandAt(op, 0).shape);
  for (size_t i = 1; i < op.operands.size(); ++i)
    if (op.operands[i].state != Operand::State::Absent)
      shape = broadcast(op, shape, operandAt(op, i).shape, "operand shapes");
  results.push_back(shape);
}

void integerElementwise(const Op &op, Results &results) {
  for (size_t i = 0; i < op.operands.size(); ++i)
    expectIntegers(op, operandAt(op, i));
  elementwise(op, results);
}

void geluBackward(const Op &op, Results &results) {
  expectChoice(op, "approximate", "none", "tanh");
  elementwise(op, results);
}

void nothing(const Op &, Results &) {}

/// The shape of the first operand.
void same(const Op &op, Results &results) { results.push_back(Sizes(operandAt(op, 0).shape)); }

/// Infers as `same` does; the operand has the dimension that the attribute names.
void alongDim(const Op &op, Results &results) {
  dimension(op, "dim", operandAt(op, 0).shape.size());
  same(op, results);
}
void softmax(const Op &op, Results &results) {
  dimension(op, "dimension", operandAt(op, 0).shape.size());
  same(op, results);
}

/// One scale and zero point for all, or one for each index of `axis`.
void quantize(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const auto axis = optionalInteger(op, "axis");
  const int64_t length = axis ? input[dimension(op, "axis", *axis, input.size())] : 1;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Operand &parameter = operandAt(op, i);
    const int64_t count = volume(op, parameter.shape);
    if (count == 1 || (count == length && axis))
      continue;
    if (axis)
      failOperand(op, parameter.name, "has shape ", parameter.shape, "; expected 1 value, or ", length,
                  " for the indices of dimension ", *axis);
    failOperand(op, parameter.name, "has shape ", parameter.shape, "; expected 1 value without an axis");
  }
  results.push_back(Sizes(input));
}

/// The number of a recording, and one of two queues.
void executeTrace(const Op &op, Results &) {
  const Operand &trace = operand(op, "trace_id");
  if (volume(op, trace.shape) != 1)
    failOperand(op, "trace_id", op.describe(trace), "; expected one number");
  expectIntegers(op, trace);
  if (const auto queue = optionalInteger(op, "cq_id"); queue && *queue > 1)
    failAttribute(op, "cq_id", "is ", *queue, "; expected 0 or 1");
}

//===----------------------------------------------------------------------===//
// Reductions and orderings
//===----------------------------------------------------------------------===//

void reduce(const Op &op, Results &results, size_t most) {
  const View input = operandAt(op, 0).shape;
  // A single dimension may be a number. TTNN's argmax calls it `dim`.
  std::string_view name = "dim_arg";
  Attribute found = op.attribute(name);
  if (found.kind == Attribute::Kind::Absent)
    found = op.attribute(name = "dim");
  if (found.kind == Attribute::Kind::Integer)
    found.integers = {found.integer};
  else if (found.kind != Attribute::Kind::Integers && found.kind != Attribute::Kind::Absent)
    failAttribute(op, name, "is neither an integer nor a list of integers");
  const Sizes &dims = found.integers;
  if (dims.size() > most)
    failAttribute(op, name, "names ", dims.size(), " dimensions; expected one, or no attribute for all");
  // An empty list means all dimensions.
  Sizes reduced(input.size(), dims.empty());
  for (const int64_t dim : dims) {
    const size_t at = dimension(op, name, dim, input.size());
    if (std::exchange(reduced[at], 1))
      failAttribute(op, name, "names dimension ", at, " twice");
  }
  const bool keep = boolean(op, "keep_dim");
  Sizes shape;
  for (size_t d = 0; d < input.size(); ++d)
    if (!reduced[d])
      shape.push_back(input[d]);
    else if (keep)
      shape.push_back(1);
  results.push_back(shape);
}

void reduction(const Op &op, Results &results) { reduce(op, results, SIZE_MAX); }
void reductionOfOne(const Op &op, Results &results) { reduce(op, results, 1); }

/// The position of the greatest value: there must be one.
void argmax(const Op &op, Results &results) {
  reduction(op, results);
  const View input = operandAt(op, 0).shape;
  if (volume(op, input) == 0 && volume(op, results.back()) != 0)
    failOperand(op, op.operands[0].name, "has shape ", input, ", whose reduced dimension is empty");
}

void sort(const Op &op, Results &results) {
  alongDim(op, results);
  same(op, results);
}

void topk(const Op &op, Results &results) {
  const View input = operandAt(op, 0).shape;
  const size_t dim = dimension(op, "dim", input.size());
  const int64_t k = integer(op, "k");
  if (k < 1 || k > input[dim])
    failAttribute(op, "k", "is ", k, "; expected 1 to ", input[dim], ", the size of dimension ", dim);
  results.push_back(resized(input, dim, k));
  results.push_back(resized(input, dim, k));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// A matrix operand: batch dimensions, rows, columns. A vector lacks one.
struct Matrix {
  View batch;
  int64_t rows, columns;
  bool isVector;
};

Matrix matrix(const Op &op, std::string_view name, std::string_view transposes, bool isLeft) {
  const bool transposed = boolean(op, transposes);
  const Operand &from = operand(op, name);
  const View shape = from.shape;
  if (shape.empty())
    failOperand(op, name, op.describe(from), "; expected rank 1 or more");
  if (shape.size() == 1) {
    if (transposed)
      failAttribute(op, transposes, "is set, but ", Name{name}, " has shape ", shape,
                    "; a vector has nothing to transpose");
    return isLeft ? Matrix{{}, 1, shape[0], true} : Matrix{{}, shape[0], 1, true};
  }
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (transposed)
    std::swap(rows, columns);
  return {shape.first(shape.size() - 2), rows, columns, false};
}

/// The shape of a matrix product, as in torch.matmul.
Sizes productShape(const Op &op) {
  const Matrix a = matrix(op, "a", "transpose_a", true), b = matrix(op, "b", "transpose_b", false);
  if (a.columns != b.rows) {
    // The advice is given where following it would help.
    const bool helps = !b.isVector && a.columns == b.columns, set = boolean(op, "transpose_b");
    fail(op, "inner dimensions ", a.columns, " and ", b.rows, " differ",
         !helps ? ""
         : set  ? "; clear transpose_b"
                : "; transpose the second operand or set transpose_b",
         " (shapes ", shapeOf(op, "a"), " and ", shapeOf(op, "b"), ")");
  }
  Sizes shape = broadcast(op, a.batch, b.batch, "batch dimensions");
  if (!a.isVector)
    shape.push_back(a.rows);
  if (!b.isVector)
    shape.push_back(b.columns);
  // The product of two vectors may be a tensor with one value.
  if (shape.empty() && !op.declared.empty() && equal(op.declared[0], Sizes{1}))
    shape.push_back(1);
  return shape;
}

/// A product, plus a bias that may have more dimensions.
void matmul(const Op &op, Results &results) {
  Sizes shape = productShape(op);
  if (const Operand *bias = optionalOperand(op, "bias"))
    shape = broadcast(op, shape, bias->shape, "product and bias");
  results.push_back(shape);
}

/// A product, plus a bias that broadcasts to it.
void linear(const Op &op, Results &results) {
  const Sizes product = productShape(op);
  matmul(op, results);
  if (!(results.back() == product))
    failOperand(op, "bias", "has shape ", shapeOf(op, "bias"), ", which does not broadcast to the product ", product);
}

void dotGeneral(const Op &op, Results &results) {
  const View lhs = shapeOf(op, "lhs"), rhs = shapeOf(op, "rhs");
  Sizes usedLhs(lhs.size(), 0), usedRhs(rhs.size(), 0);
  // Every dimension may be named once over all lists.
  const auto read = [&](std::string_view name, Sizes &used) {
    const Sizes dims = integers(op, name);
    for (const int64_t dim : dims) {
      if (dim < 0 || dim >= static_cast<int64_t>(used.size()))
        failAttribute(op, name, "has ", dim, "; expected 0 to ", static_cast<int64_t>(used.size()) - 1);
      if (std::exchange(used[static_cast<size_t>(dim)], 1))
        failAttribute(op, name, "names dimension ", dim, ", which is already a batch or contracted one");
    }
    return dims;
  };
  const Sizes batchLhs = read("batch_dims_lhs", usedLhs), contractLhs = read("contract_dims_lhs", usedLhs),
              batchRhs = read("batch_dims_rhs", usedRhs), contractRhs = read("contract_dims_rhs", usedRhs);
  const auto pairUp = [&](std::string_view what, const Sizes &left, const Sizes &right) {
    if (left.size() != right.size())
      fail(op, "lhs has ", left.size(), " ", what, " dimensions, rhs ", right.size());
    for (size_t i = 0; i < left.size(); ++i)
      if (const int64_t l = lhs[static_cast<size_t>(left[i])], r = rhs[static_cast<size_t>(right[i])]; l != r)
        fail(op, what, " dimensions ", left[i], " of lhs and ", right[i], " of rhs differ: sizes ", l, " and ", r);
  };
  pairUp("batch", batchLhs, batchRhs);
  pairUp("contracted", contractLhs, contractRhs);
  Sizes shape;
  for (const int64_t dim : batchLhs)
    shape.push_back(lhs[static_cast<size_t>(dim)]);
  for (size_t d = 0; d < lhs.size(); ++d)
    if (!usedLhs[d])
      shape.push_back(lhs[d]);
  for (size_t d = 0; d < rhs.size(); ++d)
    if (!usedRhs[d])
      shape.push_back(rhs[d]);
  results.push_back(shape);
}

} // namespace

std::span<const Rule> computeRules() {
  static constexpr Rule rows[] = {
      {"alongDim", alongDim},
      {"dequantize", quantize},
      {"dequantizeByType", same},
      {"dotGeneral", dotGeneral},
      {"elementwise", elementwise, /*broadcasts=*/true},
      {"argmax", argmax},
      {"executeTrace", executeTrace},
      {"geluBackward", geluBackward, /*broadcasts=*/true},
      {"integerElementwise", integerElementwise, /*broadcasts=*/true},
      {"linear", linear},
      {"matmul", matmul},
      {"nothing", nothing},
      {"quantize", quantize},
      {"quantizeByType", same},
      {"reduction", reduction},
      {"reductionOfOne", reductionOfOne},
      {"requantize", quantize},
      {"requantizeByType", same},
      {"same", same},
      {"softmax", softmax},
      {"sort", sort},
      {"topk", topk},
  };
  return rows;
}

} // namespace tt::shapes
