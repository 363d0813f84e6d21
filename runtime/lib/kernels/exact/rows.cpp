//===- rows.cpp - sums and extremes of lines of tiles -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/rows.h"

#include "core/access.h"
#include "kernels/exact/lanes.h"
#include "tt/parallel.h"

#include <algorithm>

namespace tt::ttnn::exact {
namespace {

constexpr int64_t face = 16, tile = 32;

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

/// A sum on its way from a row to a column: through SrcB, in the format of the sources, and a sum with zero.
uint32_t transposed(uint32_t dst, DataType source, Destination width) {
  if (width == Destination::Bits32)
    dst = source == DataType::Float32 ? sim::exact::unpackToTf32(dst) : sim::exact::unpackToBf16(dst);
  return sim::exact::add(0, dst, width);
}

} // namespace

float sumOf(const Line &line, float scale, Along along, const Compute &compute) {
  uint32_t values[face], scales[face], dst = 0;
  std::fill_n(scales, face, bitsOf(scale));
  for (int64_t begin = 0; begin < line.count; begin += tile) {
    for (int64_t first = begin; first < begin + tile; first += face) {
      for (int64_t i = 0; i < face; ++i)
        values[i] = first + i < line.count ? bitsOf(line.values[first + i]) : 0;
      for (int phase = 0; phase < compute.phases; ++phase)
        dst = sim::exact::dotStep(values, scales, dst, phase, compute.width);
    }
    if (along == Along::Row)
      dst = transposed(dst, line.source, compute.width);
  }
  return std::bit_cast<float>(dst);
}

float maximumOf(const Line &line, Along along, const Compute &compute) {
  uint32_t dst = 0xffffffff; // the least of all
  for (int64_t i = 0; i < line.count; ++i) {
    const uint32_t value = bitsOf(line.values[i]);
    dst = i == 0 ? sim::exact::poolMaximum(value, value) : sim::exact::poolMaximum(dst, value);
    if (along == Along::Row && (i % tile == tile - 1 || i + 1 == line.count))
      dst = transposed(dst, line.source, compute.width);
  }
  return std::bit_cast<float>(dst);
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

/// Results of a line are one, or as many as the line has; they are stored one by one, so that block formats are packed
/// by who makes this kernel.
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
