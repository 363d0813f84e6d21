//===- Attention.cpp - cost rules of attention, caches and heads ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

/// Rows of queries attend to keys, one chunk of each at a time; sizes are in elements. The library's chunks have 32
/// rows unless a program config states otherwise.
struct Attended {
  int64_t batches = 1, heads = 1, rows = 1, columns = 1, size = 1, valueSize = 1;
  bool isCausal = false, isMasked = false;
  int64_t rowChunk = 32, columnChunk = 32;
  bool seesPast = true; // causal: each row sees the keys before it, half of all
};

void takeChunks(const Op &op, Attended &a) {
  if (const int64_t chunk = number(op, "program_config.q_chunk_size"); chunk > 0)
    a.rowChunk = chunk;
  if (const int64_t chunk = number(op, "program_config.k_chunk_size"); chunk > 0)
    a.columnChunk = chunk;
}

/// Flash attention: for each tile of scores the maximum, the difference and the sum, and its exponentials; for each
/// chunk of keys, the previous result is scaled and added to. A causal mask leaves half. Cores are given to batches,
/// then to heads, then to chunks of rows, each of which reads all keys and values that it attends to; one read is
/// already in the traffic.
void addAttention(Work &work, const Attended &a, const PlacedTensor &key, const PlacedTensor &value) {
  work.kind = Kind::Attention;
  const int64_t rows = tilesAlong(a.rows), columns = tilesAlong(a.columns), chunk = tilesAlong(a.columnChunk);
  const int64_t chunks = divided(rows, tilesAlong(a.rowChunk));
  const bool seesHalf = a.isCausal && a.seesPast;
  const int64_t all = a.batches * a.heads * rows, scores = seesHalf ? all * (columns + 1) / 2 : all * columns;
  const int64_t depth = tilesAlong(a.size), width = tilesAlong(a.valueSize);
  const int64_t reads = a.batches * a.heads * chunks * (seesHalf ? (columns + 1) / 2 : columns);
  for (const auto &[tensor, tiles] : {std::pair(&key, reads * depth), std::pair(&value, reads * width)}) {
    PlacedTensor again = *tensor;
    again.tiles = std::max<int64_t>(0, tiles - tensor->tiles);
    again.bytes = again.tiles * tensor->tileBytes;
    addTransfer(work, again);
  }
  work.matmulTiles = scores * (depth + width);
  work.fpuTiles += scores * (3 + (a.isMasked ? 1 : 0)) + (scores + chunk - 1) / chunk * 2 * width;
  work.sfpuTiles += scores;
  work.sfpuCycles += scores * exponentialCycles;
  work.isDividedByUnits = true;
  work.units = {a.batches, a.heads, chunks};
}

/// Prefill, or decode, in which a token of each user is [1, users, heads, size].
std::optional<Attended> attendedOf(const Op &op, bool decodes) {
  const PlacedTensor *query = op.in(0), *key = op.in(1), *value = op.in(2);
  if (!query || !key || !value || query->shape.size() != 4 || key->shape.size() != 4)
    return std::nullopt;
  Attended a{query->shape[decodes ? 1 : 0],
             query->shape[decodes ? 2 : 1],
             decodes ? 1 : query->shape[2],
             key->shape[2],
             query->shape[3],
             value->sizeFromEnd(0)};
  a.isCausal = flag(op, "is_causal", true);
  a.isMasked = op.in(3);
  if (decodes) {
    // The heads of a user that share keys are the rows of a tile, for each head of the keys. Keys are read in chunks of
    // the largest power of two that divides them, up to 512. The number of attended keys is not known.
    a.rows = a.rowChunk = std::max<int64_t>(1, a.heads);
    a.heads = std::max<int64_t>(1, key->shape[1]);
    a.seesPast = false;
    while (a.columnChunk < 512 && a.columns > 0 && a.columns % (2 * a.columnChunk) == 0)
      a.columnChunk *= 2;
  }
  takeChunks(op, a);
  return a;
}

template <bool decodes> void attentionWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/true);
  if (const auto attended = attendedOf(op, decodes))
    addAttention(work, *attended, *op.in(1), *op.in(2));
  if (decodes)
    work.isDividedByUnits = false; // cores share the keys of each user out
}

/// Two products with as many tiles as the query and the pages of a user have.
void pagedWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/true);
  const PlacedTensor *query = op.in(0), *key = op.in(1), *value = op.in(2), *table = op.in(3);
  if (!query || !key || !value || !table || query->shape.size() != 4 || key->shape.size() != 4 ||
      table->shape.size() != 2)
    return;
  const auto q = query->shape;
  Attended a{q[0], q[1], q[2], table->shape[1] * key->shape[2], q[3], q[3]};
  takeChunks(op, a);
  addAttention(work, a, *key, *value);
}

