//===- depthwise.cpp - convolutions of as many groups as channels -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// For bf16. Each channel has its own window, so each value that is read is used little: images are widened and results
// rounded in registers or in cache, and nothing else goes through memory. The usual windows are computed in lines
// (`core/panels/depthwise.h`). The rest is for CPUs without products of bf16.
//
//===----------------------------------------------------------------------===//

#include "core/panels/depthwise.h"
#include "core/library.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/window/convolution.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

constexpr int vector = 8; // channels: a multiple

template <int width> using Floats = float __attribute__((vector_size(width * 4)));

template <int width> [[gnu::always_inline]] inline Floats<width> read(const float *from) {
  Floats<width> values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}
/// Values of bf16, as their bits.
template <int width> [[gnu::always_inline]] inline Floats<width> read(const uint16_t *from) {
  using Halves = uint16_t __attribute__((vector_size(width * 2)));
  using Words = uint32_t __attribute__((vector_size(width * 4)));
  Halves halves;
  std::memcpy(&halves, from, sizeof(halves));
  const Words words = __builtin_convertvector(halves, Words) << 16;
  Floats<width> values;
  std::memcpy(&values, &words, sizeof(values));
  return values;
}

/// Elements [begin, end).
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// The elements under the window along `axis` that are inside of the image, if it begins at `start`.
Range inside(const Axis &axis, int64_t start) {
  const int64_t first = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
  const int64_t room = axis.size - start;
  const int64_t last = room <= 0 ? 0 : std::min(axis.kernel, (room - 1) / axis.dilation + 1);
  return {std::min(first, last), last};
}

/// Weights in a kernel's own order: kept if they are constant, and otherwise made in each run.
class OrderedFilter {
public:
  OrderedFilter() = default;
  /// bytes: in that order; order(from, to) writes it.
  template <class Order> OrderedFilter(const OpCall &call, size_t bytes, ScratchLayout &layout, Order order) {
    weights = library::Packed(call, 1, DataType::Float32, layout);
    if (!weights.constantValues()) {
      place = layout.take(bytes);
      return;
    }
    ordered = library::AlignedBytes(bytes);
    order(weights.constantValues(), ordered.data());
    weights.discard();
  }
  bool reads() const { return !ordered; }
  template <class Order> const float *get(const Buffers &buffers, Order order) const {
    if (!ordered)
      order(weights.get(buffers.ins[1], buffers.scratch), buffers.scratch + place);
    return reinterpret_cast<const float *>(ordered ? ordered.data() : buffers.scratch + place);
  }

private:
  library::Packed weights;
  library::AlignedBytes ordered;
  size_t place = 0;
};

/// Convolves images of bf16.
class DepthwiseConvolution final : public Kernel {
public:
  DepthwiseConvolution(const OpCall &call, const Convolution &c, DataType produced, const std::string &activation)
      : channels(c.window.channels), batch(c.window.batch), across(c.window.axes.back()),
        store(storer<float>(produced)), producedBytes(static_cast<int64_t>(storageBytes(produced))),
        biased(optionalOperand(call, 2) != nullptr) {
    if (c.window.axes.size() == 2)
      down = c.window.axes.front();
    nextRow = down.dilation * across.size * channels;
    nextTap = across.dilation * channels;
    nextPixel = across.stride * channels;
    if (!activation.empty())
      this->activation = findActivation(activation)->f;
    if (biased)
      bias = library::Packed(call, 2, DataType::Float32, layout);
    filter = OrderedFilter(call, static_cast<size_t>(c.window.area() * channels) * sizeof(float), layout,
                           [&](const std::byte *from, std::byte *to) { order(from, to); });
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 || (operand == 1 ? filter.reads() : operand == 2 && bias.reads());
  }

  void run(const Buffers &buffers) const override {
    const float *weights = filter.get(buffers, [&](const std::byte *from, std::byte *to) { order(from, to); });
    const std::byte *added = biased ? bias.get(buffers.ins[2], buffers.scratch) : nullptr;
    const Values now{reinterpret_cast<const uint16_t *>(buffers.ins[0]), weights,
                     reinterpret_cast<const float *>(added), buffers.outs[0]};
    const int64_t work = std::max<int64_t>(1, across.out * channels * down.kernel * across.kernel);
    parallelFor(batch * down.out, 1 + 65536 / work, [&](int64_t begin, int64_t end) {
      alignas(64) float sums[sumsAtOnce];
      for (int64_t line = begin; line < end; ++line)
        for (int64_t c = 0; c < channels; c += channelsAtOnce) {
          const int64_t count = std::min(channelsAtOnce, channels - c), pixels = sumsAtOnce / count;
          for (int64_t x = 0; x < across.out; x += pixels)
            piece(now, line, {x, std::min(across.out, x + pixels)}, {c, c + count}, sums);
        }
    });
  }

private:
  static constexpr int64_t sumsAtOnce = 4096, channelsAtOnce = 1024;
  static constexpr int together = 4; // pixels of the result that are computed side by side

