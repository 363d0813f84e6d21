//===- block_columns.cpp - weights in a block format, as small as they are ----===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/matmul/block_columns.h"

#include "core/op.h"
#include "core/panels/panels.h"
#include "core/scalars.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

namespace tt::ttnn {
namespace {

using panels::blockStep;
using panels::blockStepBytes;

constexpr int64_t group = 16; // values of one unit

using Numbers = scalars::Vector<int8_t, group>;
using Halves = scalars::Vector<uint16_t, group>;
using Words = scalars::Vector<uint32_t, group>;
using Integers = scalars::Vector<int32_t, group>;
using Floats = scalars::Vector<float, group>;

template <class V> V load(const void *from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}
template <class V> void store(const V &value, void *to) { std::memcpy(to, &value, sizeof(V)); }

int64_t bytesOfColumn(int64_t k) { return (k / blockStep * blockStepBytes + 63) / 64 * 64; }

float powerOf(uint8_t exponent) { return std::bit_cast<float>(uint32_t(exponent) << 23); }

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
bool encode(const uint16_t *from, int64_t k, uint8_t *to) {
  Words wrong{};
  for (int64_t at = 0; at < k; at += blockStep, to += blockStepBytes)
    for (int64_t i = 0; i < blockStep / group; ++i, from += group) {
      to[i] = unitOf(from);
      if (!to[i])
        return false;
      const auto values = __builtin_convertvector(load<Halves>(from), Words) << 16;
      const Floats scaled = __builtin_bit_cast(Floats, values) * powerOf(static_cast<uint8_t>(254 - to[i]));
      const auto integers = __builtin_convertvector(scaled, Integers);
      // By bits: -0, which no block format has, would become 0.
      wrong |= __builtin_bit_cast(Words, __builtin_convertvector(integers, Floats)) ^ __builtin_bit_cast(Words, scaled);
      store(__builtin_convertvector(integers, Numbers), to + blockStep / group + i * group);
    }
  return std::bit_cast<std::array<uint32_t, group>>(wrong) == std::array<uint32_t, group>{};
}

} // namespace

BlockColumns::BlockColumns(const OpCall &call, const Product &product) : k(product.k) {
  constexpr int64_t least = int64_t(1) << 18; // values: smaller matrices stay in the caches in any form
  const std::byte *constant = library::constantOperand(call, 1);
  const TensorSpec &spec = operand(call, 1);
  if (!constant || !call.constants || !sim::isBlockFormat(spec.dtype) || product.bRow != 1 || k % blockStep != 0 ||
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
      if (!encode(reinterpret_cast<const uint16_t *>(constant) + column * product.bColumn, k,
                  reinterpret_cast<uint8_t *>(made.data() + column * columnBytes)))
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
  for (int64_t c = column; c < column + columns; ++c) {
    const auto *from = reinterpret_cast<const uint8_t *>(get(c)) + row / blockStep * blockStepBytes;
    for (int64_t at = 0; at < rows; at += blockStep, from += blockStepBytes) {
      __builtin_prefetch(from + ahead);
      for (int64_t i = 0; i < blockStep / group; ++i, to += group) {
        const auto numbers = load<Numbers>(from + blockStep / group + i * group);
        const auto values = __builtin_convertvector(numbers, Floats) * powerOf(from[i]);
        store(__builtin_convertvector(__builtin_bit_cast(Words, values) >> 16, Halves), to);
      }
    }
  }
}

} // namespace tt::ttnn