/// Two products with as many tiles as the query and its keys have. `table`: the operand with the page table, or 0.
template <size_t table> void latentWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/true);
  const PlacedTensor *query = op.in(0), *key = op.in(1), *pages = table ? op.in(table) : nullptr;
  if (!query || !key || query->shape.size() != 4 || key->shape.size() != 4)
    return;
  const auto q = query->shape;
  const int64_t columns = key->shape[2] * (pages && pages->shape.size() == 2 ? pages->shape[1] : 1);
  Attended a{q[0], q[1], q[2], columns, q[3], number(op, "head_dim_v")};
  takeChunks(op, a);
  // The values are the first elements of the keys, and are read with them.
  PlacedTensor values = *key;
  values.memory = Memory::Host;
  addAttention(work, a, *key, values);
}

/// Counts reads and writes of a cache as large as the input; the rest of the cache is not accessed.
void cacheWork(const Op &op, Work &work) {
  const PlacedTensor *input = op.in(1);
  if (!input)
    return;
  const std::optional<PlacedTensor> parts[] = {*input, *input};
  addTraffic(work, parts, op.outs, /*moves=*/true);
}

//===----------------------------------------------------------------------===//
// Circular buffers
//===----------------------------------------------------------------------===//

/// The heads of a user are a chunk of queries; cores that share the keys of one chunk send their results to one of
/// them.
int64_t decodeBuffers(const Op &op, const Chip &chip) {
  const int64_t cores = chip.cores();
  const auto attended = attendedOf(op, true);
  const PlacedTensor *query = op.in(0), *key = op.in(1), *value = op.in(2), *mask = op.in(3), *sink = op.in(5);
  if (!attended)
    return 0;
  const Attended &a = *attended;
  const int64_t rows = tilesAlong(a.rowChunk), columns = tilesAlong(a.columnChunk), depth = tilesAlong(a.size),
                width = tilesAlong(a.valueSize);
  const int64_t sharing = std::max<int64_t>(1, cores / std::max<int64_t>(1, a.batches * a.heads));
  // Half tiles for few heads in bf16.
  const int64_t tile =
      a.isCausal && a.rowChunk <= tileSide / 2 && query->tileBytes == bf16Tile ? bf16Tile / 2 : bf16Tile;
  const int64_t queryTile = tile < bf16Tile ? tile : query->tileBytes;
  const int64_t maskTile = mask ? mask->tileBytes * tile / bf16Tile : tile;
  const int64_t results = rows * width;
  int64_t bytes = 2 * rows * depth * queryTile + 2 * columns * depth * key->tileBytes +
                  2 * columns * width * value->tileBytes + rows * columns * (maskTile + tile);
  bytes += 2 * tile + bf16Tile;                                              // factors
  bytes += 11 * rows * tile + (sink ? rows * tile : 0);                      // statistics
  bytes += 4 * results * tile + (results + 2 * rows) * (sharing - 1) * tile; // results so far, own and sent
  return bytes + (op.outs[0].isShardInL1() ? 0 : results * op.outs[0].tileBytes);
}

} // namespace

std::span<const Rule> attentionRules() {
  static constexpr Rule rows[] = {
      {"ttnn.scaled_dot_product_attention", Family::Attention, Traffic::Own, attentionWork<false>},
      {"ttnn.scaled_dot_product_attention_decode", Family::Attention, Traffic::Own, attentionWork<true>, decodeBuffers},
      {"ttnn.paged_scaled_dot_product_attention_decode", Family::Other, Traffic::Own, pagedWork},
      {"ttnn.chunked_scaled_dot_product_attention", Family::Other, Traffic::Own, pagedWork},
      {"ttnn.flash_mla_prefill", Family::Other, Traffic::Own, latentWork<0>},
      {"ttnn.paged_flash_multi_latent_attention_decode", Family::Other, Traffic::Own, latentWork<3>},
      {"ttnn.fill_cache", Family::Other, Traffic::Own, cacheWork},
      {"ttnn.update_cache", Family::Other, Traffic::Own, cacheWork},
      {"ttnn.paged_fill_cache", Family::Other, Traffic::Own, cacheWork},
      {"ttnn.paged_update_cache", Family::Other, Traffic::Own, cacheWork},
      {"ttnn.concatenate_heads", Family::DataMovement, Traffic::Network},
      {"ttnn.nlp_concat_heads", Family::DataMovement, Traffic::Network},
      {"ttnn.nlp_concat_heads_decode", Family::DataMovement, Traffic::Network},
      {"ttnn.nlp_create_qkv_heads_decode", Family::DataMovement, Traffic::Network},
      {"ttnn.split_query_key_value_and_split_heads", Family::DataMovement, Traffic::Network},
      {"ttnn.rotary_embedding", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.rotary_embedding_llama", Family::Other, Traffic::Shards, vectorPasses},
  };
  return rows;
}

} // namespace ttmlir::cost
