//===- block_columns.cpp - weights in a block format, as small as they are ----===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/matmul/block_columns.h"

#include "core/op.h"
#include "core/scalars.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

namespace tt::ttnn {
namespace {

constexpr int64_t group = 16;        // values of one unit
constexpr int64_t pairOfGroups = 32; // 16 words of two bf16 values, which are computed at a time

using Numbers = scalars::Vector<int8_t, 16>;
using Words = scalars::Vector<uint32_t, 16>;
using Integers = scalars::Vector<int32_t, 16>;
using Floats = scalars::Vector<float, 16>;

template <class V> V load(const void *from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}
template <class V> void store(const V &value, void *to) { std::memcpy(to, &value, sizeof(V)); }

/// Bytes of a column: of each pair of groups the numbers at even places, and those at odd ones; then the units, each
/// the biased exponent of a power of two, with two bytes behind the last that are read with it.
int64_t bytesOfColumn(int64_t k) { return (k + k / group + 2 + 63) / 64 * 64; }

/// The units of a pair of groups: each of 8 words, as floats.
Floats unitsOf(const uint8_t *units) {
  constexpr Words shifts = {23, 23, 23, 23, 23, 23, 23, 23, 15, 15, 15, 15, 15, 15, 15, 15};
  uint32_t both;
  std::memcpy(&both, units, sizeof(both));
  return __builtin_bit_cast(Floats, ((Words{} + both) << shifts) & 0x7f800000u);
}

/// The biased exponent of the unit of a group, or 0 if f32 does not hold it, or a number is Inf or NaN.
uint8_t unitOf(const uint16_t *from) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < group; ++i)
    largest = std::max<uint32_t>(largest, from[i] & 0x7fff);
  const uint32_t exponent = largest >> 7;
  return static_cast<uint8_t>(largest == 0 ? 127 : exponent < 7 || exponent > 253 ? 0 : exponent - 6);
}

/// Encodes a column. False if a number has more than 7 bits below the leading one of its group, or none of these units:
/// then the values are not those of a block format as it is packed.
bool encode(const uint16_t *from, int64_t k, int8_t *numbers, uint8_t *units) {
  Words wrong{};
  for (int64_t at = 0; at < k; at += pairOfGroups, units += 2) {
    const uint8_t inverse[4] = {static_cast<uint8_t>(254 - (units[0] = unitOf(from + at))),
                                static_cast<uint8_t>(254 - (units[1] = unitOf(from + at + group)))};
    if (!units[0] || !units[1])
      return false;
    const Floats scales = unitsOf(inverse);
    const auto words = load<Words>(from + at);
    for (const Words &values : {words << 16, words & 0xffff0000u}) {
      const Floats scaled = __builtin_bit_cast(Floats, values) * scales;
      const auto integers = __builtin_convertvector(scaled, Integers);
      // By bits: -0, which no block format has, would become 0.
      wrong |= __builtin_bit_cast(Words, __builtin_convertvector(integers, Floats)) ^ __builtin_bit_cast(Words, scaled);
      store(__builtin_convertvector(integers, Numbers), numbers);
      numbers += group;
    }
  }
  return std::bit_cast<std::array<uint32_t, 16>>(wrong) == std::array<uint32_t, 16>{};
}

} // namespace

BlockColumns::BlockColumns(const OpCall &call, const Product &product) : k(product.k) {
  constexpr int64_t least = int64_t(1) << 18; // values: smaller matrices stay in the caches in any form
  const std::byte *constant = library::constantOperand(call, 1);
  const TensorSpec &spec = operand(call, 1);
  if (!constant || !call.constants || !sim::isBlockFormat(spec.dtype) || product.bRow != 1 || k % pairOfGroups != 0 ||
      rightMatrices(product).offsets != std::vector<int64_t>{0} || product.n * k < least ||
      !call.constants->gives({constant, spec.bytes()}))
    return;
  const ConstantStore::Form form =
      library::formOf(library::FormOf::BlockColumns, StorageType::BF16, {k, product.n, product.bColumn});
  columnBytes = bytesOfColumn(k);
  bytes = library::AlignedBytes(call.constants->sharedForm(constant, form));
  if (bytes)
    return;
  library::AlignedBytes made(static_cast<size_t>(product.n * columnBytes));
  std::atomic<bool> whole = true;
  parallelFor(product.n, 1 + (1 << 16) / k, [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end && whole; ++column) {
      std::byte *to = made.data() + column * columnBytes;
      if (!encode(reinterpret_cast<const uint16_t *>(constant) + column * product.bColumn, k,
                  reinterpret_cast<int8_t *>(to), reinterpret_cast<uint8_t *>(to + k)))
        whole = false;
    }
  });
  if (!whole)
    return;
  bytes = std::move(made);
  call.constants->shareForm(constant, form, bytes.share());
}

void BlockColumns::expand(int64_t column, int64_t columns, int64_t row, int64_t rows, uint16_t *to) const {
  constexpr int64_t ahead = 4096; // bytes: of the next columns as well, which lie behind
  for (int64_t c = column; c < column + columns; ++c, to += rows) {
    const std::byte *from = bytes.data() + c * columnBytes;
    const auto *numbers = reinterpret_cast<const int8_t *>(from) + row;
    const auto *units = reinterpret_cast<const uint8_t *>(from + k) + row / group;
    for (int64_t at = 0; at < rows; at += pairOfGroups, units += 2) {
      __builtin_prefetch(numbers + at + ahead);
      const Floats unit = unitsOf(units);
      const auto values = [&](int64_t first) {
        return __builtin_bit_cast(Words, __builtin_convertvector(load<Numbers>(numbers + at + first), Floats) * unit);
      };
      store(values(0) >> 16 | (values(group) & 0xffff0000u), to + at);
    }
  }
}

} // namespace tt::ttnn
