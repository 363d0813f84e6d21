//===- panels.cpp - products of matrices in panels --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/panels/panels.h"

#include "core/panels/units.h"
#include "tt/units.h"

namespace tt::ttnn::panels {

#if defined(__x86_64__)

namespace {

const Movement &movement(Unit unit) {
  if (unit == Unit::BF16)
    return avx512::bf16;
  static const Movement &f32 = units() >= Units::AVX512 ? avx512::f32 : avx2::f32;
  return f32;
}

bool hasMatrixUnit() {
  static const bool has = units() >= Units::AMX;
  return has;
}

} // namespace

bool supported(Unit unit) { return units() >= (unit == Unit::F32 ? Units::AVX2 : Units::AVX512_BF16); }
bool wholeTiles(Unit unit) { return unit == Unit::BF16 && hasMatrixUnit(); }
TileApart tileApart() { return units() >= Units::AVX512 ? tileApart512 : tileApart2; }
bool takesManyRows(Unit unit, bool narrow) { return unit == Unit::F32 && (narrow || units() == Units::AVX2); }
int64_t manyDepth() { return units() >= Units::AVX512 ? manyDepth512 : manyDepth256; }

void pack(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
          int64_t nextPanel) {
  movement(unit).pack(from, strides, k, columns, to, nextPanel);
}

void packNarrow(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  avx2::packNarrow(from, strides, k, columns, to, nextPanel);
}
void widenNarrow(const std::byte *row, int64_t columns, float *to) { avx2::widenNarrow(row, columns, to); }

void packPixelWeights(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
                      int64_t nextPanel) {
  avx2::packPixelWeights(from, strides, k, columns, to, nextPanel);
}
void multiplyPixels(const PixelBlock &block) { avx2::multiplyPixels(block); }

void copyRows(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t rows, std::byte *to) {
  movement(unit).copyRows(from, strides, k, rows, rowsCopied(unit, k), to);
}

void store(Unit unit, const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to,
           int64_t rowBytes) {
  if (unit == Unit::BF16 && finish.toBf16)
    pairs::storeBf16(c, finish, rows, columns, to, rowBytes);
  else
    movement(unit).store(c, finish, rows, columns, to, rowBytes);
}

void joinRow(const RowPart *parts, int64_t count, const Rows &where, std::byte *to) {
  avx512::joinRow(parts, count, where, to);
}

void copyPart(const PartialRows &rows, int64_t groups, int64_t nextGroup, std::byte *to) {
  avx512::copyPart(rows, groups, nextGroup, to);
}

void dot(Unit unit, const Dots &work) {
  if (unit == Unit::BF16)
    pairs::dotBf16(work);
  else if (units() >= Units::AVX512)
    avx512::dotF32(work);
  else
    avx2::dotF32(work);
}

DepthwiseFunction findDepthwise(int64_t columns, int64_t stride, int64_t channels) {
  if (units() >= Units::AVX512_BF16)
    return {pairs::findDepthwise(columns, stride)};
  if (units() >= Units::AVX512)
    return {avx512::findDepthwise(columns, stride)};
  if (units() < Units::AVX2 || channels % depthwiseWidth256 != 0)
    return {};
  return {avx2::findDepthwise(columns, stride), depthwiseWidth256};
}

Session::Session(Unit unit, int64_t rows) : tiles(wholeTiles(unit)), narrow(rows < 16) {
  if (unit == Unit::F32)
    run = units() >= Units::AVX512 ? avx512::multiplyF32 : avx2::multiplyF32;
  else
    run = tiles ? amx::multiplyBf16 : pairs::multiplyBf16;
  if (tiles)
    amx::begin(rows);
}

Session::~Session() {
  if (tiles)
    amx::end();
}

#else // another machine: nothing is supported, and nothing below is called

bool supported(Unit) { return false; }
bool wholeTiles(Unit) { return false; }
TileApart tileApart() { return tileApart2; }
bool takesManyRows(Unit, bool) { return false; }
int64_t manyDepth() { return manyDepth256; }
void packNarrow(const std::byte *, Strides, int64_t, int64_t, std::byte *, int64_t) {}
void widenNarrow(const std::byte *, int64_t, float *) {}
void packPixelWeights(const std::byte *, Strides, int64_t, int64_t, std::byte *, int64_t) {}
void multiplyPixels(const PixelBlock &) {}
void pack(Unit, const std::byte *, Strides, int64_t, int64_t, std::byte *, int64_t) {}
void copyRows(Unit, const std::byte *, Strides, int64_t, int64_t, std::byte *) {}
void joinRow(const RowPart *, int64_t, const Rows &, std::byte *) {}
void copyPart(const PartialRows &, int64_t, int64_t, std::byte *) {}
void dot(Unit, const Dots &) {}
DepthwiseFunction findDepthwise(int64_t, int64_t, int64_t) { return {}; }
Session::Session(Unit, int64_t) : run(nullptr), tiles(false), narrow(false) {}
Session::~Session() = default;
void store(Unit, const float *, const Finish &, int64_t, int64_t, std::byte *, int64_t) {}

#endif

} // namespace tt::ttnn::panels
