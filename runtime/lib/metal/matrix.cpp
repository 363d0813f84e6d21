//===- matrix.cpp - products, reductions, transposes of tiles -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/scalars.h"
#include "metal/tile.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>

namespace tt::metal {
namespace {

struct Rows {
  float at[tileSide][tileSide];
  float *data() { return &at[0][0]; }
};

void toFaces(const Rows &rows, float *faces) {
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; ++c)
      faces[placeOf(r, c)] = rows.at[r][c];
}

void transpose(Rows &rows) {
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < r; ++c)
      std::swap(rows.at[r][c], rows.at[c][r]);
}

} // namespace

void KernelRun::matmulTiles(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t index,
                            bool transposed) {
  Dst::Tile &out = mathTile(index, "matmul_tiles");
  if (ttnn::isInteger(out.dtype))
    fail("matmul_tiles", "adds to register tile " + std::to_string(index) + ", which holds integers");
  Rows a, b, sum;
  loadRows(cb0, tile0, a.data(), "matmul_tiles");
  loadRows(cb1, tile1, b.data(), "matmul_tiles");
  if (transposed)
    transpose(b);
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; ++c)
      sum.at[r][c] = out.f[placeOf(r, c)];
  // One order of additions, whatever the machine.
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t k = 0; k < tileSide; ++k)
      for (int64_t c = 0; c < tileSide; ++c)
        sum.at[r][c] += a.at[r][k] * b.at[k][c];
  toFaces(sum, out.f);
  settle(out);
  work.matmulTiles += kernel.fidelityPhases;
}

void KernelRun::reduceTile(ReducePool pool, Along along, uint32_t cb, uint32_t scalerCb, uint32_t tile,
                           uint32_t scalerTile, uint32_t index) {
  Dst::Tile &out = mathTile(index, "reduce_tile");
  if (ttnn::isInteger(out.dtype))
    fail("reduce_tile", "joins register tile " + std::to_string(index) + ", which holds integers");
  Rows in, scaler, result = {};
  loadRows(cb, tile, in.data(), "reduce_tile");
  loadRows(scalerCb, scalerTile, scaler.data(), "reduce_tile");
  const float factor = scaler.at[0][0];
  const bool isMax = pool == ReducePool::Max;
  const auto join = [&](float a, float b) { return isMax ? scalars::maximum(a, b) : a + b; };
  if (along == Along::Column)
    transpose(in);
  for (int64_t r = 0; r < tileSide; ++r) {
    float value = in.at[r][0];
    for (int64_t c = 1; c < tileSide; ++c)
      value = join(value, in.at[r][c]);
    result.at[r][0] = value;
  }
  if (along == Along::Scalar) {
    for (int64_t r = 1; r < tileSide; ++r) {
      result.at[0][0] = join(result.at[0][0], result.at[r][0]);
      result.at[r][0] = 0;
    }
  }
  const int64_t values = along == Along::Scalar ? 1 : tileSide;
  for (int64_t r = 0; r < values; ++r) {
    const size_t place = along == Along::Column ? placeOf(0, r) : placeOf(r, 0);
    const float value = result.at[r][0] * factor;
    result.at[r][0] = out.written ? join(out.f[place], value) : value;
  }
  if (along == Along::Column)
    transpose(result);
  toFaces(result, out.f);
  settle(out);
  ++work.fpuTiles;
}

void KernelRun::transposeTile(uint32_t cb, uint32_t tile, uint32_t index) {
  Dst::Tile &out = mathTile(index, "transpose_wh_tile"), in = out;
  load(frontTile(cb, tile, "transpose_wh_tile"), ring(cb, "transpose_wh_tile").dtype, in);
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; ++c)
      out.i[placeOf(r, c)] = in.i[placeOf(c, r)];
  out.dtype = in.dtype;
  out.written = true;
  ++work.fpuTiles;
}

void KernelRun::broadcastTile(Along along, uint32_t cb, uint32_t tile, uint32_t index) {
  Dst::Tile &out = mathTile(index, "unary_bcast"), in = out;
  load(frontTile(cb, tile, "unary_bcast"), ring(cb, "unary_bcast").dtype, in);
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; ++c)
      out.i[placeOf(r, c)] = in.i[placeOf(along == Along::Row || along == Along::Scalar ? 0 : r,
                                          along == Along::Column || along == Along::Scalar ? 0 : c)];
  out.dtype = in.dtype;
  out.written = true;
  ++work.fpuTiles;
}

} // namespace tt::metal
