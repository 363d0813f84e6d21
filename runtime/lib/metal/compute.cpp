//===- compute.cpp - elementwise ops on tiles -----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// An op on tiles is the row of the elementwise table that the TTNN op of the same name runs: the results have the same
// bits. Integers are computed in int64 and wrapped to their type, as when a TTNN op stores them. On an exact device,
// floats go through the units that exact TTNN ops use, where their arithmetic is published.
//
//===----------------------------------------------------------------------===//

#include "kernels/elementwise/elementwise.h"
#include "kernels/exact/rows.h"
#include "metal/tile.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace tt::metal {
namespace {

using ttnn::ElementwiseRow;
using ttnn::Scalars;

struct TileRow {
  std::string_view function, row;
  uint32_t ins;
};
constexpr TileRow tileRows[] = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) {#kernel, "ttnn." #row, ins},
#include "ttmlir/Target/TTMetal/TileOps.def"
};

constexpr size_t piece = 256;

/// Runs a row over tiles; `out` may be one of `ins`. Returns the type of the result.
class RowRun {
public:
  RowRun(const KernelRun &run, std::string_view function, const ElementwiseRow &row,
         std::span<const Dst::Tile *const> ins, bool integral = true)
      : row(row), ins(ins), select(row.domain == ttnn::Domain::Select) {
    integer = row.i && integral;
    for (size_t k = select ? 1 : 0; k < ins.size(); ++k)
      integer = integer && ttnn::isInteger(ins[k]->dtype);
    if (!integer && !row.f)
      run.fail(function, "takes integers, and a register tile holds floats");
  }

  DataType operator()(Dst::Tile &out, const Scalars &scalars) const {
    const DataType type = integer ? ins[select ? 1 : 0]->dtype : DataType::Float32;
    for (size_t i = 0; i < tileElements; i += piece)
      integer ? integers(i, type, out, scalars) : floats(i, out, scalars);
    return type;
  }

private:
  void floats(size_t i, Dst::Tile &out, const Scalars &scalars) const {
    float buffers[ttnn::maxElementwiseIns][piece];
    const float *at[ttnn::maxElementwiseIns] = {};
    for (size_t k = 0; k < ins.size(); ++k) {
      const Dst::Tile &in = *ins[k];
      at[k] = buffers[k];
      if (ttnn::isFloat(in.dtype)) {
        at[k] = in.floats() + i;
        continue;
      }
      int64_t values[piece];
      widen(in.dtype, in.i + i, values, piece);
      for (size_t j = 0; j < piece; ++j)
        buffers[k][j] = select && k == 0 ? (values[j] != 0 ? 1.0f : 0.0f) : static_cast<float>(values[j]);
    }
    row.f(at, out.f + i, piece, scalars);
  }

  void integers(size_t i, DataType type, Dst::Tile &out, const Scalars &scalars) const {
    int64_t buffers[ttnn::maxElementwiseIns][piece], result[piece];
    const int64_t *at[ttnn::maxElementwiseIns] = {};
    for (size_t k = 0; k < ins.size(); ++k) {
      const Dst::Tile &in = *ins[k];
      at[k] = buffers[k];
      if (ttnn::isFloat(in.dtype)) // a condition
        for (size_t j = 0; j < piece; ++j)
          buffers[k][j] = in.floats()[i + j] != 0 ? 1 : 0;
      else
        widen(in.dtype, in.i + i, buffers[k], piece);
    }
    row.i(at, result, piece, scalars);
    narrow(type, result, out.i + i, piece);
  }

  const ElementwiseRow &row;
  const std::span<const Dst::Tile *const> ins;
  const bool select;
  bool integer;
};

const ElementwiseRow &rowOf(std::string_view name) {
  if (const ElementwiseRow *row = ttnn::findTileFunction(name))
    return *row;
  throw Error("the runtime has no elementwise row " + std::string(name));
}

} // namespace

