//===- registers.cpp - copies between tiles and registers -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "metal/tile.h"
#include "tensor/storage.h"
#include "tt/sim/formats.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tt::metal {

namespace {

// Not inlined: a fiber may end in another thread than it has begun in.
[[gnu::noinline]] std::unique_ptr<Dst::Tile[]> &idleRegisters() {
  thread_local std::unique_ptr<Dst::Tile[]> tiles;
  return tiles;
}

} // namespace

Dst::Dst(bool f32, bool full)
    : isF32(f32), memory(idleRegisters() ? std::move(idleRegisters()) : std::make_unique_for_overwrite<Tile[]>(most)),
      tiles(memory.get(), (full ? most : most / 2) / (f32 ? 2 : 1)) {
  clear();
}

Dst::~Dst() { idleRegisters() = std::move(memory); }

void Dst::clear() {
  for (Tile &tile : tiles) {
    tile.written = false;
    tile.view = nullptr;
  }
}

void Dst::copyViews() {
  for (Tile &tile : tiles)
    if (tile.view)
      std::memcpy(tile.f, std::exchange(tile.view, nullptr), sizeof tile.f);
}

void KernelRun::requireCompute(std::string_view function) const {
  if (!dst)
    fail(function, "is for compute kernels; this one moves data");
}

void KernelRun::acquire() {
  requireCompute("tile_regs_acquire");
  if (dst->phase != Dst::Phase::Free)
    fail("tile_regs_acquire", "the registers are in use: tile_regs_release has not followed yet");
  dst->phase = Dst::Phase::Math;
  dst->clear();
}

void KernelRun::commit() {
  requireCompute("tile_regs_commit");
  if (dst->phase != Dst::Phase::Math)
    fail("tile_regs_commit", "does not follow a tile_regs_acquire");
  dst->copyViews();
  dst->phase = Dst::Phase::Committed;
}

void KernelRun::wait() {
  requireCompute("tile_regs_wait");
  if (dst->phase != Dst::Phase::Committed)
    fail("tile_regs_wait", "does not follow a tile_regs_commit");
  dst->phase = Dst::Phase::Pack;
}

void KernelRun::release() {
  requireCompute("tile_regs_release");
  if (dst->phase != Dst::Phase::Pack)
    fail("tile_regs_release", "does not follow a tile_regs_wait");
  dst->phase = Dst::Phase::Free;
}

namespace {

void requireIndex(const KernelRun &run, const Dst &dst, uint32_t index, std::string_view function) {
  if (index >= dst.tiles.size())
    run.fail(function, "there is no register tile " + std::to_string(index) + "; there are " +
                           std::to_string(dst.tiles.size()) + (dst.isF32 ? " of 32 bits" : ""));
}

} // namespace

Dst::Tile &KernelRun::rawTile(uint32_t index, std::string_view function) const {
  requireCompute(function);
  if (dst->phase != Dst::Phase::Math)
    fail(function, "the registers are not there to compute on: tile_regs_acquire comes before, tile_regs_commit after");
  requireIndex(*this, *dst, index, function);
  return dst->tiles[index];
}

Dst::Tile &KernelRun::mathTile(uint32_t index, std::string_view function) {
  Dst::Tile &tile = rawTile(index, function);
  if (!tile.written) { // as after tile_regs_acquire
    std::memset(tile.f, 0, sizeof tile.f);
    tile.dtype = DataType::Float32;
  } else if (tile.view) {
    std::memcpy(tile.f, std::exchange(tile.view, nullptr), sizeof tile.f);
  }
  return tile;
}

namespace {

float withoutDenormals(float value) { return std::bit_cast<uint32_t>(value) & 0x7f800000 ? value : 0.0f; }

} // namespace

void KernelRun::settle(Dst::Tile &tile) const {
  tile.written = true;
  if (dst->isF32 || tile.dtype != DataType::Float32)
    return;
  if (!exact)
    return sim::roundToBf16(tile.f, tileElements);
  for (float &value : tile.f)
    value = std::bit_cast<float>(sim::exact::roundToBf16(std::bit_cast<uint32_t>(value)));
}

void KernelRun::unpackToDst(const Ring &from, float *values, size_t n) const {
  if (!exact) {
    if (!dst->isF32)
      sim::roundToBf16(values, n);
    return;
  }
  if (from.dtype != DataType::Float32 || (dst->isF32 && kernel.f32Ports >> from.port & 1))
    return;
  // Through a source register.
  for (size_t i = 0; i < n; ++i) {
    values[i] = ttnn::exact::unpacked(values[i], from.dtype, config.width);
    if (dst->isF32)
      values[i] = withoutDenormals(values[i]);
  }
}