  struct Values {
    const uint16_t *images;
    const float *weights; // [window, channels]
    const float *bias;    // or none
    std::byte *result;
  };
  /// Weights [channels, 1, window] as [window, channels].
  void order(const std::byte *from, std::byte *to) const {
    const auto *values = reinterpret_cast<const float *>(from);
    auto *target = reinterpret_cast<float *>(to);
    const int64_t taps = down.kernel * across.kernel;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        target[t * channels + c] = values[c * taps + t];
  }

  /// The elements under one position of the window, or under adjacent ones.
  struct Under {
    const uint16_t *first; // at the first row and column of the window that are inside, of the first channel
    const float *weights;
    int64_t rows, columns;
  };

  /// The sums of `count` pixels of the result in `width` channels. taps: columns of the window, or 0 for any number.
  template <int count, int width, int taps>
  [[gnu::always_inline]] void tile(const Under &under, const float *bias, int64_t channel, float *sums,
                                   int64_t nextSums) const {
    Floats<width> sum[count];
    for (auto &each : sum)
      each = bias ? read<width>(bias + channel) : Floats<width>{};
    const uint16_t *row = under.first + channel;
    const float *weights = under.weights + channel;
    for (int64_t i = under.rows; i > 0; --i, row += nextRow, weights += across.kernel * channels) {
      const uint16_t *from = row;
      const float *weight = weights;
      const auto tap = [&] {
        const Floats<width> w = read<width>(weight);
#pragma clang loop unroll(full)
        for (int p = 0; p < count; ++p)
          sum[p] = __builtin_elementwise_fma(w, read<width>(from + p * nextPixel), sum[p]);
        from += nextTap;
        weight += channels;
      };
      if constexpr (taps > 0)
#pragma clang loop unroll(full)
        for (int j = 0; j < taps; ++j)
          tap();
      else
        for (int64_t j = under.columns; j > 0; --j)
          tap();
    }
#pragma clang loop unroll(full)
    for (int p = 0; p < count; ++p)
      std::memcpy(sums + p * nextSums, &sum[p], sizeof(sum[p]));
  }

  template <int count, int taps> void tiles(const Under &under, const float *bias, Range c, float *sums) const {
    int64_t channel = c.begin;
    for (; channel + 2 * vector <= c.end; channel += 2 * vector)
      tile<count, 2 * vector, taps>(under, bias, channel, sums + channel - c.begin, c.size());
    if (channel < c.end)
      tile<count, vector, taps>(under, bias, channel, sums + channel - c.begin, c.size());
  }

  void piece(const Values &now, int64_t line, Range x, Range c, float *sums) const {
    const int64_t image = line / down.out, top = line % down.out * down.stride - down.low;
    const Range rows = inside(down, top);
    const uint16_t *images =
        now.images + (image * down.size + top + rows.begin * down.dilation) * across.size * channels;
    const float *weights = now.weights + rows.begin * across.kernel * channels;
    for (int64_t at = x.begin; at < x.end;) {
      const int64_t left = at * across.stride - across.low;
      const bool whole = left >= 0 && left + (together - 1) * across.stride + across.extent() <= across.size;
      float *to = sums + (at - x.begin) * c.size();
      if (at + together <= x.end && whole) {
        const Under under{images + left * channels, weights, rows.size(), across.kernel};
        across.kernel == 3 ? tiles<together, 3>(under, now.bias, c, to) : tiles<together, 0>(under, now.bias, c, to);
        at += together;
      } else {
        const Range columns = inside(across, left);
        tiles<1, 0>({images + (left + columns.begin * across.dilation) * channels, weights + columns.begin * channels,
                     rows.size(), columns.size()},
                    now.bias, c, to);
        ++at;
      }
    }
    const auto count = static_cast<size_t>(x.size() * c.size());
    if (activation) {
      const float *in = sums;
      activation(&in, sums, count, {});
    }
    std::byte *to = now.result + ((line * across.out + x.begin) * channels + c.begin) * producedBytes;
    if (c.size() == channels)
      return store(sums, to, count);
    for (int64_t i = 0; i < x.size(); ++i, to += channels * producedBytes)
      store(sums + i * c.size(), to, static_cast<size_t>(c.size()));
  }

  int64_t channels, batch;
  Axis down{1, 1, 1, 1, 0, 0, 1}, across; // of sequences, the first has one element
  int64_t nextRow, nextTap, nextPixel;    // from one value under the window to the next, and of the next window
  Store<float> store;
  int64_t producedBytes;
  bool biased;
  Run<float> activation = nullptr;
  ScratchLayout layout;
  OrderedFilter filter;
  library::Packed bias;
};