bool KernelRun::computeExactly(std::string_view row, std::span<const Dst::Tile *const> ins, Dst::Tile &out) const {
  constexpr size_t prefix = std::string_view("ttnn.").size();
  if (!exact || std::ranges::any_of(ins, [](const Dst::Tile *in) { return ttnn::isInteger(in->dtype); }))
    return false;
  const std::string_view name = row.substr(prefix);
  if (ins.size() == 1) {
    const auto function = ttnn::exact::vectorFunction(name, config);
    if (!function)
      return false;
    std::memmove(out.f, ins[0]->f, sizeof out.f);
    function(out.f, tileElements);
  } else {
    const auto run = ins.size() == 2 ? ttnn::exact::vectorBinary(name, config.width) : nullptr;
    if (!run)
      return false;
    const float *const values[] = {ins[0]->f, ins[1]->f};
    run(values, out.f, tileElements, {});
  }
  out.dtype = DataType::Float32;
  out.written = true;
  return true;
}

void KernelRun::noteRounded(std::string_view function, std::span<const Dst::Tile *const> ins) {
  if (exact && std::ranges::any_of(ins, [](const Dst::Tile *in) { return ttnn::isFloat(in->dtype); }))
    roundedOnly.insert(function);
}

void KernelRun::tileOp(TileOp op, const uint32_t *dsts) {
  const TileRow &tileRow = tileRows[static_cast<size_t>(op)];
  static const auto rows = [] {
    std::array<const ElementwiseRow *, std::size(tileRows)> found;
    std::ranges::transform(tileRows, found.begin(), [](const TileRow &row) { return &rowOf(row.row); });
    return found;
  }();
  const Dst::Tile *ins[ttnn::maxElementwiseIns];
  for (uint32_t k = 0; k < tileRow.ins; ++k)
    ins[k] = rawTile(dsts[k], tileRow.function).written ? &rawTile(dsts[k], tileRow.function)
                                                        : &mathTile(dsts[k], tileRow.function);
  Dst::Tile &out = rawTile(dsts[tileRow.ins], tileRow.function);
  ++work.sfpuTiles;
  const std::span<const Dst::Tile *const> operands(ins, tileRow.ins);
  const ElementwiseRow &row = *rows[static_cast<size_t>(op)];
  if (computeExactly(row.name, operands, out))
    return;
  noteRounded(tileRow.function, operands);
  out.dtype = RowRun(*this, tileRow.function, row, operands)(out, {});
  out.view = nullptr;
  settle(out);
}

void KernelRun::rowOp(std::string_view name, uint32_t index, std::span<const uint32_t> numbers,
                      std::string_view function) {
  Dst::Tile &tile = mathTile(index, function);
  Scalars scalars;
  bool integral = true;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const auto value = std::bit_cast<float>(numbers[k]);
    scalars.f[k] = value;
    integral = integral && std::trunc(value) == value; // NaN is not, Inf is
    // Beyond all values of a register; see scalarsOf of the TTNN kernels.
    scalars.i[k] = std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -0x1p62f, 0x1p62f));
  }
  const ElementwiseRow &row = rowOf(name);
  const Dst::Tile *in = &tile;
  noteRounded(function, {&in, 1});
  tile.dtype = RowRun(*this, function, row, {&in, 1}, integral)(tile, scalars);
  settle(tile);
  ++work.sfpuTiles;
}

void KernelRun::typecastTile(uint32_t index, uint32_t dataType) {
  Dst::Tile &tile = mathTile(index, "typecast_tile");
  auto to = static_cast<DataType>(dataType);
  // The packer finds the exponents of blocks.
  if (to == DataType::BFP_BFloat8 || to == DataType::BFP_BFloat4)
    to = DataType::Float32;
  if (dataType > static_cast<uint32_t>(DataType::Bool) || sim::isBlockFormat(to) || to == DataType::Float16)
    fail("typecast_tile", "data type " + std::to_string(dataType) + " is not one of registers; expected 0 (f32), " +
                              "2 (bf16), 4 (bfp_bf8), 6 (bfp_bf4), 9 (u32), 10 (u16), 11 (u8), 12 (si32) or 13 (bool)");
  ++work.sfpuTiles;
  if (exact && typecastExactly(tile, to))
    return;
  const Dst::Tile *in = &tile;
  noteRounded("typecast_tile", {&in, 1});
  alignas(64) std::byte stored[tileElements * sizeof(float)];
  metal::storeTile(tile, to, ttnn::storer<float>(to), stored);
  if (ttnn::isFloat(to)) {
    loadFloats(stored, to, tile.f);
    to = DataType::Float32;
  } else {
    loadIntegers(stored, to, tile.i, tileElements);
  }
  tile.dtype = to;
  settle(tile);
}

