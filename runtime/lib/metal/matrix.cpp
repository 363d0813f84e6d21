//===- matrix.cpp - products, reductions, transposes of tiles -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/matrix.h"
#include "base/serial.h"
#include "core/scalars.h"
#include "kernels/exact/rows.h"
#include "metal/tile.h"
#include "tt/sim/formats.h"
#include "tt/sim/host.h"
#include "tt/units.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

using Vector [[gnu::vector_size(16 * sizeof(float)), gnu::aligned(4)]] = float;

/// sum += a x b, of row-major tiles. The products of an element are added in sequence, each rounded once with the sum:
/// the result is the same on any CPU. The sums of 4 rows of `count` vectors are in registers.
template <int64_t count> [[gnu::always_inline]] inline void addProductOf(const float *a, const float *b, float *sum) {
  constexpr int64_t rows = 4, lanes = 16;
  for (int64_t first = 0; first < tileSide; first += count * lanes)
    for (int64_t r = 0; r < tileSide; r += rows) {
      const auto at = [&](int64_t row, int64_t v) {
        return reinterpret_cast<Vector *>(sum + (r + row) * tileSide + first + v * lanes);
      };
      Vector sums[rows][count];
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t v = 0; v < count; ++v)
          sums[i][v] = *at(i, v);
      for (int64_t k = 0; k < tileSide; ++k) {
        Vector right[count];
        for (int64_t v = 0; v < count; ++v)
          right[v] = *reinterpret_cast<const Vector *>(b + k * tileSide + first + v * lanes);
        for (int64_t i = 0; i < rows; ++i) {
          const Vector factor = a[(r + i) * tileSide + k] - Vector{}; // in each lane
          for (int64_t v = 0; v < count; ++v)
            sums[i][v] = __builtin_elementwise_fma(factor, right[v], sums[i][v]);
        }
      }
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t v = 0; v < count; ++v)
          *at(i, v) = sums[i][v];
    }
}

#ifdef __x86_64__
[[clang::min_vector_width(512), gnu::target("avx512f")]] void addProduct512(const float *a, const float *b,
                                                                            float *sum) {
  addProductOf<2>(a, b, sum);
}
[[gnu::target("avx2,fma")]] void addProduct256(const float *a, const float *b, float *sum) {
  addProductOf<1>(a, b, sum);
}
#endif
void addProductScalar(const float *a, const float *b, float *sum) { addProductOf<1>(a, b, sum); }

void addProduct(const float *a, const float *b, float *sum) {
#ifdef __x86_64__
  static const auto function = units() >= Units::AVX512 ? &addProduct512
                               : units() >= Units::AVX2 ? &addProduct256
                                                        : &addProductScalar;
  function(a, b, sum);
#else
  addProductScalar(a, b, sum);
#endif
}

#ifdef __x86_64__

/// A tile of bf16 in 2 KiB, as the matrix unit of the host takes it: 16 rows of 64 bytes, twice.
struct HostTile {
  alignas(64) uint16_t at[2][16][32];
};

/// Rows of 32 elements.
[[gnu::target("avx512bw")]] void leftTile(const std::byte *faces, HostTile &to) {
  for (size_t r = 0; r < tileSide; ++r)
    for (size_t half = 0; half < 2; ++half)
      std::memcpy(&to.at[r / 16][r % 16][16 * half], faces + placeOf(int64_t(r), int64_t(16 * half)) * sizeof(uint16_t),
                  16 * sizeof(uint16_t));
}