void KernelRun::load(uint32_t cb, uint32_t tile, Dst::Tile &to, std::string_view function) const {
  const std::byte *from = frontTile(cb, tile, function);
  const Ring &source = ring(cb, function);
  to.written = true;
  if (ttnn::isFloat(source.dtype)) {
    loadFloats(from, source.dtype, to.f);
    unpackToDst(source, to.f, tileElements);
    to.dtype = DataType::Float32;
  } else {
    loadIntegers(from, source.dtype, to.i, tileElements);
    to.dtype = source.dtype;
  }
}

void KernelRun::loadRows(uint32_t cb, uint32_t tile, float *to, std::string_view function) const {
  const std::byte *from = frontTile(cb, tile, function);
  const DataType dtype = ring(cb, function).dtype;
  float decoded[tileElements];
  const bool isBf16 = dtype == DataType::BFloat16;
  if (!isBf16)
    loadFloats(from, dtype, decoded);
  if (exact && dtype == DataType::Float32)
    for (float &value : decoded)
      value = ttnn::exact::unpacked(value, dtype, config.width);
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; c += 16) {
      float *const row = to + r * tileSide + c;
      if (!isBf16) {
        std::memcpy(row, decoded + placeOf(r, c), 16 * sizeof(float));
        continue;
      }
      uint16_t values[16];
      std::memcpy(values, from + placeOf(r, c) * sizeof(uint16_t), sizeof values);
      for (size_t i = 0; i < 16; ++i)
        row[i] = std::bit_cast<float>(uint32_t(values[i]) << 16);
    }
}

void KernelRun::copyTile(uint32_t cb, uint32_t tile, uint32_t index) {
  Dst::Tile &to = rawTile(index, "copy_tile");
  to.view = nullptr;
  if (!exact && dst->isF32 && !core.l1.hasPointers() && ring(cb, "copy_tile").dtype == DataType::Float32) {
    to.view = reinterpret_cast<const float *>(frontTile(cb, tile, "copy_tile"));
    to.dtype = DataType::Float32;
    to.written = true;
  } else {
    load(cb, tile, to, "copy_tile");
  }
  ++work.fpuTiles;
}

void KernelRun::packTile(uint32_t index, uint32_t cb, bool outOfOrder, uint32_t place) {
  requireCompute("pack_tile");
  if (dst->phase != Dst::Phase::Pack)
    fail("pack_tile", "the registers are not there to be packed: tile_regs_wait comes before, tile_regs_release after");
  requireIndex(*this, *dst, index, "pack_tile");
  Ring &to = ring(cb, "pack_tile");
  std::byte *at = backTile(cb, outOfOrder ? place : to.packed, "pack_tile", !accumulates);
  const Dst::Tile &tile = dst->tiles[index];
  if (accumulates)
    accumulate(tile, to, at, cb);
  else if (tile.written)
    storeTile(tile, to.dtype, at);
  else
    std::memset(at, 0, sim::tileBytes(to.dtype));
  if (!outOfOrder)
    ++to.packed;
}

void KernelRun::accumulate(const Dst::Tile &tile, Ring &to, std::byte *at, uint32_t cb) const {
  const auto expects = [&](const std::string &what) {
    fail("pack_tile", "adds to the tile of port " + std::to_string(cb) + " (pack_reconfig_l1_acc); expected " + what);
  };
  if (!tile.written || !ttnn::isFloat(tile.dtype) || !ttnn::isFloat(to.dtype))
    expects("floats in the register and in L1");
  Dst::Tile sum;
  loadFloats(at, to.dtype, sum.f);
  if (!exact) {
    for (size_t i = 0; i < tileElements; ++i)
      sum.f[i] += tile.f[i];
    return storeTile(sum, to.dtype, at);
  }
  const bool wide = to.dtype == DataType::Float32;
  if (!wide && to.dtype != DataType::BFloat16)
    expects("f32 or bf16 in L1 on an exact device, and it has " + std::string(toString(to.dtype)));
  for (size_t i = 0; i < tileElements; ++i) {
    auto added = std::bit_cast<uint32_t>(tile.f[i]);
    if (!wide)
      added = sim::exact::roundToBf16(added);
    sum.f[i] = std::bit_cast<float>(
        sim::exact::addInL1(std::bit_cast<uint32_t>(sum.f[i]), added,
                            wide ? sim::exact::Destination::Bits32 : sim::exact::Destination::Bits16));
  }
  metal::storeTile(sum, to.dtype, ttnn::storer<float>(to.dtype), at);
}

