//===- Training.cpp - optimizer steps, attention and its gradients --------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace tt::shapes {
namespace {

void expectFloats(const Op &op, std::string_view name) {
  const Operand *given = optionalOperand(op, name);
  if (given && given->element == Element::Integer)
    failOperand(op, name, op.describe(*given), "; expected floating-point numbers");
}

/// State of the parameter's shape.
void adamwInPlace(const Op &op, Results &) {
  const View param = shapeOf(op, "param");
  for (const std::string_view name : {"grad", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"})
    expectShape(op, name, param);
  for (const std::string_view name : {"param", "grad", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"})
    expectFloats(op, name);
}

void adamw(const Op &op, Results &results) {
  adamwInPlace(op, results);
  const size_t count = optionalOperand(op, "max_exp_avg_sq") ? 4 : 3;
  if (op.declared.size() > count)
    fail(op, "has ", op.declared.size(), " results without an operand ", Name{"max_exp_avg_sq"}, "; expected ", count);
  for (size_t i = 0; i < count; ++i)
    results.push_back(Sizes(shapeOf(op, "param")));
}

/// Query [batch, heads, rows, size], key and value [batch, key heads, columns, size], and a mask if mask_type requires
/// one.
void checkAttention(const Op &op) {
  const View query = shapeOf(op, "query", 4), key = shapeOf(op, "key", 4), value = shapeOf(op, "value", 4);
  for (const std::string_view name : {"query", "key", "value", "attention_mask"})
    expectFloats(op, name);
  if (query[0] != key[0] || query[3] != key[3])
    failOperand(op, "key", "has shape ", key, "; expected the batch size ", query[0], " and the head size ", query[3],
                " of ", Name{"query"});
  if (!equal(key, value))
    failOperand(op, "value", "has shape ", value, "; expected that of ", Name{"key"}, ", ", key);
  if (key[1] < 1 || query[1] % key[1] != 0)
    fail(op, query[1], " heads of ", Name{"query"}, " are no multiple of ", key[1], " heads of ", Name{"key"});
  const Attribute kind = op.attribute("mask_type");
  const bool arbitrary = kind.kind == Attribute::Kind::Text && kind.text == "arbitrary";
  const Operand *mask = optionalOperand(op, "attention_mask");
  if (arbitrary != (mask != nullptr))
    failAttribute(op, "mask_type", arbitrary ? "is arbitrary without an operand " : "is not arbitrary with an operand ",
                  Name{"attention_mask"});
  if (!mask)
    return;
  const View shape = shapeOf(op, "attention_mask", 4);
  const Sizes scores = {query[0], query[1], query[2], key[2]};
  for (size_t d = 0; d < 4; ++d)
    if (shape[d] != scores[d] && shape[d] != 1)
      failOperand(op, "attention_mask", "has shape ", shape, ", which does not broadcast to ", View(scores));
}

/// The largest score and the reciprocal of the sum, in the first columns of two tiles; in one tile, the logarithm of
/// the sum of exponentials.
Sizes statisticsOf(View query, std::optional<View> given) {
  return resized(query, 3, given && given->size() == 4 && (*given)[3] == 32 ? 32 : 64);
}

void attentionForward(const Op &op, Results &results) {
  checkAttention(op);
  const View query = shapeOf(op, "query", 4);
  results.push_back(Sizes(query));
  if (boolean(op, "return_intermediates"))
    results.push_back(statisticsOf(query, op.declared.size() > 1 ? std::optional(op.declared[1]) : std::nullopt));
  else if (op.declared.size() > 1)
    failAttribute(op, "return_intermediates", "is false, but there are two results");
}

void attentionBackward(const Op &op, Results &results) {
  checkAttention(op);
  const View query = shapeOf(op, "query", 4);
  for (const std::string_view name : {"grad_output", "attn_output"}) {
    shapeOf(op, name, 4);
    expectShape(op, name, query);
    expectFloats(op, name);
  }
  expectShape(op, "intermediates", statisticsOf(query, shapeOf(op, "intermediates", 4)));
  expectFloats(op, "intermediates");
  for (const std::string_view name : {"query", "key", "value"})
    results.push_back(Sizes(shapeOf(op, name)));
}

} // namespace

std::span<const Rule> trainingRules() {
  static constexpr Rule rows[] = {
      {"adamw", adamw},
      {"adamwInPlace", adamwInPlace},
      {"attentionBackward", attentionBackward},
      {"attentionForward", attentionForward},
  };
  return rows;
}

} // namespace tt::shapes
