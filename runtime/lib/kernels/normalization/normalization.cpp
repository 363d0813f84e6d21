//===- normalization.cpp - softmax, batch, layer and rms norms ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Statistics are sums in double in a fixed order, centered before squaring.
//
//===----------------------------------------------------------------------===//

#include "kernels/normalization/normalization.h"
#include "kernels/normalization/softmax.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>

namespace tt::ttnn {
namespace {

constexpr size_t chunk = 1024;

//===----------------------------------------------------------------------===//
// Batch norm: [N, C, ...], statistics over all dimensions but C
//===----------------------------------------------------------------------===//

class BatchNorm final : public Kernel {
public:
  BatchNorm(const OpCall &call, bool training, DataType produced)
      : in(operand(call, 0)), channels(in.shape[1]), training(training),
        epsilon(call.attributes.get<double>("epsilon", 1e-5)), momentum(call.attributes.get<double>("momentum", 0.1)),
        mean(call, 1, channels, 0.0f, "running_mean"), variance(call, 2, channels, 1.0f, "running_var"),
        weight(call, 3, channels, 1.0f, "weight"), bias(call, 4, channels, 0.0f, "bias"), load(loader<float>(in.dtype)),
        store(storer<float>(produced)), inBytes(storageBytes(in.dtype)), outBytes(storageBytes(produced)) {
    for (size_t d = 2; d < in.shape.size(); ++d)
      plane *= static_cast<size_t>(in.shape[d]);
  }

  void run(const Buffers &buffers) const override {
    const auto work = static_cast<int64_t>(plane) * in.shape[0];
    parallelFor(channels, 1 + 16384 / std::max<int64_t>(1, work), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        channel(buffers, static_cast<size_t>(c));
    });
  }

private:
  /// Calls f(values, n, position) for the runs of a channel.
  template <class F> void forEachRun(const Buffers &buffers, size_t c, F f) const {
    alignas(64) float buffer[chunk];
    for (int64_t image = 0; image < in.shape[0]; ++image)
      for (size_t i = 0; i < plane; i += chunk) {
        const size_t n = std::min(chunk, plane - i);
        const size_t place = (static_cast<size_t>(image * channels) + c) * plane + i;
        load(buffers.ins[0] + place * inBytes, buffer, n);
        f(buffer, n, place);
      }
  }

  void channel(const Buffers &buffers, size_t c) const {
    double centre, spread;
    if (training) {
      const auto count = static_cast<double>(plane) * static_cast<double>(in.shape[0]);
      double sum = 0, squares = 0;
      forEachRun(buffers, c, [&](const float *x, size_t n, size_t) { sum += sumOf(x, n, [](float v) { return v; }); });
      centre = sum / count;
      const auto shift = static_cast<float>(centre);
      forEachRun(buffers, c, [&](const float *x, size_t n, size_t) {
        squares += sumOf(x, n, [shift](float v) { return (v - shift) * (v - shift); });
      });
      spread = squares / count;
      // The chip's library keeps the variance of the batch itself, not the unbiased estimate.
      auto update = [&](const NormParameter &running, double value) {
        if (running)
          running.write(buffers, c, static_cast<float>((1 - momentum) * running.at(buffers, c) + momentum * value));
      };
      update(mean, centre);
      update(variance, spread);
    } else {
      centre = mean.at(buffers, c);
      spread = variance.at(buffers, c);
    }
    const double factor = weight.at(buffers, c) / std::sqrt(spread + epsilon);
    const auto scale = static_cast<float>(factor);
    const auto middle = static_cast<float>(centre);
    const float offset = bias.at(buffers, c);
    forEachRun(buffers, c, [&](float *x, size_t n, size_t place) {
      for (size_t i = 0; i < n; ++i)
        x[i] = (x[i] - middle) * scale + offset;
      store(x, buffers.outs[0] + place * outBytes, n);
    });
  }