/// Convolves images of bf16 line by line.
class DepthwiseLines final : public Kernel {
public:
  DepthwiseLines(const OpCall &call, const Convolution &c, panels::DepthwiseFunction lines, std::string_view activation)
      : compute(lines.compute), width(lines.width), relu(!activation.empty()), relu6(activation == "relu6"),
        channels(c.window.channels), batch(c.window.batch), across(c.window.axes.back()), taps(c.window.area()),
        vectors((channels + width - 1) / width), biased(optionalOperand(call, 2) != nullptr) {
    if (c.window.axes.size() == 2)
      down = c.window.axes.front();
    if (biased) {
      bias = library::Packed(call, 2, DataType::Float32, layout);
      biasPlace = layout.take(static_cast<size_t>(vectors * width) * sizeof(float));
    }
    filter = OrderedFilter(call, static_cast<size_t>(vectors * taps * width) * sizeof(float), layout,
                           [&](const std::byte *from, std::byte *to) { order(from, taps, to); });
    // Few lines are divided, so that threads get as much of them each.
    constexpr int64_t manyItems = 24, fewVectors = 4;
    parts = std::clamp<int64_t>(manyItems / (batch * down.out), 1, (vectors + fewVectors - 1) / fewVectors);
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 || (operand == 1 ? filter.reads() : operand == 2 && bias.reads());
  }

  void run(const Buffers &buffers) const override {
    const float *weights = filter.get(buffers, [&](const std::byte *from, std::byte *to) { order(from, taps, to); });
    if (biased)
      order(bias.get(buffers.ins[2], buffers.scratch), 1, buffers.scratch + biasPlace);
    const int64_t pixelBytes = channels * 2, lineBytes = across.size * pixelBytes;
    const int64_t work = std::max<int64_t>(1, across.out * vectors * width * taps / parts);
    parallelFor(batch * down.out * parts, 1 + 65536 / work, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const int64_t row = item / parts, part = item % parts;
        const int64_t image = row / down.out, top = row % down.out * down.stride - down.low;
        const Range rows = inside(down, top);
        panels::DepthwiseLine line{};
        line.image = buffers.ins[0] + (image * down.size + top + rows.begin * down.dilation) * lineBytes -
                     across.low * pixelBytes;
        line.rows = rows.size();
        line.rowBytes = down.dilation * lineBytes;
        line.low = across.low;
        line.size = across.size;
        line.results = across.out;
        line.channels = channels;
        line.first = vectors * part / parts;
        line.last = vectors * (part + 1) / parts;
        line.weights = weights + rows.begin * across.kernel * width;
        line.vectorWeights = taps * width;
        line.bias = biased ? reinterpret_cast<const float *>(buffers.scratch + biasPlace) : nullptr;
        line.to = buffers.outs[0] + row * across.out * pixelBytes;
        line.relu = relu;
        line.relu6 = relu6;
        compute(line);
      }
    });
  }

private:
  /// Values [channels, count] as [vector, count, width], even channels first, with zeros for those that do not exist.
  void order(const std::byte *from, int64_t count, std::byte *to) const {
    const auto *values = reinterpret_cast<const float *>(from);
    auto *target = reinterpret_cast<float *>(to);
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t i = 0; i < count; ++i)
        for (int64_t lane = 0; lane < width; ++lane, ++target) {
          const int64_t channel = v * width + lane % (width / 2) * 2 + lane / (width / 2);
          *target = channel < channels ? values[channel * count + i] : 0.0f;
        }
  }

  panels::Depthwise compute;
  int64_t width;
  bool relu, relu6;
  int64_t channels, batch;
  Axis down{1, 1, 1, 1, 0, 0, 1}, across; // of sequences, the first has one element
  int64_t taps, vectors, parts;           // parts: of the channels of a line, that threads compute
  bool biased;
  ScratchLayout layout;
  OrderedFilter filter;
  library::Packed bias;
  size_t biasPlace = 0;
};

} // namespace

std::unique_ptr<Kernel> makeDepthwiseConvolution(const OpCall &call, const Convolution &c) {
  // Measured: the library's f32, conversions included, is faster with 49 taps, and with few or odd channels.
  constexpr int64_t mostTaps = 25, fewChannels = 16;
  if (c.out < fewChannels || operand(call, 0).dtype != DataType::BFloat16 || c.transposed || c.window.axes.size() > 2 ||
      c.groups != c.window.channels || c.out != c.groups)
    return nullptr;
  const DataType produced = result(call).dtype == DataType::BFloat16 ? DataType::BFloat16 : DataType::Float32;
  const std::string activation = activationOf(call);
  const Axis &across = c.window.axes.back();
  if (produced == DataType::BFloat16 && across.dilation == 1 &&
      (activation.empty() || activation == "relu" || activation == "relu6"))
    if (const auto lines = panels::findDepthwise(across.kernel, across.stride, c.out); lines.compute)
      return withEpilogue(call, std::make_unique<DepthwiseLines>(call, c, lines, activation), produced, {});
  if (usesBf16() || c.out % vector != 0 || c.window.area() > mostTaps)
    return nullptr;
  return withEpilogue(call, std::make_unique<DepthwiseConvolution>(call, c, produced, activation), produced, {});
}

} // namespace tt::ttnn
