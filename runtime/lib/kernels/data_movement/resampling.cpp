//===- resampling.cpp - upsample, group_norm, bitcast_convert, dropout -----===//
// SPDX-License-Identifier: Apache-2.0

#include "core/access.h"
#include "core/random.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>

namespace tt::ttnn {
namespace {

//===----------------------------------------------------------------------===//
// upsample
//===----------------------------------------------------------------------===//

/// Result position i along one dimension as a mean of two source positions.
struct Sample {
  int64_t low, high;
  float share; // of high
};

Sample nearest(int64_t i, int64_t, int64_t scale) { return {i / scale, i / scale, 0.0f}; }

/// Pixels are squares, so corners do not align: the center of pixel i is at i + 1/2.
Sample bilinear(int64_t i, int64_t size, int64_t scale) {
  const float at = std::max((static_cast<float>(i) + 0.5f) / static_cast<float>(scale) - 0.5f, 0.0f);
  const auto low = std::min(static_cast<int64_t>(at), size - 1);
  return {low, std::min(low + 1, size - 1), at - static_cast<float>(low)};
}

std::unique_ptr<Kernel> makeUpsample(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const auto *both = call.attributes.find<int64_t>("scale_factor");
  const std::vector<int64_t> scale = both ? std::vector<int64_t>{*both, *both} : integers(call, "scale_factor", 2, 1);
  const std::string mode = call.attributes.get<std::string>("mode", "nearest");
  const int64_t batch = in.shape[0], height = in.shape[1], width = in.shape[2], channels = in.shape[3];
  const int64_t rows = volume({height, scale[0]}), columns = volume({width, scale[1]});

  const bool copies = mode == "nearest";
  const auto sample = copies ? nearest : bilinear;
  const DataType produced = copies ? in.dtype : sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const RunCopy copy(in.dtype, in.dtype);
  const Load<float> load = loader<float>(in.dtype);
  const Store<float> store = storer<float>(produced);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(produced);
  constexpr int64_t chunk = 256;

  auto pixel = [=](const Buffers &buffers, int64_t image, int64_t y, int64_t x) {
    const Sample vertical = sample(y, height, scale[0]), horizontal = sample(x, width, scale[1]);
    auto source = [&](int64_t row, int64_t column) {
      return buffers.ins[0] + static_cast<size_t>(((image * height + row) * width + column) * channels) * inBytes;
    };
    std::byte *to = buffers.outs[0] + static_cast<size_t>(((image * rows + y) * columns + x) * channels) * outBytes;
    if (copies)
      return copy(source(vertical.low, horizontal.low), to, static_cast<size_t>(channels));
    alignas(64) float corner[4][chunk];
    for (int64_t c = 0; c < channels; c += chunk) {
      const auto n = static_cast<size_t>(std::min(chunk, channels - c));
      for (int k = 0; k < 4; ++k)
        load(source(k & 2 ? vertical.high : vertical.low, k & 1 ? horizontal.high : horizontal.low) +
                 static_cast<size_t>(c) * inBytes,
             corner[k], n);
      for (size_t i = 0; i < n; ++i) {
        // A difference of pixels could overflow, or be that of infinities.
        const auto between = [](float low, float high, float share) { return low * (1 - share) + high * share; };
        corner[0][i] = between(between(corner[0][i], corner[1][i], horizontal.share),
                               between(corner[2][i], corner[3][i], horizontal.share), vertical.share);
      }
      store(corner[0], to + static_cast<size_t>(c) * outBytes, n);
    }
  };
  auto run = [=](const Buffers &buffers) {
    parallelFor(batch * rows, 1 + 16384 / std::max<int64_t>(1, columns * channels), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t x = 0; x < columns; ++x)
          pixel(buffers, row / rows, row % rows, x);
    });
  };
  return roundedTo(out, produced, kernelOf(run));
}

//===----------------------------------------------------------------------===//
// group_norm
//===----------------------------------------------------------------------===//

