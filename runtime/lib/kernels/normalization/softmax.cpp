//===- softmax.cpp - ttnn.softmax --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Always the stable form: numericStable selects a slower path on the chip, and the other form gains nothing here.
//
//===----------------------------------------------------------------------===//

#include "kernels/normalization/softmax.h"
#include "core/scalars.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <limits>

namespace tt::ttnn {
namespace {

constexpr int lanes = 16;
constexpr float lowest = -std::numeric_limits<float>::infinity();

/// NaN is ignored here: the sum of the exponentials propagates it.
float maximumOf(const float *x, size_t n, float start) {
  alignas(64) float lane[lanes];
  std::fill_n(lane, lanes, start);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma clang loop vectorize(assume_safety)
    for (int l = 0; l < lanes; ++l)
      lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
  for (int l = 0; i < n; ++i, ++l)
    lane[l] = x[i] > lane[l] ? x[i] : lane[l];
  return *std::max_element(lane, lane + lanes);
}

/// x = e^(x - offset), in place; returns the sum, in one order.
double exponentials(float *x, size_t n, float offset) {
  alignas(64) float lane[lanes] = {};
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma clang loop vectorize(assume_safety)
    for (int l = 0; l < lanes; ++l) {
      const float e = scalars::exp(x[i + l] - offset);
      x[i + l] = e;
      lane[l] += e;
    }
  for (int l = 0; i < n; ++i, ++l)
    lane[l] += x[i] = scalars::exp(x[i] - offset);
  double sum = 0;
  for (float part : lane)
    sum += part;
  return sum;
}

/// Along the last dimension; a row that is longer than the buffer is read three times.
class RowSoftmax final : public Kernel {
public:
  RowSoftmax(const TensorSpec &in, const TensorSpec &out)
      : length(static_cast<size_t>(in.shape.back())), rows(length ? volume(in.shape) / in.shape.back() : 0),
        load(loader<float>(in.dtype)), store(storer<float>(out.dtype)), inBytes(storageBytes(in.dtype)),
        outBytes(storageBytes(out.dtype)) {}

  void run(const Buffers &buffers) const override {
    parallelFor(rows, static_cast<int64_t>(1 + 8192 / std::max<size_t>(1, length)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        one(buffers.ins[0] + static_cast<size_t>(row) * length * inBytes,
            buffers.outs[0] + static_cast<size_t>(row) * length * outBytes);
    });
  }

private:
  static constexpr size_t chunk = 8192; // 32 KiB
  void one(const std::byte *from, std::byte *to) const {
    alignas(64) float buffer[chunk];
    const bool fits = length <= chunk;
    auto forEach = [&](auto f) {
      for (size_t i = 0; i < length; i += chunk) {
        const size_t n = std::min(chunk, length - i);
        load(from + i * inBytes, buffer, n);
        f(i, n);
      }
    };
    float top = lowest;
    forEach([&](size_t, size_t n) { top = maximumOf(buffer, n, top); });
    double sum = 0;
    if (fits)
      sum = exponentials(buffer, length, top);
    else
      forEach([&](size_t, size_t n) { sum += exponentials(buffer, n, top); });
    const auto scale = static_cast<float>(1.0 / sum);
    auto finish = [&](size_t i, size_t n) {
      for (size_t j = 0; j < n; ++j)
        buffer[j] *= scale;
      store(buffer, to + i * outBytes, n);
    };
    if (fits)
      return finish(0, length);
    forEach([&](size_t i, size_t n) {
      exponentials(buffer, n, top);
      finish(i, n);
    });
  }
  size_t length;
  int64_t rows;
  Load<float> load;
  Store<float> store;
  size_t inBytes, outBytes;
};

/// Along another dimension: adjacent columns together.
class ColumnSoftmax final : public Kernel {
public:
  ColumnSoftmax(const TensorSpec &in, DataType produced, size_t dim)
      : length(in.shape[dim]), load(loader<float>(in.dtype)), store(storer<float>(produced)),
        inBytes(storageBytes(in.dtype)), outBytes(storageBytes(produced)) {
    for (size_t d = 0; d < in.shape.size(); ++d)
      (d < dim ? outer : d > dim ? inner : unused) *= in.shape[d];
    blocks = (inner + width - 1) / width;
  }

  void run(const Buffers &buffers) const override {
    parallelFor(outer * blocks, 1 + 8192 / std::max<int64_t>(1, length * width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i % blocks * width;
        one(buffers, i / blocks * length * inner + column, std::min(width, inner - column));
      }
    });
  }

private:
  static constexpr int64_t width = 128;
  void one(const Buffers &buffers, int64_t at, int64_t count) const {
    const auto n = static_cast<size_t>(count);
    alignas(64) float value[width], top[width], partial[width];
    alignas(64) double sum[width] = {};
    std::fill_n(top, n, lowest);
    auto row = [&](int64_t i) { load(buffers.ins[0] + static_cast<size_t>(at + i * inner) * inBytes, value, n); };
    for (int64_t i = 0; i < length; ++i) {
      row(i);
      for (size_t c = 0; c < n; ++c)
        top[c] = value[c] > top[c] || value[c] != value[c] ? value[c] : top[c];
    }
    for (int64_t i = 0; i < length;) {
      std::fill_n(partial, n, 0.0f);
      for (const int64_t end = std::min(length, i + 64); i < end; ++i) {
        row(i);
        for (size_t c = 0; c < n; ++c)
          partial[c] += scalars::exp(value[c] - top[c]);
      }
      for (size_t c = 0; c < n; ++c)
        sum[c] += partial[c];
    }
    for (size_t c = 0; c < n; ++c)
      partial[c] = static_cast<float>(1.0 / sum[c]);
    for (int64_t i = 0; i < length; ++i) {
      row(i);
      for (size_t c = 0; c < n; ++c)
        value[c] = scalars::exp(value[c] - top[c]) * partial[c];
      store(value, buffers.outs[0] + static_cast<size_t>(at + i * inner) * outBytes, n);
    }
  }
  int64_t length, outer = 1, inner = 1, unused = 1, blocks = 0;
  Load<float> load;
  Store<float> store;
  size_t inBytes, outBytes;
};

} // namespace

std::unique_ptr<Kernel> makeSoftmax(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const auto dim = static_cast<size_t>(dimension(call, "dimension", in.shape.size()));
  if (dim + 1 == in.shape.size())
    return std::make_unique<RowSoftmax>(in, out);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  return roundedTo(out, produced, std::make_unique<ColumnSoftmax>(in, produced, dim));
}

} // namespace tt::ttnn
