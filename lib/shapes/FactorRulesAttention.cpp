//===- FactorRulesAttention.cpp - factors of attention and heads ----------===//
// SPDX-License-Identifier: Apache-2.0
//
// Users and heads are independent of each other. Caches are written in place, so a part of a cache cannot replace it:
// ops that write them have no factors.
//
//===----------------------------------------------------------------------===//

#include "FactorRules.h"

namespace tt::shapes {
namespace {

using Places = std::vector<Factors::Place>;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Adds the position of a dimension of an operand that has this size there; operands that broadcast do not.
void addPlace(Places &places, const Op &op, const Factors &factors, std::string_view name, int64_t dim, int64_t size) {
  const int64_t number = numberOf(op, name);
  if (number != kNone && sizeAt(factors.operand(static_cast<size_t>(number)), dim) == size)
    places.push_back({number, dim});
}

/// Adds the position of the dimension of this size in an operand whose other dimensions have size 1.
void addOnlyPlace(Places &places, const Op &op, const Factors &factors, std::string_view name, int64_t size) {
  const int64_t number = numberOf(op, name);
  if (number == kNone)
    return;
  const View shape = factors.operand(static_cast<size_t>(number));
  const auto found = std::find(shape.begin(), shape.end(), size);
  if (found != shape.end())
    places.push_back({number, found - shape.begin()});
}

/// Adds the heads: a group of query heads shares a head of keys, and must not be split. `queries` have one dimension
/// for both.
void addHeads(Factors &factors, const Places &queries, const Places &keys, int64_t heads, int64_t keyHeads) {
  Places all = queries;
  all.insert(all.end(), keys.begin(), keys.end());
  factors.addAt(all, keyHeads);
  if (const int64_t group = heads / std::max<int64_t>(keyHeads, 1); group > 1)
    factors.addAt(queries, group, kNeedReplication);
}

/// Operands and results that have the dimensions of the query, and those that have the dimensions of keys.
struct Tensors {
  std::vector<int64_t> queries, keys;
};

Tensors tensorsOf(const Op &op, const Factors &factors) {
  Tensors tensors;
  for (const std::string_view name : {"grad_output", "attn_output", "query", "output", "intermediates"})
    if (const int64_t number = numberOf(op, name); number != kNone)
      tensors.queries.push_back(number);
  for (const std::string_view name : {"key", "value"})
    if (const int64_t number = numberOf(op, name); number != kNone)
      tensors.keys.push_back(number);
  for (size_t result = 0; result < factors.numResults(); ++result)
    tensors.queries.push_back(resultNumber(factors, result));
  return tensors;
}

Places placesOf(const std::vector<int64_t> &tensors, int64_t dim) {
  Places places;
  for (const int64_t tensor : tensors)
    places.push_back({tensor, dim});
  return places;
}

/// The query is [batch, heads, rows, size], with keys [batch, key heads, columns, size], or in pages.
void addPrefill(const Op &op, Factors &factors, const Tensors &tensors, bool isPaged) {
  const View query = factors.tensor(static_cast<size_t>(numberOf(op, "query"))),
             key = factors.tensor(static_cast<size_t>(numberOf(op, "key")));
  Places batch = placesOf(tensors.queries, 0), heads = placesOf(tensors.queries, 1);
  addPlace(batch, op, factors, "attention_mask", 0, query[0]);
  addPlace(heads, op, factors, "attention_mask", 1, query[1]);
  addOnlyPlace(heads, op, factors, "attention_sink", query[1]);
  if (isPaged) {
    batch.push_back({numberOf(op, "page_table"), 0});
  } else {
    const Places keys = placesOf(tensors.keys, 0);
    batch.insert(batch.end(), keys.begin(), keys.end());
  }
  factors.addAt(batch, query[0]);
  addHeads(factors, heads, placesOf(tensors.keys, 1), query[1], key[1]);
}

/// The query is [1, users, heads, size], the mask [users, 1, heads, columns].
void addDecode(const Op &op, Factors &factors, const Tensors &tensors, bool isPaged) {
  const View query = factors.operand(0), key = factors.operand(1);
  Places users = placesOf(tensors.queries, 1), heads = placesOf(tensors.queries, 2);
  addPlace(users, op, factors, "attention_mask", 0, query[1]);
  addPlace(heads, op, factors, "attention_mask", 2, query[2]);
  addOnlyPlace(users, op, factors, "cur_pos_tensor", query[1]);
  addOnlyPlace(heads, op, factors, "attention_sink", query[2]);
  if (isPaged) {
    users.push_back({numberOf(op, "page_table"), 0});
  } else {
    const Places keys = placesOf(tensors.keys, 0);
    users.insert(users.end(), keys.begin(), keys.end());
  }
  factors.addAt(users, query[1]);
  addHeads(factors, heads, placesOf(tensors.keys, 1), query[2], key[1]);
}

/// Each column of the values gives a column of the result.
bool passValues(const Op &op, Factors &factors) {
  const int64_t value = numberOf(op, "value");
  factors.addAt({{value, 3}, {numberOf(op, "output"), 3}, {resultNumber(factors), 3}},
                factors.operand(static_cast<size_t>(value))[3]);
  return takeRestWhole(factors);
}

bool attention(const Op &op, Factors &factors) {
  addPrefill(op, factors, tensorsOf(op, factors), /*isPaged=*/false);
  return passValues(op, factors);
}
bool attentionDecode(const Op &op, Factors &factors) {
  addDecode(op, factors, tensorsOf(op, factors), /*isPaged=*/false);
  return passValues(op, factors);
}
bool pagedAttentionDecode(const Op &op, Factors &factors) {
  addDecode(op, factors, tensorsOf(op, factors), /*isPaged=*/true);
  return passValues(op, factors);
}
bool chunkedAttention(const Op &op, Factors &factors) {
  addPrefill(op, factors, tensorsOf(op, factors), /*isPaged=*/true);
  return passValues(op, factors);
}
/// Values may be columns of the keys, which must not be split.
bool latentAttention(const Op &op, Factors &factors) {
  addPrefill(op, factors, tensorsOf(op, factors), /*isPaged=*/false);
  return takeRestWhole(factors);
}
bool pagedLatentAttention(const Op &op, Factors &factors) {
  addDecode(op, factors, tensorsOf(op, factors), /*isPaged=*/true);
  return takeRestWhole(factors);
}

//===----------------------------------------------------------------------===//
// Attention of a training step
//===----------------------------------------------------------------------===//

bool attentionForward(const Op &op, Factors &factors) {
  addPrefill(op, factors, tensorsOf(op, factors), /*isPaged=*/false);
  return takeRestWhole(factors);
}
/// The gradients of keys and values have their dimensions.
bool attentionBackward(const Op &op, Factors &factors) {
  Tensors tensors = tensorsOf(op, factors);
  tensors.queries.resize(tensors.queries.size() - 2);
  tensors.keys.push_back(resultNumber(factors, 1));
  tensors.keys.push_back(resultNumber(factors, 2));
  addPrefill(op, factors, tensors, /*isPaged=*/false);
  return takeRestWhole(factors);
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

bool concatenateHeads(const Op &, Factors &factors) {
  const View in = factors.operand(0);
  factors.add({0, 0}, in[0]).add({1, 2}, in[1]).add({2, 1}, in[2]).add({3, 2}, in[3]);
  return true;
}
/// [batch, heads, positions, size] becomes [batch, 1, positions, heads * size].
bool nlpConcatHeads(const Op &, Factors &factors) {
  const View in = factors.operand(0);
  factors.add({0, 0}, in[0]).add({1, 3}, in[1]).add({2, 2}, in[2]).add({3, 3}, in[3]);
  return true;
}
/// [1, users, heads, size] becomes [1, 1, users, heads * size], for the first heads.
bool joinDecodedHeads(const Op &, Factors &factors) {
  factors.add({1, 2}, factors.operand(0)[1]);
  return takeRestWhole(factors);
}

bool splitHeads(const Op &op, Factors &factors) {
  const int64_t fused = numberOf(op, "kv_input_tensor"), query = resultNumber(factors), key = query + 1,
                value = query + 2;
  const int64_t positions = boolean(op, "transpose_key") ? 3 : 2;
  const View in = factors.operand(0);
  factors.addAt({{0, 0}, {fused, 0}, {query, 0}, {key, 0}, {value, 0}}, in[0])
      .addAt({{0, 1}, {fused, 1}, {query, 2}, {key, positions}, {value, 2}}, in[1]);
  return takeRestWhole(factors);
}
/// [1, 1, users, heads * size] becomes [1, users, heads, size]; for some users if a slice is taken.
bool decodedHeads(const Op &op, Factors &factors) {
  if (numberOf(op, "batch_offset") == kNone)
    factors.addAt({{0, 2}, {1, 1}, {2, 1}, {3, 1}}, factors.operand(0)[2]);
  return takeRestWhole(factors);
}

//===----------------------------------------------------------------------===//
// Rotary embeddings
//===----------------------------------------------------------------------===//

/// Dimensions before the positions share the angles.
bool rotary(const Op &, Factors &factors) {
  const View in = factors.operand(0);
  for (int64_t dim = 0; dim + 2 < static_cast<int64_t>(in.size()); ++dim)
    factors.addAt({{0, dim}, {resultNumber(factors), dim}}, sizeAt(in, dim));
  return takeRestWhole(factors);
}
/// Builds factors as `rotary` does; in decode mode, [1, users, heads, size], heads share the angles.
bool rotaryLlama(const Op &op, Factors &factors) {
  if (!boolean(op, "is_decode_mode"))
    return rotary(op, factors);
  factors.addAt({{0, 2}, {resultNumber(factors), 2}}, factors.operand(0)[2]);
  return takeRestWhole(factors);
}

} // namespace

std::span<const FactorRow> attentionFactorRules() {
  static constexpr FactorRow rows[] = {
      {"attention", attention},
      {"attentionBackward", attentionBackward},
      {"attentionDecode", attentionDecode},
      {"attentionForward", attentionForward},
      {"chunkedAttention", chunkedAttention},
      {"concatenateHeads", concatenateHeads},
      {"decodedHeads", decodedHeads},
      {"joinDecodedHeads", joinDecodedHeads},
      {"latentAttention", latentAttention},
      {"nlpConcatHeads", nlpConcatHeads},
      {"pagedAttentionDecode", pagedAttentionDecode},
      {"pagedLatentAttention", pagedLatentAttention},
      {"rotary", rotary},
      {"rotaryLlama", rotaryLlama},
      {"splitHeads", splitHeads},
  };
  return rows;
}

} // namespace tt::shapes