/// 16 columns of pairs of rows.
[[gnu::target("avx512bw"), clang::min_vector_width(512)]] void rightTile(const std::byte *faces, HostTile &to) {
  alignas(64) uint16_t order[32];
  for (uint16_t i = 0; i < 32; ++i)
    order[i] = static_cast<uint16_t>(i / 2 + i % 2 * 16);
  const __m512i pairs = _mm512_load_si512(order);
  for (size_t half = 0; half < 2; ++half)
    for (size_t pair = 0; pair < 16; ++pair) {
      const std::byte *rows = faces + placeOf(int64_t(2 * pair), int64_t(16 * half)) * sizeof(uint16_t);
      _mm512_store_si512(to.at[half][pair], _mm512_permutexvar_epi16(pairs, _mm512_loadu_si512(rows)));
    }
}

/// sum += the products of `steps` tiles of a row and a column, `stride` apart; the sum is in faces.
[[gnu::target("amx-tile,amx-bf16")]] void addProducts(const HostTile *left, const HostTile *right, size_t stride,
                                                      size_t steps, float *sum) {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  _tile_loadconfig(&config);
  _tile_loadd(0, sum, 64);
  _tile_loadd(1, sum + 256, 64);
  _tile_loadd(2, sum + 512, 64);
  _tile_loadd(3, sum + 768, 64);
  for (size_t step = 0; step < steps; ++step) {
    _tile_loadd(4, left[step].at[0], 64);
    _tile_loadd(6, right[step * stride].at[0], 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, right[step * stride].at[1], 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, left[step].at[1], 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sum, 64);
  _tile_stored(1, sum + 256, 64);
  _tile_stored(2, sum + 512, 64);
  _tile_stored(3, sum + 768, 64);
  _tile_release();
}

#endif

void toRows(const float *faces, float *rows) {
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; c += 16)
      std::memcpy(rows + r * tileSide + c, faces + placeOf(r, c), 16 * sizeof(float));
}

} // namespace

/// One product of all steps on top of what the destination holds: a tile of K
/// after the other.
void KernelRun::multiplyExactly(const Block &block, float *sums) const {
  const std::string_view function = block.function;
  constexpr auto side = static_cast<size_t>(tileSide), elements = static_cast<size_t>(tileElements);
  const size_t rt = block.rt, ct = block.ct, steps = block.steps;
  // No other kernel runs in between.
  thread_local std::vector<float> tiles;
  tiles.resize((rt + ct) * steps * elements);
  float *const left = tiles.data(), *const right = left + rt * steps * elements;
  for (uint32_t step = 0; step < block.steps; ++step) {
    for (uint32_t r = 0; r < block.rt; ++r)
      loadRows(block.cb0, block.tile0 + r * block.rowStride + step, left + (r * steps + step) * elements, function);
    for (uint32_t c = 0; c < block.ct; ++c) {
      float *const to = right + (step * ct + c) * elements;
      loadRows(block.cb1, block.tile1 + step * block.stepStride + c, to, function);
      if (block.transpose)
        transpose(*reinterpret_cast<Rows *>(to));
    }
  }
  const ttnn::exact::MatrixProduct product(static_cast<int64_t>(rt * side), static_cast<int64_t>(ct * side),
                                           static_cast<int64_t>(steps * side), config);
  // Calls f(values, place among the sums, count) for each tile that a row
  // crosses.
  const auto along = [&](int64_t row, int64_t column, int64_t count, float *values, auto f) {
    for (int64_t at = column; at < column + count;) {
      const int64_t next = std::min((at / tileSide + 1) * tileSide, column + count);
      float *const sum =
          sums + (row / tileSide * block.ct + at / tileSide) * tileElements + row % tileSide * tileSide + at % tileSide;
      f(values + (at - column), sum, next - at);
      at = next;
    }
  };
  ttnn::exact::MatrixProduct::Io io;
  io.left = [&](int64_t row, float *to) {
    const float *from =
        left + (static_cast<size_t>(row) / side * steps * side + static_cast<size_t>(row) % side) * side;
    for (size_t step = 0; step < steps; ++step)
      std::copy_n(from + step * elements, side, to + step * side);
  };
  io.right = [&](int64_t k, int64_t column, int64_t count, float *to) {
    for (int64_t at = column; at < column + count;) {
      const int64_t next = std::min((at / tileSide + 1) * tileSide, column + count);
      const float *tile = right + (k / tileSide * block.ct + at / tileSide) * tileElements;
      std::copy_n(tile + k % tileSide * tileSide + at % tileSide, next - at, to + (at - column));
      at = next;
    }
  };
  io.begin = [&](int64_t row, int64_t column, int64_t count, float *values) {
    along(row, column, count, values, [](float *value, const float *sum, int64_t n) { std::copy_n(sum, n, value); });
  };
  io.finish = [&](int64_t row, int64_t column, int64_t count, float *values) {
    along(row, column, count, values, [](const float *value, float *sum, int64_t n) { std::copy_n(value, n, sum); });
  };
  thread_local std::shared_ptr<std::byte> scratch;
  thread_local size_t size = 0;
  if (product.scratchBytes() > size) {
    size = 0;
    scratch = sim::allocateHost(product.scratchBytes(), "a product of kernels");
    size = product.scratchBytes();
  }
  constexpr size_t fewProducts = 16; // of tiles
  std::optional<SerialLoops> serial;
  if (rt * ct * steps < fewProducts)
    serial.emplace();
  product.run(io, scratch.get());
}

