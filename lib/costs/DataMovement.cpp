//===- DataMovement.cpp - cost rules of data movement and creation --------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

/// Nothing moves if the result is an alias of the operand: rows stay rows, and those that a tile pads keep their
/// positions.
void reshapeWork(const Op &op, Work &work) {
  const PlacedTensor *in = op.in(0);
  if (in && !op.outs.empty()) {
    const PlacedTensor &out = op.outs[0];
    const int64_t from = in->sizeFromEnd(1), to = out.sizeFromEnd(1);
    if (in->isF32 == out.isF32 && haveSamePlacement(*in, out) && in->sizeFromEnd(0) == out.sizeFromEnd(0) &&
        (!out.tiled || from == to || (from % tileSide == 0 && to % tileSide == 0))) {
      work.launched = false;
      return;
    }
  }
  addTraffic(work, op, /*moves=*/true);
}

/// The same bits, which move only if the result has another placement.
void bitcastWork(const Op &op, Work &work) {
  if (op.in(0) && !op.outs.empty() && haveSamePlacement(*op.in(0), op.outs[0]))
    work.launched = false;
  else
    addTraffic(work, op, /*moves=*/true);
}

/// Counts the work of a change of layout. Between rows and tiles, cores get rows of tiles, fetch data in pages and wait
/// for it.
void layoutWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/true);
  work.kind = Kind::Layout;
  if (!op.in(0) || op.outs.empty())
    return;
  const PlacedTensor &from = *op.in(0), &to = op.outs[0];
  if (from.tiled == to.tiled || !from.onDevice() || !to.onDevice())
    return;
  const PlacedTensor &tiles = to.tiled ? to : from;
  work.tilizeTiles += tiles.tiles;
  if (from.isShardInL1() || to.isShardInL1())
    return;
  work.rowTiles += tiles.tiles;
  work.cores = std::max<int64_t>(1, tiles.tiles / std::max<int64_t>(1, tilesAlong(tiles.columns)));
}

/// A row of tiles in and out; rows that do not fit are divided among cores.
int64_t tilizeBuffers(const Op &op, const Chip &chip) {
  const int64_t usable = chip.usable;
  const PlacedTensor *in = op.in(0);
  if (!in || in->tiled || !op.outs[0].tiled || !in->onDevice())
    return 0;
  const int64_t width = tilesAlong(in->columns), tile = room(*in, 1) + room(op.outs[0], 1);
  const int64_t fitting = std::max<int64_t>(1, tile > 0 ? usable / tile : width);
  return tile * divided(width, std::max<int64_t>(1, divided(width, fitting)));
}

} // namespace

std::span<const Rule> dataMovementRules() {
  static constexpr Rule rows[] = {
      {"ttnn.reshape", Family::Reshape, Traffic::Own, reshapeWork},
      {"ttnn.permute", Family::DataMovement, Traffic::Network},
      {"ttnn.transpose", Family::DataMovement, Traffic::Network},
      {"ttnn.slice_static", Family::DataMovement, Traffic::Network},
      {"ttnn.slice_dynamic", Family::Other, Traffic::Network},
      {"ttnn.repeat", Family::DataMovement, Traffic::Network},
      {"ttnn.repeat_interleave", Family::DataMovement, Traffic::Network},
      {"ttnn.roll", Family::DataMovement, Traffic::Network},
      {"ttnn.concat", Family::DataMovement, Traffic::Network},
      {"ttnn.pad", Family::DataMovement, Traffic::Network},
      {"ttnn.gather", Family::Other, Traffic::Network},
      {"ttnn.scatter", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.embedding", Family::DataMovement, Traffic::Network},
      {"ttnn.embedding_bw", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.bitcast_convert", Family::Elementwise, Traffic::Own, bitcastWork},
      {"ttnn.to_layout", Family::DataMovement, Traffic::Own, layoutWork, tilizeBuffers},
      {"ttnn.to_memory_config", Family::DataMovement, Traffic::Own, layoutWork},
      {"ttnn.to_tensor_spec", Family::DataMovement, Traffic::Own, layoutWork},
      {"ttnn.to_device", Family::DataMovement, Traffic::Network},
      {"ttnn.from_device", Family::DataMovement, Traffic::Network},
      {"ttnn.to_dtype", Family::DataMovement, Traffic::Network},
      {"ttnn.copy", Family::Other, Traffic::Network},
      {"ttnn.write_tensor", Family::Other, Traffic::Network},
      {"ttnn.alloc", Family::None, Traffic::None},
      {"ttnn.deallocate", Family::None, Traffic::None},
      {"ttnn.load_tensor", Family::Other, Traffic::Network},
      {"ttnn.dump_tensor", Family::Other, Traffic::Network},
      {"ttnn.zeros", Family::Other, Traffic::Network},
      {"ttnn.ones", Family::Other, Traffic::Network},
      {"ttnn.full", Family::Other, Traffic::Network},
      {"ttnn.arange", Family::Other, Traffic::Network},
      {"ttnn.empty", Family::Other, Traffic::None},
      {"ttnn.constant", Family::None, Traffic::None},
      {"ttnn.rand", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.dropout", Family::Other, Traffic::Shards, vectorPasses},
  };
  return rows;
}

} // namespace ttmlir::cost