void KernelRun::packAccumulate(bool enable) {
  requireCompute("pack_reconfig_l1_acc");
  accumulates = enable;
}

namespace {

/// A tile of a block format: its values are held as bf16, row by row.
TensorSpec blockTile(DataType dtype) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.shape = {tileSide, tileSide};
  spec.layout = Layout::Tile;
  return spec;
}

/// Calls f(position in registers, position by rows) for runs of 16 elements, which share an exponent.
template <class F> void forEachGroup(F f) {
  for (int64_t row = 0; row < tileSide; ++row)
    for (int64_t column = 0; column < tileSide; column += int64_t(sim::blockGroup))
      f(placeOf(row, column), static_cast<size_t>(row * tileSide + column));
}

} // namespace

void loadFloats(const std::byte *from, DataType dtype, float *to) {
  if (!sim::isBlockFormat(dtype))
    return ttnn::loader<float>(dtype)(from, to, tileElements);
  uint16_t values[tileElements];
  sim::decode(blockTile(dtype), {from, sim::tileBytes(dtype)}, std::as_writable_bytes(std::span(values)));
  forEachGroup([&](size_t place, size_t at) { sim::bf16ToF32(values + at, to + place, sim::blockGroup); });
}

static void storeFloats(const float *from, DataType dtype, ttnn::Store<float> store, std::byte *to) {
  if (!sim::isBlockFormat(dtype))
    return store(from, to, tileElements);
  uint16_t values[tileElements];
  forEachGroup([&](size_t place, size_t at) {
    store(from + place, reinterpret_cast<std::byte *>(values + at), sim::blockGroup);
  });
  sim::encode(blockTile(dtype), std::as_bytes(std::span(values)), {to, sim::tileBytes(dtype)});
}

void storeTile(const Dst::Tile &tile, DataType dtype, ttnn::Store<float> store, std::byte *to) {
  if (ttnn::isFloat(tile.dtype))
    return storeFloats(tile.f, dtype, store, to);
  constexpr size_t piece = 256;
  int64_t values[piece];
  for (size_t i = 0; i < tileElements; i += piece) {
    widen(tile.dtype, tile.i + i, values, piece);
    ttnn::storer<int64_t>(dtype)(values, to + i * storageBytes(dtype), piece);
  }
}

void KernelRun::storeTile(const Dst::Tile &tile, DataType dtype, std::byte *to) const {
  const bool packs = exact && ttnn::exact::isKnown(dtype);
  metal::storeTile(tile, dtype,
                   packs ? ttnn::exact::packer(dtype, config.width, kernel.packPrecise) : ttnn::storer<float>(dtype),
                   to);
}

//===- Order of elements --------------------------------------------------===//

namespace {

constexpr size_t faceSide = 16;

/// Calls f(place among the tiles, row, column, n) for runs of elements of a row of tiles.
template <class F> void forEachRun(size_t tiles, F f) {
  size_t place = 0;
  for (size_t tile = 0; tile < tiles; ++tile)
    for (size_t face = 0; face < 4; ++face)
      for (size_t i = 0; i < faceSide; ++i, place += faceSide)
        f(place, face / 2 * faceSide + i, tile * tileSide + face % 2 * faceSide, faceSide);
}

} // namespace

void KernelRun::tilizeBlock(uint32_t in, uint32_t tiles, uint32_t out) {
  reorder(in, 0, tiles, out, true, "tilize_block");
}
void KernelRun::untilizeBlock(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out) {
  reorder(in, first, tiles, out, false, "untilize_block");
}