bool KernelRun::multiplyOnHost(const Block &block) {
#ifdef __x86_64__
  const auto isBf16 = [&](uint32_t cb) { return ring(cb, block.function).dtype == DataType::BFloat16; };
  if (exact || !dst->isF32 || block.transpose || units() < Units::AMX || !isBf16(block.cb0) || !isBf16(block.cb1))
    return false;
  const size_t rt = block.rt, ct = block.ct, steps = block.steps;
  thread_local std::vector<HostTile> tiles; // no other kernel runs in between
  if (tiles.size() < (rt + ct) * steps)
    tiles.resize((rt + ct) * steps);
  HostTile *const left = tiles.data(), *const right = left + rt * steps;
  for (uint32_t step = 0; step < block.steps; ++step) {
    for (uint32_t r = 0; r < block.rt; ++r)
      leftTile(frontTile(block.cb0, block.tile0 + r * block.rowStride + step, block.function), left[r * steps + step]);
    for (uint32_t c = 0; c < block.ct; ++c)
      rightTile(frontTile(block.cb1, block.tile1 + step * block.stepStride + c, block.function), right[step * ct + c]);
  }
  for (uint32_t i = 0; i < block.rt * block.ct; ++i) {
    Dst::Tile &out = mathTile(block.dst + i, block.function);
    addProducts(left + i / ct * steps, right + i % ct, ct, steps, out.f);
    out.dtype = DataType::Float32;
    out.written = true;
  }
  return true;
#else
  return false;
#endif
}

