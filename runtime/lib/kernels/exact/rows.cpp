//===- rows.cpp - sums and extremes of lines of tiles -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/rows.h"

#include "core/access.h"
#include "kernels/exact/lanes.h"
#include "tt/parallel.h"

#include <algorithm>
#include <array>

namespace tt::ttnn::exact {
namespace {

constexpr int64_t face = 16, tile = 32;

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

/// A sum on its way from a row to a column: through SrcB, in the format of the sources, and added to zero.
uint32_t transposed(uint32_t dst, DataType source, Destination width) {
  if (width == Destination::Bits32)
    dst = source == DataType::Float32 ? sim::exact::unpackToTf32(dst) : sim::exact::unpackToBf16(dst);
  return sim::exact::add(0, dst, width);
}

} // namespace

uint32_t addTile(const float *values, float scale, uint32_t dst, DataType source, Along along, const Compute &compute) {
  uint32_t terms[face], scales[face];
  std::fill_n(scales, face, bitsOf(scale));
  for (int64_t first = 0; first < tile; first += face) {
    std::transform(values + first, values + first + face, terms, bitsOf);
    for (int phase = 0; phase < compute.phases; ++phase)
      dst = sim::exact::dotStep(terms, scales, dst, phase, compute.width);
  }
  return along == Along::Row ? transposed(dst, source, compute.width) : dst;
}

uint32_t joinTile(std::span<const float> values, std::optional<uint32_t> dst, DataType source, Along along,
                  const Compute &compute) {
  for (float each : values) {
    const uint32_t value = bitsOf(each);
    dst = sim::exact::poolMaximum(dst.value_or(value), value);
  }
  const uint32_t largest = dst.value_or(0xffffffff); // the least of all
  return along == Along::Row && !values.empty() ? transposed(largest, source, compute.width) : largest;
}

uint32_t addWholeTile(const float *values, float scale, uint32_t dst, DataType source, const Compute &compute) {
  std::array<uint32_t, face> scales, sums{}, terms;
  scales.fill(bitsOf(scale));
  const auto add = [&](uint32_t &sum) {
    for (int phase = 0; phase < compute.phases; ++phase)
      sum = sim::exact::dotStep(terms.data(), scales.data(), sum, phase, compute.width);
  };
  for (int64_t top = 0; top < tile; top += face)
    for (int64_t left = 0; left < tile; left += face)
      for (int64_t column = 0; column < face; ++column) {
        for (int64_t row = 0; row < face; ++row)
          terms[static_cast<size_t>(row)] = bitsOf(values[(top + row) * tile + left + column]);
        add(sums[static_cast<size_t>(column)]);
      }
  // Back to SrcA, in the format of the sources.
  std::ranges::transform(sums, terms.begin(), [&](uint32_t sum) {
    return source == DataType::Float32 ? sim::exact::unpackToTf32(sum) : sim::exact::unpackToBf16(sum);
  });
  add(dst);
  return dst;
}

float sumOf(const Line &line, float scale, Along along, const Compute &compute) {
  uint32_t dst = 0;
  for (int64_t begin = 0; begin < line.count; begin += tile) {
    float values[tile] = {};
    std::copy_n(line.values + begin, std::min(tile, line.count - begin), values);
    dst = addTile(values, scale, dst, line.source, along, compute);
  }
  return std::bit_cast<float>(dst);
}

float maximumOf(const Line &line, Along along, const Compute &compute) {
  std::optional<uint32_t> dst;
  for (int64_t begin = 0; begin < line.count; begin += tile)
    dst = joinTile({line.values + begin, static_cast<size_t>(std::min(tile, line.count - begin))}, dst, line.source,
                   along, compute);
  return std::bit_cast<float>(dst.value_or(0xffffffff)); // the least of all
}

void Steps::pass(std::span<float> values) const {
  const float *const in = values.data();
  if (compute.wide())
    overLanes(&in, 1, values.data(), values.size(), [](I x, I) { return x & ~0x1fff; });
  else
    overLanes(&in, 1, values.data(), values.size(), [](I x, I) { return roundedToBf16(Lanes(x)).bits; });
}

namespace {

template <Destination width> I combined(Operation operation, int phases, I a, I b) {
  if (operation != Operation::Product)
    return add<width>(a, operation == Operation::Difference ? b ^ INT32_MIN : b);
  switch (phases) {
  case 1:
    return multiply<width, 1>(a, b);
  case 2:
    return multiply<width, 2>(a, b);
  case 3:
    return multiply<width, 3>(a, b);
  default:
    return multiply<width, 4>(a, b);
  }
}

} // namespace

void Steps::combine(Operation operation, std::span<float> values, std::span<const float> others) const {
  const float *const ins[] = {values.data(), others.data()};
  const bool single = others.size() == 1;
  const I all = I{} + std::bit_cast<int32_t>(others.front());
  overLanes(ins, single ? 1 : 2, values.data(), values.size(), [&](I a, I b) {
    b = single ? all : b;
    return compute.wide() ? combined<Destination::Bits32>(operation, compute.phases, a, b)
                          : combined<Destination::Bits16>(operation, compute.phases, a, b);
  });
}

RowKernel::RowKernel(const TensorSpec &in, const TensorSpec &out, size_t dim, const Compute &compute, Body body)
    : in(in), out(out), dim(dim), compute(compute), body(std::move(body)) {}

/// A line has one result, or as many as its values; they are stored one by one, so that the code that creates this
/// kernel packs block formats.
void RowKernel::run(const Buffers &buffers) const {
  const Lines lines(in.shape, dim);
  const Load<float> load = loader<float>(in.dtype);
  const Store<float> store = packer(out.dtype, compute.width);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(out.dtype);
  parallelFor(lines.count(), 1 + 256 / std::max<int64_t>(1, lines.length), [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(lines.length)), created;
    for (int64_t line = begin; line < end; ++line) {
      const std::byte *from = buffers.ins[0] + static_cast<size_t>(lines.start(line)) * inBytes;
      const auto stride = static_cast<size_t>(lines.inner);
      if (stride == 1)
        load(from, row.data(), row.size());
      else
        for (size_t i = 0; i < row.size(); ++i)
          load(from + i * stride * inBytes, row.data() + i, 1);
      for (float &value : row)
        value = unpacked(value, in.dtype, compute.width);
      created.clear();
      body(buffers, row, created);
      if (created.size() == 1 && volume(out.shape) == lines.count()) {
        store(created.data(), buffers.outs[0] + static_cast<size_t>(line) * outBytes, 1);
        continue;
      }
      std::byte *to = buffers.outs[0] + static_cast<size_t>(lines.start(line)) * outBytes;
      if (stride == 1)
        store(created.data(), to, created.size());
      else
        for (size_t i = 0; i < created.size(); ++i)
          store(created.data() + i, to + i * stride * outBytes, 1);
    }
  });
}

} // namespace tt::ttnn::exact