  TensorSpec in;
  int64_t channels;
  bool training;
  double epsilon, momentum;
  NormParameter mean, variance, weight, bias;
  Load<float> load;
  Store<float> store;
  size_t inBytes, outBytes, plane = 1;
};

std::unique_ptr<Kernel> makeBatchNorm(const OpCall &call, bool training) {
  const TensorSpec &out = result(call);
  if (training)
    for (size_t i : {1, 2})
      if (const TensorSpec *running = optionalOperand(call, i); running && sim::isBlockFormat(running->dtype))
        fail(call, "operand " + std::to_string(i) + " is of type " + std::string(toString(running->dtype)) +
                       ", whose elements cannot be written alone; expected f32 or bf16");
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  return roundedTo(out, produced, std::make_unique<BatchNorm>(call, training, produced));
}

std::unique_ptr<Kernel> makeBatchNormTraining(const OpCall &call) { return makeBatchNorm(call, true); }
std::unique_ptr<Kernel> makeBatchNormInference(const OpCall &call) { return makeBatchNorm(call, false); }

//===----------------------------------------------------------------------===//
// Layer and rms norm: over the last dimension
//===----------------------------------------------------------------------===//

class RowNorm final : public Kernel {
public:
  RowNorm(const OpCall &call, bool centred)
      : length(static_cast<size_t>(operand(call, 0).shape.back())),
        rows(length ? volume(operand(call, 0).shape) / operand(call, 0).shape.back() : 0), centred(centred),
        epsilon(call.attributes.get<double>("epsilon", 1e-12)),
        weight(call, 1, static_cast<int64_t>(length), 1.0f, "weight"),
        bias(call, 2, static_cast<int64_t>(length), 0.0f, "bias"), load(loader<float>(operand(call, 0).dtype)),
        store(storer<float>(result(call).dtype)), inBytes(storageBytes(operand(call, 0).dtype)),
        outBytes(storageBytes(result(call).dtype)) {}

  void run(const Buffers &buffers) const override {
    parallelFor(rows, static_cast<int64_t>(1 + 8192 / std::max<size_t>(1, length)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        one(buffers, static_cast<size_t>(row) * length);
    });
  }

private:
  void one(const Buffers &buffers, size_t at) const {
    // A row that fits stays in the first-level cache, instead of being read from the operand for each pass.
    alignas(64) float x[row], w[chunk], b[chunk];
    const bool fits = length <= row;
    const size_t piece = fits ? row : chunk;
    if (fits)
      load(buffers.ins[0] + at * inBytes, x, length);
    auto forEach = [&](auto f) {
      for (size_t i = 0; i < length; i += piece) {
        const size_t n = std::min(piece, length - i);
        if (!fits)
          load(buffers.ins[0] + (at + i) * inBytes, x, n);
        f(i, n);
      }
    };
    double sum = 0, squares = 0;
    if (centred)
      forEach([&](size_t, size_t n) { sum += sumOf(x, n, [](float v) { return v; }); });
    const auto mean = static_cast<float>(sum / static_cast<double>(length));
    forEach([&](size_t, size_t n) { squares += sumOf(x, n, [mean](float v) { return (v - mean) * (v - mean); }); });
    const auto scale = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(length) + epsilon));
    for (size_t i = 0; i < length; i += chunk) {
      const size_t n = std::min(chunk, length - i);
      float *const values = fits ? x + i : x;
      if (!fits)
        load(buffers.ins[0] + (at + i) * inBytes, x, n);
      weight.read(buffers, i, n, w);
      bias.read(buffers, i, n, b);
#pragma clang loop vectorize(assume_safety)
      for (size_t j = 0; j < n; ++j)
        values[j] = (values[j] - mean) * scale * w[j] + b[j];
      store(values, buffers.outs[0] + (at + i) * outBytes, n);
    }
  }

  static constexpr size_t row = 8192;
  size_t length;
  int64_t rows;
  bool centred;
  double epsilon;
  NormParameter weight, bias;
  Load<float> load;
  Store<float> store;
  size_t inBytes, outBytes;
};

std::unique_ptr<Kernel> makeRowNorm(const OpCall &call, bool centred) {
  return std::make_unique<RowNorm>(call, centred);
}

std::unique_ptr<Kernel> makeLayerNorm(const OpCall &call) { return makeRowNorm(call, true); }
std::unique_ptr<Kernel> makeRmsNorm(const OpCall &call) { return makeRowNorm(call, false); }

} // namespace

std::vector<OpInfo> normalizationOps() {
  return {
      {"ttnn.softmax", makeSoftmax},
      // running_mean and running_var are updated in place.
      {"ttnn.batch_norm_training", makeBatchNormTraining, nullptr, {1, 2}},
      {"ttnn.batch_norm_inference", makeBatchNormInference},
      {"ttnn.layer_norm", makeLayerNorm},
      {"ttnn.rms_norm", makeRmsNorm},
  };
}

} // namespace tt::ttnn
