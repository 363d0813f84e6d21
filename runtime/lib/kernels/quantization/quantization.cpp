//===- quantization.cpp - ttnn.quantize, dequantize, requantize ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// integer = round(value / scale) + zero point, ties to even; one scale and zero
// point for all, or one for each index of `axis`.
//
//===----------------------------------------------------------------------===//

#include "core/op.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tt::ttnn {
namespace {

/// A scale or a zero point: its values, and the one for each element.
struct Parameter {
  size_t operand, bytes;
  Load<float> load;
  bool single;
  float at(const Buffers &buffers, int64_t index) const {
    float value;
    load(buffers.ins[operand] + (single ? 0 : static_cast<size_t>(index) * bytes), &value, 1);
    return value;
  }
};

/// Elements [o, i, n], of which all with the same i share their parameters.
struct Slices {
  int64_t outer = 1, length = 1, inner = 1;
};

Slices slicesOf(const OpCall &call) {
  const Shape &shape = operand(call, 0).shape;
  Slices slices;
  if (!call.attributes.find<int64_t>("axis")) {
    slices.inner = volume(shape);
    return slices;
  }
  const auto axis = static_cast<size_t>(dimension(call, "axis", shape.size()));
  slices.length = shape[axis];
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != axis)
      (d < axis ? slices.outer : slices.inner) *= shape[d];
  return slices;
}

Parameter parameterOf(const OpCall &call, size_t index) {
  const TensorSpec &spec = operand(call, index);
  return {index, storageBytes(spec.dtype), loader<float>(spec.dtype), volume(spec.shape) == 1};
}

/// f(values, n, parameters) over runs that share their parameters, and rounding to the result.
template <size_t count, class F> std::unique_ptr<Kernel> makeQuantization(const OpCall &call, F f) {
  const Slices slices = slicesOf(call);
  std::array<Parameter, count> parameters;
  for (size_t i = 0; i < count; ++i)
    parameters[i] = parameterOf(call, i + 1);
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const Load<float> load = loader<float>(in.dtype);
  const Store<float> store = storer<float>(produced);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(produced);
  constexpr int64_t chunk = 1024;
  const int64_t pieces = (slices.inner + chunk - 1) / chunk;
  auto run = [=](const Buffers &buffers) {
    parallelFor(slices.outer * slices.length * pieces, 1 + 16384 / std::min(chunk, slices.inner + 1),
                [&](int64_t begin, int64_t end) {
                  alignas(64) float values[chunk];
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t slice = i / pieces, from = i % pieces * chunk;
                    const auto n = static_cast<size_t>(std::min(chunk, slices.inner - from));
                    const auto at = static_cast<size_t>(slice * slices.inner + from);
                    std::array<float, count> p;
                    for (size_t k = 0; k < count; ++k)
                      p[k] = parameters[k].at(buffers, slice % slices.length);
                    load(buffers.ins[0] + at * inBytes, values, n);
                    f(values, n, p);
                    store(values, buffers.outs[0] + at * outBytes, n);
                  }
                });
  };
  return roundedTo(out, produced, kernelOf(run));
}

float quantized(float value, float scale, float zeroPoint) { return std::nearbyint(value / scale) + zeroPoint; }

std::unique_ptr<Kernel> makeQuantize(const OpCall &call) {
  return makeQuantization<2>(call, [](float *x, size_t n, const std::array<float, 2> &p) {
    for (size_t i = 0; i < n; ++i)
      x[i] = quantized(x[i], p[0], p[1]);
  });
}
std::unique_ptr<Kernel> makeDequantize(const OpCall &call) {
  return makeQuantization<2>(call, [](float *x, size_t n, const std::array<float, 2> &p) {
    for (size_t i = 0; i < n; ++i)
      x[i] = (x[i] - p[1]) * p[0];
  });
}
std::unique_ptr<Kernel> makeRequantize(const OpCall &call) {
  return makeQuantization<4>(call, [](float *x, size_t n, const std::array<float, 4> &p) {
    for (size_t i = 0; i < n; ++i)
      x[i] = quantized((x[i] - p[1]) * p[0], p[2], p[3]);
  });
}

} // namespace

std::vector<OpInfo> quantizationOps() {
  return {
      {"ttnn.quantize", makeQuantize},
      {"ttnn.dequantize", makeDequantize},
      {"ttnn.requantize", makeRequantize},
  };
}

} // namespace tt::ttnn