/// Integers become f32, rounded to even; what is stored in 16 bits is rounded again.
bool KernelRun::typecastExactly(Dst::Tile &tile, DataType to) const {
  const auto convert = ttnn::exact::integerConversion(to);
  int64_t values[piece];
  if (ttnn::isInteger(tile.dtype)) {
    if (!ttnn::isFloat(to))
      return false;
    for (size_t i = 0; i < tileElements; i += piece) {
      widen(tile.dtype, tile.i + i, values, piece);
      std::ranges::transform(values, tile.f + i, [](int64_t value) { return static_cast<float>(value); });
    }
  } else if (convert) {
    for (size_t i = 0; i < tileElements; i += piece) {
      std::transform(tile.f + i, tile.f + i + piece, values, convert);
      narrow(to, values, tile.i + i, piece);
    }
    tile.dtype = to;
    return true;
  } else if (to == DataType::BFloat16) {
    std::ranges::transform(tile.f, tile.f, ttnn::exact::roundedToEven);
  } else if (to != DataType::Float32) {
    return false;
  }
  tile.dtype = DataType::Float32;
  settle(tile);
  return true;
}

void KernelRun::checkPositions(uint32_t least, uint32_t greatest, uint32_t size, std::string_view op) {
  for (const uint32_t dst : {least, greatest}) {
    const Dst::Tile &tile = mathTile(dst, "check_positions_tile");
    int64_t whole = 0;
    if (!ttnn::isFloat(tile.dtype))
      widen(tile.dtype, tile.i, &whole, 1);
    const double position = ttnn::isFloat(tile.dtype) ? tile.f[0] : static_cast<double>(whole);
    if (position >= 0 && position < size)
      continue;
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", position);
    fail("check_positions_tile",
         std::string(op) + " is " + text + "; expected a position from 0 to " + std::to_string(int64_t(size) - 1));
  }
}

void KernelRun::fillTile(uint32_t index, float value) {
  Dst::Tile &tile = rawTile(index, "fill_tile");
  tile.view = nullptr;
  std::fill_n(tile.f, tileElements, value);
  tile.dtype = DataType::Float32;
  settle(tile);
  ++work.sfpuTiles;
}

namespace {

struct FpuRow {
  std::string_view function;
  const ElementwiseRow &row;
};

const FpuRow &fpuRow(FpuOp op) {
  static const FpuRow rows[] = {
      {"add_tiles", rowOf("ttnn.add")}, {"sub_tiles", rowOf("ttnn.subtract")}, {"mul_tiles", rowOf("ttnn.multiply")}};
  return rows[static_cast<size_t>(op)];
}

} // namespace

void KernelRun::loadOperand(uint32_t cb, uint32_t tile, Along along, Dst::Tile &to, std::string_view function) const {
  const std::byte *from = frontTile(cb, tile, function);
  to.dtype = ring(cb, function).dtype;
  if (ttnn::isFloat(to.dtype)) {
    loadFloats(from, to.dtype, to.f);
    if (exact && to.dtype == DataType::Float32)
      for (float &value : to.f)
        value = ttnn::exact::unpacked(value, to.dtype, config.width);
    to.dtype = DataType::Float32;
  } else {
    loadIntegers(from, to.dtype, to.i, tileElements);
  }
  if (along == Along::None)
    return;
  // In place: the repeated element, row or column is the first one, which stays unchanged.
  const bool row = along != Along::Column, column = along != Along::Row;
  for (int64_t r = tileSide - 1; r >= 0; --r)
    for (int64_t c = tileSide - 1; c >= 0; --c)
      to.i[placeOf(r, c)] = to.i[placeOf(row ? 0 : r, column ? 0 : c)];
}

