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

/// Four floats or more at a time, whatever the CPU: the sums have one order on all.
using Vector [[gnu::vector_size(16 * sizeof(float)), gnu::aligned(4)]] = float;

/// sum += a x b, of row-major tiles. Each element's products are added one after the other.
[[gnu::target_clones("avx512f", "avx2", "default")]] void addProduct(const float *a, const float *b, float *sum) {
  constexpr int64_t rows = 4, lanes = 16;
  for (int64_t r = 0; r < tileSide; r += rows) {
    Vector left[rows], right[rows];
    for (int64_t i = 0; i < rows; ++i) {
      left[i] = *reinterpret_cast<const Vector *>(sum + (r + i) * tileSide);
      right[i] = *reinterpret_cast<const Vector *>(sum + (r + i) * tileSide + lanes);
    }
    for (int64_t k = 0; k < tileSide; ++k) {
      const Vector b0 = *reinterpret_cast<const Vector *>(b + k * tileSide);
      const Vector b1 = *reinterpret_cast<const Vector *>(b + k * tileSide + lanes);
      for (int64_t i = 0; i < rows; ++i) {
        const float factor = a[(r + i) * tileSide + k];
        left[i] += factor * b0;
        right[i] += factor * b1;
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      *reinterpret_cast<Vector *>(sum + (r + i) * tileSide) = left[i];
      *reinterpret_cast<Vector *>(sum + (r + i) * tileSide + lanes) = right[i];
    }
  }
}

void toRows(const float *faces, float *rows) {
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; c += 16)
      std::memcpy(rows + r * tileSide + c, faces + placeOf(r, c), 16 * sizeof(float));
}

} // namespace

void KernelRun::matmulBlock(const Block &block) {
  constexpr std::string_view function = "matmul_block";
  constexpr uint32_t most = 16;
  if (!block.ct || !block.rt || block.ct > most || block.rt > most || block.ct * block.rt > most)
    fail(function, "makes " + std::to_string(block.rt) + "x" + std::to_string(block.ct) + " tiles; expected 1 to " +
                       std::to_string(most) + " in all");
  const uint32_t count = block.ct * block.rt;
  // The stack of a fiber has no room for them; no other kernel runs in between.
  thread_local std::unique_ptr<Rows[]> scratch = std::make_unique_for_overwrite<Rows[]>(2 * most + 1);
  Rows *const sums = scratch.get(), *const column = sums + most;
  Rows &b = column[most];
  for (uint32_t i = 0; i < count; ++i) {
    const Dst::Tile &out = mathTile(block.dst + i, function);
    if (ttnn::isInteger(out.dtype))
      fail(function, "adds to register tile " + std::to_string(block.dst + i) + ", which holds integers");
    toRows(out.f, sums[i].data());
  }
  for (uint32_t step = 0; step < block.steps; ++step) {
    for (uint32_t r = 0; r < block.rt; ++r)
      loadRows(block.cb0, block.tile0 + r * block.rowStride + step, column[r].data(), function);
    for (uint32_t c = 0; c < block.ct; ++c) {
      loadRows(block.cb1, block.tile1 + step * block.stepStride + c, b.data(), function);
      if (block.transpose)
        transpose(b);
      for (uint32_t r = 0; r < block.rt; ++r) {
        Rows &sum = sums[r * block.ct + c];
        addProduct(column[r].data(), b.data(), sum.data());
        if (!dst->isF32)
          sim::roundToBf16(sum.data(), tileElements);
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    Dst::Tile &out = mathTile(block.dst + i, function);
    toFaces(sums[i], out.f);
    out.dtype = DataType::Float32;
    out.written = true;
  }
  work.matmulTiles += int64_t(kernel.fidelityPhases) * count * block.steps;
}

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
  addProduct(a.data(), b.data(), sum.data());
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
