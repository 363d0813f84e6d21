//===- pooling.cpp - pools as the chip has them -----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The window's pixels are rows of tiles, 32 at a time, which the matrix unit reduces down their columns
// (compute_pool_2d.cpp of tt-metal): maxima with -Inf outside the image, sums with 0 there, by factors in truncated
// bf16.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/rows.h"
#include "kernels/window/window.h"
#include "tt/parallel.h"

#include <algorithm>
#include <limits>

namespace tt::ttnn::exact {
namespace {

class Pool final : public Kernel {
public:
  Pool(const OpCall &call, Window given, bool isAverage)
      : window(std::move(given)), compute(reducing(call)), type(operand(call, 0).dtype), isAverage(isAverage),
        countsPadding(call.attributes.get<bool>("count_include_pad", true)) {}

  void run(const Buffers &buffers) const override {
    const int64_t channels = window.channels, area = window.area();
    const auto load = loader<float>(type);
    const auto bytes = static_cast<int64_t>(storageBytes(type));
    const float outside = isAverage ? 0.0f : -std::numeric_limits<float>::infinity();
    auto *const out = reinterpret_cast<float *>(buffers.outs[0]);
    parallelFor(window.positions(), 16, [&](int64_t begin, int64_t end) {
      std::vector<float> pixels(static_cast<size_t>(area * channels)), line(static_cast<size_t>(area));
      for (int64_t position = begin; position < end; ++position) {
        const int64_t divisor = gather(position, [&](int64_t place, int64_t pixel) {
          float *const to = pixels.data() + place * channels;
          if (pixel < 0) {
            std::fill_n(to, channels, outside);
            return;
          }
          load(buffers.ins[0] + pixel * channels * bytes, to, static_cast<size_t>(channels));
          for (int64_t i = 0; i < channels; ++i)
            to[i] = unpacked(to[i], type, compute.width);
        });
        const float factor = divisor > 0 ? std::bit_cast<float>(sim::exact::unpackToBf16(
                                               std::bit_cast<uint32_t>(1.0f / static_cast<float>(divisor))))
                                         : 0.0f;
        for (int64_t channel = 0; channel < channels; ++channel) {
          for (int64_t place = 0; place < area; ++place)
            line[static_cast<size_t>(place)] = pixels[static_cast<size_t>(place * channels + channel)];
          const Line values{line.data(), area, type};
          out[position * channels + channel] =
              isAverage ? sumOf(values, factor, Along::Column, compute) : maximumOf(values, Along::Column, compute);
        }
      }
    });
  }

private:
  /// Calls f(position in the window, pixel; -1 outside the image); returns the number of positions of a mean.
  template <class F> int64_t gather(int64_t position, F f) const {
    const Axis &high = window.axes[0], &wide = window.axes[1];
    const int64_t top = position / wide.out % high.out * high.stride - high.low,
                  left = position % wide.out * wide.stride - wide.low, image = position / wide.out / high.out;
    for (int64_t place = 0; place < window.area(); ++place) {
      const int64_t y = top + place / wide.kernel * high.dilation, x = left + place % wide.kernel * wide.dilation;
      const bool inside = y >= 0 && y < high.size && x >= 0 && x < wide.size;
      f(place, inside ? (image * high.size + y) * wide.size + x : -1);
    }
    return counted(high, top) * counted(wide, left);
  }
  /// Counts the elements of a window along a dimension: padding if requested, the overhang of the last window never.
  int64_t counted(const Axis &axis, int64_t first) const {
    const int64_t begin = countsPadding ? first : std::max<int64_t>(first, 0);
    const int64_t end = std::min(first + axis.kernel, axis.size + (countsPadding ? axis.high : 0));
    return std::max<int64_t>(end - begin, 0);
  }

  Window window;
  Compute compute;
  DataType type;
  bool isAverage, countsPadding;
};

template <bool isAverage> std::unique_ptr<Kernel> make(const OpCall &call) {
  Window window = windowOf(call, "channels");
  expectWindowResult(call, window, window.channels);
  const bool isSpread = isAverage && std::ranges::any_of(window.axes, [](const Axis &a) { return a.dilation != 1; });
  if (!areKnown(call) || isSpread || volume(result(call).shape) == 0)
    return nullptr;
  const Destination width = reducing(call).width;
  return packedResult(result(call), width, std::make_unique<Pool>(call, std::move(window), isAverage));
}

constexpr Row rows[] = {{"ttnn.avg_pool2d", make<true>}, {"ttnn.max_pool2d", make<false>}};

} // namespace

std::span<const Row> poolingRows() { return rows; }

} // namespace tt::ttnn::exact
