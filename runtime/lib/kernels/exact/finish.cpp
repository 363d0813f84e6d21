//===- finish.cpp - what follows a product on the chip ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/finish.h"
#include "kernels/exact/lanes.h"

#include <algorithm>

namespace tt::ttnn::exact {

Finish::Finish(const OpCall &call, const Compute &compute, const std::string &name)
    : out(result(call)), compute(compute), pack(packer(out.dtype, compute.width)), outBytes(storageBytes(out.dtype)) {
  if (const TensorSpec *given = optionalOperand(call, 2)) {
    bias = *given;
    const int64_t columns = out.shape.empty() ? 1 : out.shape.back();
    fused = volume(given->shape) == columns && !given->shape.empty() && given->shape.back() == columns;
    const Shape &from = given->shape, &to = out.shape;
    if (from.size() > to.size())
      fail(call, "the bias has shape " + toString(from) + ", which does not broadcast to " + toString(to));
    biasStrides.assign(to.size(), 0);
    int64_t stride = 1;
    for (size_t d = from.size(); d-- > 0; stride *= from[d]) {
      const size_t place = d + to.size() - from.size();
      if (from[d] != 1 && from[d] != to[place])
        fail(call, "the bias has shape " + toString(from) + ", which does not broadcast to " + toString(to));
      biasStrides[place] = from[d] == 1 ? 0 : stride;
    }
  }
  if (!name.empty()) {
    function = vectorFunction(name, compute);
    activation = findActivation(name);
  }
}

namespace {

/// Lanes after the unpacker (exact.h).
template <Destination width> I unpackedLanes(I bits, DataType type) {
  if (type != DataType::Float32)
    return bits;
  if constexpr (width == Destination::Bits32)
    return bits & ~0x1fff;
  return bits & chosen(exponentsOf(bits) != 0, I{} + static_cast<int32_t>(0xffff0000), I{} + INT32_MIN);
}

template <Destination width>
void addTo(float *values, DataType type, const float *added, DataType addedType, int64_t count) {
  const float *const ins[] = {values, added};
  overLanes(ins, 2, values, static_cast<size_t>(count),
            [&](I a, I b) { return add<width>(unpackedLanes<width>(a, type), unpackedLanes<width>(b, addedType)); });
}

} // namespace

void Finish::addBias(const Buffers &buffers, int64_t row, int64_t column, int64_t count, float *values) const {
  constexpr int64_t piece = 256;
  const Load<float> load = loader<float>(bias->dtype);
  const size_t bytes = storageBytes(bias->dtype);
  int64_t offset = 0, rest = row;
  for (size_t d = biasStrides.size() - 1; d-- > 0; rest /= out.shape[d])
    offset += rest % out.shape[d] * biasStrides[d];
  const int64_t step = biasStrides.back();
  // A bias of a separate op uses the result's destination, a fused one the product's.
  const Destination width = fused                            ? compute.width
                            : out.dtype == DataType::Float32 ? Destination::Bits32
                                                             : Destination::Bits16;
  const DataType partials = !fused ? out.dtype : compute.wide() ? DataType::Float32 : DataType::BFloat16;
  for (int64_t i = 0; i < count; i += piece) {
    const int64_t n = std::min(piece, count - i);
    float added[piece];
    const std::byte *from = buffers.ins[2] + static_cast<size_t>(offset + (column + i) * step) * bytes;
    load(from, added, static_cast<size_t>(step ? n : 1));
    if (!step)
      std::fill_n(added + 1, n - 1, added[0]);
    const auto add = width == Destination::Bits32 ? addTo<Destination::Bits32> : addTo<Destination::Bits16>;
    add(values + i, partials, added, bias->dtype, n);
  }
}

void Finish::activate(float *values, int64_t count) const {
  if (function) {
    function(values, static_cast<size_t>(count));
  } else if (activation) {
    const float *in = values;
    activation->f(&in, values, static_cast<size_t>(count), {});
  }
}

void Finish::run(const Buffers &buffers, int64_t row, int64_t column, int64_t count, float *values) const {
  const int64_t columns = out.shape.empty() ? 1 : out.shape.back();
  std::byte *const to = buffers.outs[0] + static_cast<size_t>(row * columns + column) * outBytes;
  const auto n = static_cast<size_t>(count);
  // To memory and back.
  const auto passThrough = [&](DataType type) {
    if (type == DataType::Float32)
      return;
    packer(type, compute.width)(values, to, n);
    loader<float>(type)(to, values, n);
  };
  if (bias) {
    // Both are stored as bf16, so there is room in the result. For f32 results, partial sums in bf16 are widened.
    if (!fused)
      passThrough(out.dtype);
    else if (!compute.wide()) {
      const float *const in = values;
      overLanes(&in, 1, values, n, [](I x, I) { return roundedToBf16(Lanes(x)).bits; });
    }
    addBias(buffers, row, column, count, values);
  }
  activate(values, count);
  pack(values, to, n);
}

} // namespace tt::ttnn::exact