void KernelRun::matmulBlock(const Block &block) {
  const std::string_view function = block.function;
  constexpr uint32_t most = 16;
  if (!block.ct || !block.rt || block.ct > most || block.rt > most || block.ct * block.rt > most)
    fail(function, "makes " + std::to_string(block.rt) + "x" + std::to_string(block.ct) + " tiles; expected 1 to " +
                       std::to_string(most) + " in all");
  const uint32_t count = block.ct * block.rt;
  for (uint32_t i = 0; i < count; ++i)
    if (ttnn::isInteger(mathTile(block.dst + i, function).dtype))
      fail(function, "adds to register tile " + std::to_string(block.dst + i) + ", which holds integers");
  // Before memory is taken for the tiles of all steps: they are there.
  if (block.steps)
    (void)frontTile(block.cb0,
                    static_cast<uint32_t>(std::min<uint64_t>(block.tile0 + uint64_t(block.steps) - 1, UINT32_MAX)),
                    function);
  work.matmulTiles += int64_t(kernel.fidelityPhases) * count * block.steps;
  if (multiplyOnHost(block))
    return;
  // The stack of a fiber has no room for them; no other kernel runs in between.
  thread_local std::unique_ptr<Rows[]> scratch = std::make_unique_for_overwrite<Rows[]>(2 * most + 1);
  Rows *const sums = scratch.get(), *const column = sums + most;
  Rows &b = column[most];
  for (uint32_t i = 0; i < count; ++i)
    toRows(mathTile(block.dst + i, function).f, sums[i].data());
  if (exact)
    multiplyExactly(block, sums->data());
  for (uint32_t step = 0; !exact && step < block.steps; ++step) {
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
}

void KernelRun::matmulTiles(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t index,
                            bool transposed) {
  matmulBlock({cb0, cb1, tile0, tile1, index, transposed, 1, 1, 1, 1, 1, "matmul_tiles"});
}

void KernelRun::reduceExactly(ReducePool pool, Along along, const float *in, DataType source, float scale,
                              Dst::Tile &out) const {
  using namespace ttnn::exact;
  const auto line = along == Along::Row ? ttnn::exact::Along::Row : ttnn::exact::Along::Column;
  const bool isMax = pool == ReducePool::Max;
  Rows result = {};
  const auto reduce = [&](size_t place, const float *values, size_t n) {
    const auto before = std::bit_cast<uint32_t>(out.f[place]);
    if (!isMax)
      return n == tileElements ? addWholeTile(values, scale, before, source, config)
                               : addTile(values, scale, before, source, line, config);
    // The largest of a tile is transposed as that of a row is.
    return joinTile({values, n}, out.written ? std::optional(before) : std::nullopt, source,
                    n == tileElements ? ttnn::exact::Along::Row : line, config);
  };
  if (along == Along::Scalar)
    result.at[0][0] = std::bit_cast<float>(reduce(0, in, tileElements));
  for (int64_t i = 0; along != Along::Scalar && i < tileSide; ++i) {
    float values[tileSide];
    for (int64_t j = 0; j < tileSide; ++j)
      values[j] = along == Along::Row ? in[i * tileSide + j] : in[j * tileSide + i];
    const bool isRow = along == Along::Row;
    const uint32_t value = reduce(isRow ? placeOf(i, 0) : placeOf(0, i), values, tileSide);
    result.at[isRow ? i : 0][isRow ? 0 : i] = std::bit_cast<float>(value);
  }
  toFaces(result, out.f);
  out.dtype = DataType::Float32;
  out.written = true;
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
  ++work.fpuTiles;
  if (exact && isMax && factor != 1)
    fail("reduce_tile",
         "finds a maximum with the scaler " + std::to_string(factor) + "; expected 1 on an exact device");
  if (exact)
    return reduceExactly(pool, along, in.data(), ring(cb, "reduce_tile").dtype, factor, out);
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
}

void KernelRun::transposeTile(uint32_t cb, uint32_t tile, uint32_t index) {
  Dst::Tile &out = mathTile(index, "transpose_wh_tile"), in = out;
  load(cb, tile, in, "transpose_wh_tile");
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; ++c)
      out.i[placeOf(r, c)] = in.i[placeOf(c, r)];
  out.dtype = in.dtype;
  out.written = true;
  ++work.fpuTiles;
}

void KernelRun::broadcastTile(Along along, uint32_t cb, uint32_t tile, uint32_t index) {
  Dst::Tile &out = mathTile(index, "unary_bcast"), in = out;
  load(cb, tile, in, "unary_bcast");
  for (int64_t r = 0; r < tileSide; ++r)
    for (int64_t c = 0; c < tileSide; ++c)
      out.i[placeOf(r, c)] = in.i[placeOf(along == Along::Row || along == Along::Scalar ? 0 : r,
                                          along == Along::Column || along == Along::Scalar ? 0 : c)];
  out.dtype = in.dtype;
  out.written = true;
  ++work.fpuTiles;
}

} // namespace tt::metal
