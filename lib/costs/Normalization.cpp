//===- Normalization.cpp - cost rules of softmax and norms ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

/// Maximum, difference, sum, product; and the exponentials.
void softmaxWork(const Op &op, Work &work) {
  const PlacedTensor *rows = op.in(0);
  if (!rows)
    return;
  addRows(work, *rows, 4);
  work.sfpuTiles += rows->tiles;
  work.sfpuCycles += rows->tiles * exponentialCycles;
}

/// Mean, difference, square, variance, product; without the mean, the first two are not there. One more for each
/// operand.
template <int64_t passes> void normWork(const Op &op, Work &work) {
  if (const PlacedTensor *rows = op.in(0))
    addRows(work, *rows, passes + present(op) - 1);
}

/// Over the last dimension of an interleaved tensor.
int64_t softmaxBuffers(const Op &op, int64_t, int64_t usable) {
  const PlacedTensor *in = op.in(0);
  if (!in || in->isShardInL1())
    return 0;
  const bool isWide = accumulatesF32(op), isStable = flag(op, "numericStable");
  const int64_t width = tilesAlong(in->columns), im = isWide ? f32Tile : bf16Tile;
  int64_t block = isWide ? 4 : 8;
  while (width % block)
    --block;
  auto sum = [&](int64_t row) {
    int64_t bytes = room(*in, isStable ? row : 2 * block) + room(op.outs[0], 2 * block) + row * im + im + bf16Tile;
    if (isStable)
      bytes += im + row * im;
    return bytes;
  };
  const int64_t whole = sum(width);
  // Rows that are too long are streamed, 80 tiles at a time.
  return whole * 10 > usable * 9 ? sum(80) + 3 * im : whole;
}

int64_t normBuffers(const Op &op, int64_t, int64_t usable) {
  const PlacedTensor *in = op.in(0);
  if (!in || in->isShardInL1())
    return 0;
  const bool isWide = accumulatesF32(op), isWeighted = op.in(1);
  const int64_t im = isWide ? f32Tile : bf16Tile, block = isWide ? 4 : 8;
  auto sum = [&](int64_t row) {
    int64_t bytes = room(*in, row) + room(op.outs[0], 2 * block) + 2 * row * im + 12 * im + 4 * bf16Tile;
    for (size_t i = 1; i < op.ins.size(); ++i)
      if (const PlacedTensor *given = op.in(i))
        bytes += room(*given, row);
    return bytes + (isWeighted ? 2 * block * im : 0);
  };
  const int64_t whole = sum((tilesAlong(in->columns) + block - 1) / block * block);
  return whole <= usable ? whole : sum(isWeighted || in->isF32 ? 56 : 112);
}

/// Statistics of the operand by the matrix unit, in two passes; then the results.
void statisticsWork(const Op &op, Work &work) {
  vectorPasses(op, work);
  work.fpuTiles += op.in(0) ? 2 * op.in(0)->tiles : 0;
}

} // namespace

std::span<const Rule> normalizationRules() {
  static constexpr Rule rows[] = {
      {"ttnn.softmax", Family::Norm, Traffic::Shards, softmaxWork, softmaxBuffers},
      {"ttnn.layer_norm", Family::Norm, Traffic::Shards, normWork<5>, normBuffers},
      {"ttnn.rms_norm", Family::Norm, Traffic::Shards, normWork<3>, normBuffers},
      {"ttnn.batch_norm_training", Family::Other, Traffic::Shards, statisticsWork},
      {"ttnn.batch_norm_inference", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.group_norm", Family::Other, Traffic::Shards, statisticsWork},
      {"ttnn.distributed_layer_norm", Family::Other, Traffic::Shards, statisticsWork},
      {"ttnn.distributed_rms_norm", Family::Other, Traffic::Shards, statisticsWork},
      {"ttnn.dit_rms_norm_unary_fused", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.rms_norm_pre_all_gather", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.layer_norm_pre_all_gather", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.layer_norm_post_all_gather", Family::Other, Traffic::Shards, vectorPasses},
  };
  return rows;
}

} // namespace ttmlir::cost