/// Between rows of floats and tiles of a block format.
void KernelRun::reorderBlocks(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out, bool tilize,
                              std::string_view function) {
  const DataType blocks = ring(tilize ? out : in, function).dtype, floats = ring(tilize ? in : out, function).dtype;
  if (!ttnn::isFloat(floats))
    fail(function, "converts " + std::string(toString(blocks)) + " to or from " + std::string(toString(floats)) +
                       "; expected rows of floats");
  const uint64_t tileBytes = sim::tileBytes(blocks), rowBytes = tileElements * storageBytes(floats);
  const size_t size = storageBytes(floats), width = tiles * tileSide * size;
  const ElementRows source =
      frontRows(in, (uint64_t(first) + tiles) * (tilize ? rowBytes : tileBytes), tilize ? width : 0, function);
  const ElementRows target =
      backRows(out, uint64_t(tiles) * (tilize ? tileBytes : rowBytes), tilize ? 0 : width, function);
  work.fpuTiles += tiles;
  const Ring &read = ring(in, function);
  std::vector<float> values(uint64_t(tiles) * tileElements);
  const auto store =
      exact && ttnn::exact::isKnown(floats) ? ttnn::exact::packer(floats, config.width) : ttnn::storer<float>(floats);
  if (!tilize)
    for (uint32_t tile = 0; tile < tiles; ++tile)
      loadFloats(source.at + (size_t(first) + tile) * tileBytes, blocks, values.data() + size_t(tile) * tileElements);
  forEachRun(tiles, [&](size_t tiled, size_t row, size_t column, size_t n) {
    if (!tilize)
      return store(values.data() + tiled, target.row(row) + column * size, n);
    ttnn::loader<float>(floats)(source.row(row) + column * size, values.data() + tiled, n);
    if (exact)
      unpackToDst(read, values.data() + tiled, n);
  });
  if (tilize)
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      Dst::Tile each;
      std::copy_n(values.data() + size_t(tile) * tileElements, tileElements, each.f);
      storeTile(each, blocks, target.at + tile * tileBytes);
    }
}

void KernelRun::reorder(uint32_t in, uint32_t first, uint32_t tiles, uint32_t out, bool tilize,
                        std::string_view function) {
  requireCompute(function);
  if (dst->phase != Dst::Phase::Free)
    fail(function, "goes through the registers, which are in use: tile_regs_release has not followed yet");
  const Ring &read = ring(in, function);
  const DataType from = read.dtype, to = ring(out, function).dtype;
  if (sim::isBlockFormat(tilize ? to : from))
    return reorderBlocks(in, first, tiles, out, tilize, function);
  if (sim::isBlockFormat(tilize ? from : to))
    fail(function, "takes rows of blocks; expected rows of a type without shared exponents");
  const size_t fromSize = storageBytes(from), toSize = storageBytes(to);
  const size_t width = tiles * tileSide;
  const ElementRows source =
      frontRows(in, (uint64_t(first) + tiles) * tileElements * fromSize, tilize ? width * fromSize : 0, function);
  const ElementRows target =
      backRows(out, uint64_t(tiles) * tileElements * toSize, tilize ? 0 : width * toSize, function);
  work.fpuTiles += tiles;
  const bool throughSource = from == DataType::Float32 && exact && !(kernel.f32Ports >> read.port & 1);
  const bool plain = from == to && (from != DataType::Float32 || (dst->isF32 && !throughSource));
  const auto store =
      exact && ttnn::exact::isKnown(to) ? ttnn::exact::packer(to, config.width) : ttnn::storer<float>(to);
  const std::byte *const tileSource = source.at + uint64_t(first) * tileElements * fromSize;
  if (plain) {
    const auto copy = [&]<size_t size>() {
      constexpr size_t face = faceSide * faceSide * size, run = faceSide * size, line = 64, ahead = 4;
      // In the order of the rows, which may be those of the host: pieces of a matrix, which the host's prefetcher does
      // not find.
      for (size_t row = 0; row < tileSide; ++row) {
        for (size_t at = 0; at < tiles * 2 * run; at += line)
          tilize ? __builtin_prefetch(source.row(row + ahead) + at)
                 : __builtin_prefetch(target.row(row + ahead) + at, 1);
        for (size_t tile = 0; tile < tiles; ++tile) {
          const size_t place = (tile * tileElements + placeOf(static_cast<int64_t>(row), 0)) * size;
          const std::byte *const from = tilize ? source.row(row) + tile * 2 * run : tileSource + place;
          std::byte *const to = tilize ? target.at + place : target.row(row) + tile * 2 * run;
          std::memcpy(to, from, run);
          std::memcpy(to + (tilize ? face : run), from + (tilize ? run : face), run);
        }
      }
    };
    return fromSize == 4 ? copy.operator()<4>() : fromSize == 2 ? copy.operator()<2>() : copy.operator()<1>();
  }
  forEachRun(tiles, [&](size_t tiled, size_t row, size_t column, size_t n) {
    const std::byte *at = tilize ? source.row(row) + column * fromSize : tileSource + tiled * fromSize;
    std::byte *end = tilize ? target.at + tiled * toSize : target.row(row) + column * toSize;
    if (ttnn::isFloat(from)) {
      float values[faceSide];
      ttnn::loader<float>(from)(at, values, n);
      unpackToDst(read, values, n);
      store(values, end, n);
    } else {
      int64_t values[faceSide];
      ttnn::loader<int64_t>(from)(at, values, n);
      ttnn::storer<int64_t>(to)(values, end, n);
    }
  });
}

} // namespace tt::metal
