//===- tilize.cpp - matrices as tiles, for programs of the host -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/tile.h"
#include "tt/metal/host.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>

namespace tt::metal {
namespace {

/// Throws unless the matrix has whole tiles; their number.
uint64_t tilesOf(uint32_t rows, uint32_t columns, uint64_t values) {
  if (rows % tileSide || columns % tileSide)
    throw Error("a matrix of " + std::to_string(rows) + "x" + std::to_string(columns) +
                " has no whole tiles; expected multiples of 32");
  if (values != uint64_t(rows) * columns)
    throw Error("a matrix of " + std::to_string(rows) + "x" + std::to_string(columns) + " has " +
                std::to_string(uint64_t(rows) * columns) + " values, and there are " + std::to_string(values));
  return values / tileElements;
}

/// A tile of integers or floats; block formats hold floats only.
template <class Stored> void store(const Stored *tile, DataType dtype, std::byte *to) {
  if (!sim::isBlockFormat(dtype))
    return ttnn::storer<Stored>(dtype)(tile, to, tileElements);
  Dst::Tile floats;
  std::copy_n(tile, tileElements, floats.f);
  storeTile(floats, dtype, ttnn::storer<float>(dtype), to);
}
template <class Stored> void load(const std::byte *from, DataType dtype, Stored *tile) {
  if (!sim::isBlockFormat(dtype))
    return ttnn::loader<Stored>(dtype)(from, tile, tileElements);
  float values[tileElements];
  loadFloats(from, dtype, values);
  std::copy_n(values, tileElements, tile);
}

template <class T>
std::vector<std::byte> tilize(std::span<const T> values, uint32_t rows, uint32_t columns, DataType dtype) {
  const uint64_t tiles = tilesOf(rows, columns, values.size());
  const auto bytes = static_cast<size_t>(sim::tileBytes(dtype));
  std::vector<std::byte> result(tiles * bytes);
  // Integers beyond 2^24 are no floats.
  using Stored = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  Stored tile[tileElements];
  for (uint64_t t = 0; t < tiles; ++t) {
    const uint64_t tileColumns = columns / tileSide;
    const T *from = values.data() + t / tileColumns * tileSide * columns + t % tileColumns * tileSide;
    for (int64_t r = 0; r < tileSide; ++r)
      for (int64_t c = 0; c < tileSide; ++c)
        tile[placeOf(r, c)] = from[static_cast<uint64_t>(r) * columns + static_cast<uint64_t>(c)];
    store(tile, dtype, result.data() + t * bytes);
  }
  return result;
}

template <class T>
std::vector<T> untilize(std::span<const std::byte> from, uint32_t rows, uint32_t columns, DataType dtype) {
  const uint64_t tiles = tilesOf(rows, columns, uint64_t(rows) * columns);
  const auto bytes = static_cast<size_t>(sim::tileBytes(dtype));
  if (from.size() != tiles * bytes)
    throw Error(std::to_string(tiles) + " tiles of " + std::string(toString(dtype)) + " have " +
                std::to_string(tiles * bytes) + " bytes, and there are " + std::to_string(from.size()));
  std::vector<T> result(uint64_t(rows) * columns);
  using Stored = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  Stored tile[tileElements];
  for (uint64_t t = 0; t < tiles; ++t) {
    const uint64_t tileColumns = columns / tileSide;
    T *to = result.data() + t / tileColumns * tileSide * columns + t % tileColumns * tileSide;
    load(from.data() + t * bytes, dtype, tile);
    for (int64_t r = 0; r < tileSide; ++r)
      for (int64_t c = 0; c < tileSide; ++c)
        to[static_cast<uint64_t>(r) * columns + static_cast<uint64_t>(c)] = static_cast<T>(tile[placeOf(r, c)]);
  }
  return result;
}

} // namespace

std::vector<std::byte> toTiles(std::span<const float> values, uint32_t rows, uint32_t columns, DataType dtype) {
  return tilize(values, rows, columns, dtype);
}
std::vector<std::byte> toTiles(std::span<const int32_t> values, uint32_t rows, uint32_t columns, DataType dtype) {
  return tilize(values, rows, columns, dtype);
}
std::vector<float> floatsFromTiles(std::span<const std::byte> tiles, uint32_t rows, uint32_t columns, DataType dtype) {
  return untilize<float>(tiles, rows, columns, dtype);
}
std::vector<int32_t> integersFromTiles(std::span<const std::byte> tiles, uint32_t rows, uint32_t columns,
                                       DataType dtype) {
  return untilize<int32_t>(tiles, rows, columns, dtype);
}

} // namespace tt::metal