/// Over the elements of one sample and one group of channels, the last dimension. The mask describes groups in the
/// tiles of the chip and changes no value.
std::unique_ptr<Kernel> makeGroupNorm(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const auto groups = call.attributes.get<int64_t>("num_groups");
  if (in.shape.size() < 2 || groups < 1 || in.shape.back() % groups != 0)
    fail(call, "operand 0 has shape " + toString(in.shape) + " and attribute 'num_groups' is " +
                   std::to_string(groups) + "; expected [N, ..., a multiple of the groups]");
  const int64_t channels = in.shape.back(), batch = in.shape[0], width = channels / groups;
  const int64_t rows = channels && batch ? volume(in.shape) / channels / batch : 0;
  for (size_t i : {2, 3})
    if (const TensorSpec *spec = optionalOperand(call, i); spec && volume(spec->shape) != channels)
      fail(call, "operand " + std::to_string(i) + " has shape " + toString(spec->shape) + "; expected " +
                     std::to_string(channels) + " elements");
  const double epsilon = call.attributes.get<double>("epsilon", 1e-12);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const Load<float> load = loader<float>(in.dtype);
  const Store<float> store = storer<float>(produced);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(produced);
  struct Vector {
    Load<float> load = nullptr;
    size_t bytes = 0;
  };
  auto vectorOf = [&](size_t i) {
    const TensorSpec *spec = optionalOperand(call, i);
    return spec ? Vector{loader<float>(spec->dtype), storageBytes(spec->dtype)} : Vector{};
  };
  const Vector weight = vectorOf(2), bias = vectorOf(3);
  constexpr int64_t chunk = 256;

  auto one = [=](const Buffers &buffers, int64_t sample, int64_t group) {
    alignas(64) float x[chunk], w[chunk], b[chunk];
    auto forEach = [&](auto f) {
      for (int64_t c = 0; c < width; c += chunk) {
        const auto n = static_cast<size_t>(std::min(chunk, width - c));
        for (int64_t row = 0; row < rows; ++row) {
          const auto at = static_cast<size_t>((sample * rows + row) * channels + group * width + c);
          load(buffers.ins[0] + at * inBytes, x, n);
          f(at, static_cast<size_t>(group * width + c), n, row == 0);
        }
      }
    };
    double sum = 0, squares = 0;
    forEach([&](size_t, size_t, size_t n, bool) {
      for (size_t i = 0; i < n; ++i)
        sum += x[i];
    });
    const double count = static_cast<double>(rows * width);
    const auto mean = static_cast<float>(sum / count);
    forEach([&](size_t, size_t, size_t n, bool) {
      for (size_t i = 0; i < n; ++i)
        squares += static_cast<double>(x[i] - mean) * (x[i] - mean);
    });
    const auto scale = static_cast<float>(1.0 / std::sqrt(squares / count + epsilon));
    std::fill_n(w, chunk, 1.0f);
    std::fill_n(b, chunk, 0.0f);
    forEach([&](size_t at, size_t channel, size_t n, bool first) {
      if (first && weight.load)
        weight.load(buffers.ins[2] + channel * weight.bytes, w, n);
      if (first && bias.load)
        bias.load(buffers.ins[3] + channel * bias.bytes, b, n);
      for (size_t i = 0; i < n; ++i)
        x[i] = (x[i] - mean) * scale * w[i] + b[i];
      store(x, buffers.outs[0] + at * outBytes, n);
    });
  };
  auto run = [=](const Buffers &buffers) {
    parallelFor(batch * groups, 1 + 8192 / std::max<int64_t>(1, rows * width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        one(buffers, i / groups, i % groups);
    });
  };
  return roundedTo(out, produced, kernelOf(run));
}

//===----------------------------------------------------------------------===//
// bitcast_convert, dropout
//===----------------------------------------------------------------------===//

/// The same bits as another type of the same size.
std::unique_ptr<Kernel> makeBitcast(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  if (sim::isBlockFormat(in.dtype) || sim::isBlockFormat(out.dtype) ||
      storageBytes(in.dtype) != storageBytes(out.dtype))
    fail(call, "the bits of a " + std::string(toString(in.dtype)) + " are not those of a " +
                   std::string(toString(out.dtype)) + "; expected types of the same size, none a block format");
  return aliasKernel(out.bytes());
}

/// The element's index decides, so the result does not depend on threads.
std::unique_ptr<Kernel> makeDropout(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const double probability = call.attributes.get<double>("prob", 0.0);
  if (!(probability >= 0 && probability <= 1))
    fail(call, "attribute 'prob' is " + std::to_string(probability) + "; expected 0 to 1");
  const auto scale = static_cast<float>(call.attributes.get<double>("scale", 1.0));
  const auto seed = static_cast<uint64_t>(call.attributes.get<int64_t>("seed", 0));
  const auto dropped = static_cast<uint64_t>(probability * 0x1p32);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const Load<float> load = loader<float>(in.dtype);
  const Store<float> store = storer<float>(produced);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(produced);
  const int64_t total = volume(in.shape);
  auto run = [=](const Buffers &buffers) {
    parallelFor(total, 16384, [&](int64_t begin, int64_t end) {
      constexpr int64_t chunk = 512;
      alignas(64) float x[chunk];
      for (int64_t i = begin; i < end; i += chunk) {
        const auto n = static_cast<size_t>(std::min(chunk, end - i)), at = static_cast<size_t>(i);
        load(buffers.ins[0] + at * inBytes, x, n);
        for (size_t j = 0; j < n; ++j)
          x[j] = (randomBits(seed, at + j) >> 32) < dropped ? 0.0f : x[j] * scale;
        store(x, buffers.outs[0] + at * outBytes, n);
      }
    });
  };
  return roundedTo(out, produced, kernelOf(run));
}

} // namespace

std::vector<OpInfo> resamplingOps() {
  return {
      {"ttnn.upsample", makeUpsample},
      {"ttnn.group_norm", makeGroupNorm},
      {"ttnn.bitcast_convert", makeBitcast},
      {"ttnn.dropout", makeDropout},
  };
}

} // namespace tt::ttnn
