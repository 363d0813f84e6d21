//===- Attention.cpp - attention and heads --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <utility>

namespace tt::shapes {
namespace {

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The sizes of an attention, as if keys and values were [batch, key heads, columns, size].
struct Parts {
  int64_t batch, heads, rows, size; // of the query
  Sizes key, value;
};

/// Keys and values fit the query: the same batch, head size, and a number of heads that divides that of the query.
void checkParts(const Op &op, const Parts &parts) {
  const Sizes &k = parts.key, &v = parts.value;
  if (!equal(View(k).first(3), View(v).first(3)))
    fail(op, "operands ", Name{"key"}, " and ", Name{"value"}, " have shapes ", View(k), " and ", View(v),
         "; they may differ only in the last size");
  if (parts.batch != k[0])
    fail(op, "batch sizes ", parts.batch, " of ", Name{"query"}, " and ", k[0], " of ", Name{"key"}, " differ");
  if (k[1] < 1 || parts.heads % k[1] != 0)
    fail(op, parts.heads, " heads of ", Name{"query"}, " are no multiple of ", k[1], " heads of ", Name{"key"});
  if (parts.size != k[3])
    fail(op, "head sizes ", parts.size, " of ", Name{"query"}, " and ", k[3], " of ", Name{"key"}, " differ");
}

/// A mask that broadcasts to `scores`, a sink for each head, and a window of one key or more.
void checkExtras(const Op &op, const Parts &parts, const Sizes &scores) {
  if (const auto window = optionalInteger(op, "sliding_window_size"); window && *window < 1)
    failAttribute(op, "sliding_window_size", "is ", *window, "; expected a positive number");
  if (optionalOperand(op, "attention_mask")) {
    const View mask = shapeOf(op, "attention_mask", 4);
    for (size_t d = 0; d < 4; ++d)
      if (mask[d] != scores[d] && mask[d] != 1)
        failOperand(op, "attention_mask", "has shape ", mask, ", which does not broadcast to ", View(scores));
  }
  if (const Operand *sink = optionalOperand(op, "attention_sink"); sink && volume(op, sink->shape) != parts.heads)
    failOperand(op, "attention_sink", "has shape ", sink->shape, "; expected one value for each of ", parts.heads,
                " heads");
}

/// The tensor to which the result may be written has its shape.
void finish(const Op &op, Results &results, Sizes shape) {
  expectShape(op, "output", shape);
  results.push_back(shape);
}

void prefill(const Op &op, Results &results, const Parts &parts) {
  checkParts(op, parts);
  checkExtras(op, parts, {parts.batch, parts.heads, parts.rows, parts.key[2]});
  finish(op, results, {parts.batch, parts.heads, parts.rows, parts.value[3]});
}

/// Infers one new row for each user: the query is [1, users, heads, size], the mask [users, 1, heads, columns].
void decode(const Op &op, Results &results, const Parts &parts) {
  checkParts(op, parts);
  checkExtras(op, parts, {parts.batch, 1, parts.heads, parts.key[2]});
  if (const Operand *positions = optionalOperand(op, "cur_pos_tensor")) {
    expectIntegers(op, *positions);
    if (volume(op, positions->shape) != parts.batch)
      failOperand(op, "cur_pos_tensor", "has shape ", positions->shape, "; expected one position for each of ",
                  parts.batch, " users");
  }
  finish(op, results, {1, parts.batch, parts.heads, parts.value[3]});
}

Parts prefillParts(const Op &op) {
  const View q = shapeOf(op, "query", 4);
  return {q[0], q[1], q[2], q[3], {}, {}};
}

Parts decodeParts(const Op &op) {
  const View q = shapeOf(op, "query", 4);
  if (q[0] != 1)
    failOperand(op, "query", "has shape ", q, "; expected one position, 1 x users x heads x size");
  return {q[1], q[2], 1, q[3], {}, {}};
}

Sizes whole(const Op &op, std::string_view name) { return Sizes(shapeOf(op, name, 4)); }

/// A cache [pages, heads, positions of a page, size], in the order that the page table states for each user.
Sizes paged(const Op &op, std::string_view name) {
  const View cache = shapeOf(op, name, 4);
  const Operand &table = operand(op, "page_table", 2);
  const auto positions = multiply(table.shape[1], cache[2]);
  if (!positions)
    fail(op, "the number of positions of a user does not fit into 64 bits");
  return {table.shape[0], cache[1], *positions, cache[3]};
}

void attention(const Op &op, Results &results) {
  Parts parts = prefillParts(op);
  parts.key = whole(op, "key"), parts.value = whole(op, "value");
  prefill(op, results, parts);
}

void attentionDecode(const Op &op, Results &results) {
  Parts parts = decodeParts(op);
  parts.key = whole(op, "key"), parts.value = whole(op, "value");
  decode(op, results, parts);
}

/// Keys and values are in the same pages.
void checkPages(const Op &op) {
  const View key = shapeOf(op, "key", 4), value = shapeOf(op, "value", 4);
  if (!equal(key.first(3), value.first(3)))
    fail(op, "operands ", Name{"key"}, " and ", Name{"value"}, " have shapes ", key, " and ", value,
         "; they may differ only in the last size");
}

void pagedAttentionDecode(const Op &op, Results &results) {
  Parts parts = decodeParts(op);
  checkPages(op);
  parts.key = paged(op, "key"), parts.value = paged(op, "value");
  decode(op, results, parts);
}

/// Infers rows of a sequence from a position on; each attends to positions up to its own.
void chunkedAttention(const Op &op, Results &results) {
  Parts parts = prefillParts(op);
  checkPages(op);
  parts.key = paged(op, "key"), parts.value = paged(op, "value");
  const Operand &start = operand(op, "chunk_start_idx");
  if (volume(op, start.shape) < 1)
    failOperand(op, "chunk_start_idx", "has shape ", start.shape, "; expected a value");
  if (parts.rows > parts.key[2])
    failOperand(op, "query", "has ", parts.rows, " positions; expected at most ", parts.key[2],
                ", which the pages of a user hold");
  prefill(op, results, parts);
}

/// Values are the first `head_dim_v` elements of the keys, or a separate operand of that size.
View latentValue(const Op &op, Sizes &created) {
  const View query = shapeOf(op, "query", 4), key = shapeOf(op, "key", 4);
  const int64_t size = integer(op, "head_dim_v");
  if (key[3] != query[3])
    failOperand(op, "key", "has shape ", key, "; expected heads of ", query[3]);
  if (size < 1 || size > query[3])
    failAttribute(op, "head_dim_v", "is ", size, "; expected 1 to ", query[3]);
  created = resized(key, 3, size);
  expectShape(op, "value", created);
  return created;
}

void latentAttention(const Op &op, Results &results) {
  Parts parts = prefillParts(op);
  latentValue(op, parts.value);
  parts.key = whole(op, "key");
  prefill(op, results, parts);
}

void pagedLatentAttention(const Op &op, Results &results) {
  Parts parts = decodeParts(op);
  Sizes value;
  latentValue(op, value);
  parts.key = paged(op, "key");
  parts.value = resized(parts.key, 3, value[3]);
  decode(op, results, parts);
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Numbers of query and key heads. Both have 32 bits, so sums of them fit.
std::pair<int64_t, int64_t> headsOf(const Op &op) {
  const int64_t heads = integer(op, "num_heads"), others = optionalInteger(op, "num_kv_heads").value_or(heads);
  if (heads < 1 || others < 1 || heads > UINT32_MAX || others > UINT32_MAX)
    fail(op, "has ", heads, " query and ", others, " key heads; expected 1 or more");
  return {heads, others};
}

void splitHeads(const Op &op, Results &results) {
  const View input = shapeOf(op, "input_tensor", 3);
  const auto [heads, others] = headsOf(op);
  const Operand *fused = optionalOperand(op, "kv_input_tensor");
  const int64_t batch = input[0], positions = input[1], parts = fused ? heads : heads + 2 * others;
  if (input[2] % parts != 0)
    fail(op, "the last size ", input[2], " of ", Name{"input_tensor"}, " does not divide into ", parts, " heads");
  const int64_t size = input[2] / parts;
  if (fused) {
    const View other = shapeOf(op, "kv_input_tensor", 3);
    if (other[2] % (2 * others) != 0 || other[2] / (2 * others) != size || !equal(other.first(2), input.first(2)))
      failOperand(op, "kv_input_tensor", "has shape ", other, "; expected ", View(Sizes{batch, positions, 2 * others}),
                  " times the head size ", size);
  }
  const Sizes key = {batch, others, positions, size}, transposed = {batch, others, size, positions};
  results.push_back({batch, heads, positions, size});
  results.push_back(boolean(op, "transpose_key") ? transposed : key);
  results.push_back(key);
}

void concatenateHeads(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  results.push_back({input[0], input[2], sizeOr(op, 2, multiply(input[1], input[3]))});
}

/// Infers as `concatenateHeads` does, with rank 4.
void nlpConcatHeads(const Op &op, Results &results) {
  concatenateHeads(op, results);
  results.back().insert(1, 1);
}

/// Heads of one position per user: [1, users, heads, size].
void joinDecodedHeads(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  const int64_t heads = integer(op, "num_heads");
  if (input[0] != 1)
    failOperand(op, "input", "has shape ", input, "; expected one position, 1 x users x heads x size");
  if (heads < 1 || heads > input[2])
    failAttribute(op, "num_heads", "is ", heads, "; expected 1 to ", input[2]);
  results.push_back({1, 1, input[1], sizeOr(op, 3, multiply(heads, input[3]))});
}

void decodedHeads(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  if (input[0] != 1 || input[1] != 1)
    failOperand(op, "input", "has shape ", input, "; expected one position, 1 x 1 x users x (heads * size)");
  const auto [heads, others] = headsOf(op);
  const int64_t parts = heads + 2 * others;
  if (input[3] % parts != 0)
    fail(op, "the last size ", input[3], " of ", Name{"input"}, " does not divide into ", parts, " heads");
  const auto slice = optionalInteger(op, "slice_size");
  const Operand *offset = optionalOperand(op, "batch_offset");
  if ((offset != nullptr) != slice.has_value())
    fail(op, offset ? "has operand " : "has attribute ", Name{offset ? "batch_offset" : "slice_size"},
         offset ? " without attribute " : " without operand ", Name{offset ? "slice_size" : "batch_offset"});
  if (offset) {
    if (volume(op, offset->shape) < 1 || offset->element != Element::Integer)
      failOperand(op, "batch_offset", op.describe(*offset), "; expected an integer");
    if (*slice < 1 || *slice > input[2])
      failAttribute(op, "slice_size", "is ", *slice, "; expected 1 to ", input[2], " users");
  }
  const int64_t users = slice.value_or(input[2]), size = input[3] / parts;
  results.push_back({1, users, heads, size});
  results.push_back({1, users, others, size});
  results.push_back({1, users, others, size});
}

//===----------------------------------------------------------------------===//
// Rotary embeddings
//===----------------------------------------------------------------------===//

/// Caches of cosines and sines hold a row for each position.
void rotary(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  if (input.size() < 2 || input.back() % 2 != 0)
    failOperand(op, "input", "has shape ", input, "; expected rows of an even size");
  const auto token = optionalInteger(op, "token_index");
  if (token && (*token < 0 || *token > UINT32_MAX))
    failAttribute(op, "token_index", "is ", *token, "; expected 0 or more");
  const int64_t size = input.back(), needed = token ? *token + 1 : input[input.size() - 2];
  for (const std::string_view name : {"cos_cache", "sin_cache"}) {
    const View cache = shapeOf(op, name);
    if (cache.size() < 2 || cache.back() != size || cache[cache.size() - 2] < needed ||
        std::any_of(cache.begin(), cache.end() - 2, [](int64_t n) { return n != 1; }))
      failOperand(op, name, "has shape ", cache, "; expected at least ", needed, " rows of ", size);
  }
  results.push_back(Sizes(input));
}

/// Infers as `rotary` does; in decode mode, [1, users, heads, size], one row for each user. The matrix may be several
/// square pieces.
void rotaryLlama(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4), matrix = shapeOf(op, "trans_mat");
  const bool decoding = boolean(op, "is_decode_mode");
  const int64_t size = input[3], positions = input[decoding ? 1 : 2], elements = volume(op, matrix);
  const int64_t piece = matrix.empty() ? 0 : matrix.back();
  const auto square = multiply(piece, piece);
  if (matrix.size() < 2 || piece < 1 || size % piece != 0 || elements == 0 || !square || elements % *square != 0)
    failOperand(op, "trans_mat", "has shape ", matrix, "; expected square matrices of a size that divides ", size);
  for (const std::string_view name : {"cos_cache", "sin_cache"}) {
    const View cache = shapeOf(op, name);
    const int64_t given = cache.empty() || size == 0 ? 0 : volume(op, cache) / size;
    const bool enough = decoding ? given != 0 && positions != 0 && given % positions == 0 : given >= positions;
    if (cache.empty() || cache.back() != size || !enough)
      failOperand(op, name, "has shape ", cache, "; expected ", positions, " rows of ", size);
  }
  if (decoding && !equal(shapeOf(op, "cos_cache"), shapeOf(op, "sin_cache")))
    failOperand(op, "sin_cache", "has shape ", shapeOf(op, "sin_cache"), "; expected that of ", Name{"cos_cache"}, ", ",
                shapeOf(op, "cos_cache"));
  results.push_back(Sizes(input));
}

} // namespace

std::span<const Rule> attentionRules() {
  static constexpr Rule rows[] = {
      {"attention", attention},
      {"attentionDecode", attentionDecode},
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

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

namespace {

/// A cache [users, heads, positions, size], or in pages [pages, heads, positions of a page, size], and the written
/// values.
struct Cache {
  View cache, input;
};

Cache cacheOf(const Op &op) {
  const Cache all{shapeOf(op, "cache", 4), shapeOf(op, "input", 4)};
  if (all.cache[3] != all.input[3])
    fail(op, "head sizes ", all.cache[3], " of ", Name{"cache"}, " and ", all.input[3], " of ", Name{"input"},
         " differ");
  return all;
}

void checkHeads(const Op &op, const Cache &all) {
  if (all.input[1] != all.cache[1])
    fail(op, "numbers of heads ", all.cache[1], " of ", Name{"cache"}, " and ", all.input[1], " of ", Name{"input"},
         " differ");
}

/// Checks that the cache has the written users from `batch_offset` on.
void checkUsers(const Op &op, const Cache &all, int64_t users) {
  const int64_t offset = integer(op, "batch_offset");
  if (offset < 0 || offset >= all.cache[0])
    failAttribute(op, "batch_offset", "is ", offset, "; expected 0 to ", all.cache[0] - 1);
  if (users > all.cache[0] - offset)
    failOperand(op, "input", "has a batch of ", users, "; expected at most ", all.cache[0] - offset,
                ", the batches of ", Name{"cache"}, " from ", Name{"batch_offset"}, " on");
}

void fillCache(const Op &op, Results &) {
  const Cache all = cacheOf(op);
  checkHeads(op, all);
  if (all.input[2] > all.cache[2])
    failOperand(op, "input", "has ", all.input[2], " positions; expected at most ", all.cache[2]);
  checkUsers(op, all, all.input[0]);
}

/// One position of each user, [1, heads, users, size].
void updateCache(const Op &op, Results &) {
  const Cache all = cacheOf(op);
  checkHeads(op, all);
  if (all.input[0] != 1)
    failOperand(op, "input", "has shape ", all.input, "; expected one position, 1 x heads x users x size");
  const Operand &position = operand(op, "update_index");
  if (volume(op, position.shape) < 1)
    failOperand(op, "update_index", "has shape ", position.shape, "; expected a value");
  checkUsers(op, all, all.input[2]);
}

void expectOne(const Op &op, const Cache &all) {
  if (all.input[0] != 1)
    failOperand(op, "input", "has the first size ", all.input[0], "; expected 1");
}

/// One position of each user, [1, users, at least heads, size].
void pagedUpdateCache(const Op &op, Results &) {
  const Cache all = cacheOf(op);
  expectOne(op, all);
  const int64_t users = all.input[1];
  if (all.input[2] < all.cache[1])
    failOperand(op, "input", "has ", all.input[2], " heads; expected at least the ", all.cache[1], " of ",
                Name{"cache"});
  const Operand &positions = operand(op, "update_index");
  if (volume(op, positions.shape) != users)
    failOperand(op, "update_index", "has shape ", positions.shape, "; expected one position for each of ", users,
                " users");
  if (const Operand *table = optionalOperand(op, "page_table")) {
    if (table->shape.size() != 2 || table->shape[0] < users)
      failOperand(op, "page_table", "has shape ", table->shape, "; expected users x pages, for ", users, " users");
  } else if (!boolean(op, "share_cache") && all.cache[0] < users) {
    failOperand(op, "cache", "is of ", all.cache[0], " users; expected ", users, ", as ", Name{"input"}, " has");
  } else if (all.cache[0] < 1 && users > 0) {
    failOperand(op, "cache", "is of no user");
  }
}

/// The positions of users, [users, heads, positions, size]: those that batch_idx_tensor names, or the first ones.
void pagedFillCache(const Op &op, Results &) {
  const Cache all = cacheOf(op);
  checkHeads(op, all);
  const Operand &table = operand(op, "page_table");
  if (table.shape.size() != 2 || table.shape[0] < 1 || all.cache[2] < 1 ||
      ceilDivide(all.input[2], all.cache[2]) > table.shape[1])
    failOperand(op, "page_table", "has shape ", table.shape, "; expected users x pages with room for ", all.input[2],
                " positions in pages of ", all.cache[2]);
  if (const Operand *users = optionalOperand(op, "batch_idx_tensor")) {
    if (volume(op, users->shape) < std::max<int64_t>(1, all.input[0]))
      failOperand(op, "batch_idx_tensor", "has shape ", users->shape, "; expected a value for each of ", all.input[0],
                  " users");
  } else if (all.input[0] > table.shape[0]) {
    failOperand(op, "input", "is of ", all.input[0], " users; expected at most ", table.shape[0], ", as ",
                Name{"page_table"}, " has");
  }
}

} // namespace

std::span<const Rule> cacheRules() {
  static constexpr Rule rows[] = {
      {"fillCache", fillCache},
      {"pagedFillCache", pagedFillCache},
      {"pagedUpdateCache", pagedUpdateCache},
      {"updateCache", updateCache},
  };
  return rows;
}

} // namespace tt::shapes