void KernelRun::compute(FpuOp op, const Dst::Tile &a, const Dst::Tile &b, Dst::Tile &out) {
  using ttnn::exact::Operation;
  ++work.fpuTiles;
  if (exact && ttnn::isFloat(a.dtype) && ttnn::isFloat(b.dtype)) {
    constexpr Operation operations[] = {Operation::Sum, Operation::Difference, Operation::Product};
    float values[tileElements];
    std::ranges::copy(a.f, values);
    ttnn::exact::Steps(config).combine(operations[static_cast<size_t>(op)], values, b.f);
    std::ranges::copy(values, out.f);
    out.dtype = DataType::Float32;
    out.written = true;
    return;
  }
  const auto &[function, row] = fpuRow(op);
  const Dst::Tile *ins[] = {&a, &b};
  out.dtype = RowRun(*this, function, row, ins)(out, {});
  settle(out);
}

void KernelRun::fpuBroadcast(FpuOp op, Along along, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1,
                             uint32_t index) {
  const std::string_view function = fpuRow(op).function;
  Dst::Tile &out = mathTile(index, function);
  Dst::Tile a, b;
  loadOperand(cb0, tile0, Along::None, a, function);
  loadOperand(cb1, tile1, along, b, function);
  compute(op, a, b, out);
}

void KernelRun::fpuReuse(FpuOp op, bool first, uint32_t cb, uint32_t tile, uint32_t index) {
  constexpr std::string_view function = "binary_dest_reuse_tiles";
  Dst::Tile &out = mathTile(index, function);
  Dst::Tile other;
  loadOperand(cb, tile, Along::None, other, function);
  // What comes from registers of 32 bits is cut to the format of the sources.
  if (exact && dst->isF32 && ttnn::isFloat(out.dtype)) {
    const bool tf32 = ring(cb, function).dtype == DataType::Float32;
    for (float &value : out.f) {
      const auto bits = std::bit_cast<uint32_t>(value);
      value = std::bit_cast<float>(tf32 ? sim::exact::unpackToTf32(bits) : sim::exact::unpackToBf16(bits));
    }
  }
  first ? compute(op, out, other, out) : compute(op, other, out, out);
}

void KernelRun::scalarOp(std::string_view name, bool first, uint32_t index, uint32_t bits, bool integer,
                         std::string_view function) {
  Dst::Tile &tile = mathTile(index, function);
  Dst::Tile number;
  number.dtype = tile.dtype;
  const auto value = std::bit_cast<float>(bits);
  if (integer && ttnn::isFloat(tile.dtype))
    fail(function, "takes integers, and register tile " + std::to_string(index) + " holds floats");
  if (integer)
    std::fill_n(number.i, tileElements, static_cast<int32_t>(bits));
  else if (ttnn::isFloat(tile.dtype))
    std::fill_n(number.f, tileElements, value);
  else if (std::trunc(value) == value && std::abs(value) < 0x1p31f)
    std::fill_n(number.i, tileElements, static_cast<int32_t>(value));
  else
    fail(function,
         "takes " + std::to_string(value) + ", and register tile " + std::to_string(index) + " holds integers");
  ++work.sfpuTiles;
  const Dst::Tile *ins[] = {first ? &number : &tile, first ? &tile : &number};
  const ElementwiseRow &row = rowOf(name);
  if (name != "ttnn.divide" && computeExactly(row.name, ins, tile)) // the host gives the reciprocal
    return;
  noteRounded(function, ins);
  tile.dtype = RowRun(*this, function, row, ins)(tile, {});
  settle(tile);
}

void KernelRun::copyDst(uint32_t from, uint32_t to) {
  Dst::Tile &target = mathTile(to, "copy_dest_values");
  const Dst::Tile &source = mathTile(from, "copy_dest_values");
  std::memmove(target.f, source.f, sizeof source.f);
  target.dtype = source.dtype;
  target.written = true;
  ++work.sfpuTiles;
}

} // namespace tt::metal
