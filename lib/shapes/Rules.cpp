//===- Rules.cpp - the table of shape rules, and what they share ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <array>

namespace tt::shapes {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rows;
    for (auto family : {computeRules, movementRules, windowRules, normalizationRules, attentionRules, cacheRules,
                        meshRules, routingRules, trainingRules})
      rows.insert(rows.end(), family().begin(), family().end());
    std::sort(rows.begin(), rows.end(), [](const Rule &a, const Rule &b) { return a.name < b.name; });
    return rows;
  }();
  return all;
}

const Rule *findRule(std::string_view name) {
  const auto all = rules();
  const auto it = std::lower_bound(all.begin(), all.end(), name,
                                   [](const Rule &rule, std::string_view text) { return rule.name < text; });
  return it != all.end() && it->name == name ? &*it : nullptr;
}

namespace {
struct Stop {
  Failure failure;
};
} // namespace

void failWith(Failure failure) { throw Stop{std::move(failure)}; }

std::optional<Failure> infer(const Rule &rule, const Op &op, Results &results) try {
  rule.function(op, results);
  for (const Sizes &shape : results) {
    for (const int64_t size : shape)
      if (size < 0)
        fail(op, "has a result of shape ", shape, "; sizes cannot be negative");
    volume(op, shape);
  }
  return std::nullopt;
} catch (Stop &stop) {
  return std::move(stop.failure);
}

std::optional<Factors> inferFactors(std::string_view rule, const Op &op) try {
  const FactorRule function = findFactorRule(rule);
  if (!function)
    return std::nullopt;
  std::vector<View> operands;
  for (const Operand &operand : op.operands) {
    if (operand.state == Operand::State::Unusable)
      return std::nullopt;
    if (operand.state == Operand::State::Present)
      operands.push_back(operand.shape);
  }
  Factors factors(operands, op.declared);
  if (!function(op, factors))
    return std::nullopt;
  return factors.finish();
} catch (Stop &) {
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string Op::text(View shape) const {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (const int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string list(View values) {
  std::string text;
  for (const int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

std::string Op::describe(const Operand &operand) const { return "has shape " + text(operand.shape); }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static const Operand &checked(const Op &op, const Operand &operand) {
  if (operand.state == Operand::State::Unusable)
    failOperand(op, operand.name, op.describe(operand));
  volume(op, operand.shape);
  return operand;
}

const Operand *optionalOperand(const Op &op, std::string_view name) {
  for (const Operand &each : op.operands)
    if (each.name == name)
      return each.state == Operand::State::Absent ? nullptr : &checked(op, each);
  return nullptr;
}

const Operand &operand(const Op &op, std::string_view name) {
  if (const Operand *found = optionalOperand(op, name))
    return *found;
  failOperand(op, name, "is missing");
}

const Operand &operandAt(const Op &op, size_t index) {
  if (index >= op.operands.size())
    fail(op, "has ", op.operands.size(), " operands; expected ", index + 1, " or more");
  const Operand &found = op.operands[index];
  if (found.state == Operand::State::Absent)
    failOperand(op, found.name, "is missing");
  return checked(op, found);
}

const Operand &operand(const Op &op, std::string_view name, size_t rank) {
  const Operand &found = operand(op, name);
  if (found.shape.size() != rank)
    failOperand(op, name, op.describe(found), "; expected rank ", rank);
  return found;
}

std::string_view nameOf(const Op &op, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const Operand &each : op.operands)
      if (each.name == name)
        return name;
  return *names.begin();
}

void expectShape(const Op &op, std::string_view name, View expected) {
  if (const Operand *found = optionalOperand(op, name); found && !equal(found->shape, expected))
    failOperand(op, name, "has shape ", found->shape, "; expected ", expected);
}

void expectIntegers(const Op &op, const Operand &operand) {
  if (operand.element != Element::Integer)
    failOperand(op, operand.name, op.describe(operand), "; expected integers");
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::optional<int64_t> optionalInteger(const Op &op, std::string_view name) {
  const Attribute found = op.attribute(name);
  if (found.kind == Attribute::Kind::Absent)
    return std::nullopt;
  if (found.kind != Attribute::Kind::Integer)
    failAttribute(op, name, "is no integer");
  return found.integer;
}

int64_t integer(const Op &op, std::string_view name) {
  if (const auto value = optionalInteger(op, name))
    return *value;
  failAttribute(op, name, "is missing; expected an integer");
}

bool boolean(const Op &op, std::string_view name) {
  const Attribute found = op.attribute(name);
  return found.kind == Attribute::Kind::Boolean && found.integer != 0;
}

std::optional<Sizes> optionalIntegers(const Op &op, std::string_view name) {
  Attribute found = op.attribute(name);
  if (found.kind == Attribute::Kind::Absent)
    return std::nullopt;
  if (found.kind != Attribute::Kind::Integers)
    failAttribute(op, name, "is no list of integers");
  return std::move(found.integers);
}

Sizes integers(const Op &op, std::string_view name) {
  if (auto values = optionalIntegers(op, name))
    return std::move(*values);
  failAttribute(op, name, "is missing; expected a list of integers");
}

Sizes integers(const Op &op, std::string_view name, size_t count) {
  Sizes values = integers(op, name);
  if (values.size() != count)
    failAttribute(op, name, "has ", values.size(), " numbers; expected one per dimension, ", count);
  return values;
}

void expectChoice(const Op &op, std::string_view name, std::string_view first, std::string_view second) {
  const Attribute found = op.attribute(name);
  // If it is omitted, it is the default.
  if (found.kind == Attribute::Kind::Absent || found.text == first || found.text == second)
    return;
  failAttribute(op, name, "is \"", found.text, "\"; expected \"", first, "\"",
                first == second ? std::string() : " or \"" + std::string(second) + "\"");
}

size_t dimension(const Op &op, std::string_view name, int64_t dim, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (dim >= -r && dim < r)
    return static_cast<size_t>(dim < 0 ? dim + r : dim);
  if (rank == 0)
    failAttribute(op, name, "is ", dim, ", but a scalar has no dimensions");
  failAttribute(op, name, "is ", dim, "; expected ", -r, " to ", r - 1, " for rank ", r);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

int64_t volume(const Op &op, View shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t size = 1;
  for (const int64_t dim : shape) {
    const auto next = multiply(size, dim);
    if (!next)
      fail(op, "a tensor of shape ", shape, " has more elements than 64 bits count");
    size = *next;
  }
  return size;
}

int64_t sizeOr(const Op &op, size_t dimension, std::optional<int64_t> size) {
  if (!size)
    fail(op, "dimension ", dimension, " of the result does not fit into 64 bits");
  return *size;
}

Sizes broadcast(const Op &op, View a, View b, std::string_view what) {
  Sizes result(std::max(a.size(), b.size()), 1);
  const auto sizeAt = [&](View shape, size_t i) {
    const size_t missing = result.size() - shape.size();
    return i < missing ? 1 : shape[i - missing];
  };
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t sizeA = sizeAt(a, i), sizeB = sizeAt(b, i);
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      fail(op, what, " ", a, " and ", b, " do not broadcast: sizes ", sizeA, " and ", sizeB, " in dimension ", i);
    result[i] = sizeA == 1 ? sizeB : sizeA;
  }
  return result;
}

Sizes resized(View shape, size_t dimension, int64_t size) {
  Sizes result(shape);
  result[dimension] = size;
  return result;
}

} // namespace tt::shapes
