//===- adamw.cpp - a step of AdamW, written in place ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"
#include "core/random.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tt::ttnn {
namespace {

/// Values of an operand, which are written back unless they are the gradient's.
struct Values {
  Values(const OpCall &call, size_t index) : index(index) {
    const TensorSpec *spec = optionalOperand(call, index);
    if (!spec)
      return;
    if (sim::isBlockFormat(spec->dtype))
      fail(call, "operand " + std::to_string(index) + " is of type " + std::string(toString(spec->dtype)) +
                     ", whose elements cannot be written alone; expected f32 or bf16");
    load = loader<float>(spec->dtype);
    store = storer<float>(spec->dtype);
    bytes = storageBytes(spec->dtype);
  }
  void read(const Buffers &buffers, size_t first, size_t n, float *to) const {
    load(buffers.ins[index] + first * bytes, to, n);
  }
  void write(const Buffers &buffers, size_t first, size_t n, const float *from) const {
    store(from, const_cast<std::byte *>(buffers.ins[index]) + first * bytes, n);
  }
  size_t index, bytes = 0;
  Load<float> load = nullptr;
  Store<float> store = nullptr;
};

/// A bf16, rounded up with the probability given by the truncated part.
float roundedAtRandom(float value, size_t element) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (!std::isfinite(value))
    return value;
  const auto noise = static_cast<uint32_t>(randomBits(bits, element) >> 48);
  return std::bit_cast<float>((bits + noise) & 0xffff0000U);
}

class AdamW final : public Kernel {
public:
  explicit AdamW(const OpCall &call)
      : count(volume(operand(call, 0).shape)), param(call, 0), grad(call, 1), average(call, 2), square(call, 3),
        largest(call, 4), beta1(number(call, "beta1")), beta2(number(call, "beta2")),
        decay(static_cast<float>(1 - number(call, "lr") * number(call, "weight_decay"))),
        step(static_cast<float>(number(call, "lr") / (1 - number(call, "beta1_pow")))),
        correction(static_cast<float>(1 / (1 - number(call, "beta2_pow")))),
        epsilon(static_cast<float>(number(call, "epsilon"))),
        isRandom(call.attributes.get<bool>("stochastic_rounding", false) &&
                 operand(call, 0).dtype == DataType::BFloat16) {}

  void run(const Buffers &buffers) const override {
    parallelFor((count + chunk - 1) / chunk, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * chunk; i < std::min(end * chunk, count); i += chunk)
        part(buffers, static_cast<size_t>(i), static_cast<size_t>(std::min(chunk, count - i)));
    });
  }

private:
  void part(const Buffers &buffers, size_t first, size_t n) const {
    alignas(64) float p[chunk], g[chunk], m[chunk], v[chunk], most[chunk];
    param.read(buffers, first, n, p);
    grad.read(buffers, first, n, g);
    average.read(buffers, first, n, m);
    square.read(buffers, first, n, v);
    const auto b1 = static_cast<float>(beta1), rest1 = static_cast<float>(1 - beta1);
    const auto b2 = static_cast<float>(beta2), rest2 = static_cast<float>(1 - beta2);
    for (size_t i = 0; i < n; ++i) {
      m[i] = b1 * m[i] + rest1 * g[i];
      v[i] = b2 * v[i] + rest2 * g[i] * g[i];
    }
    average.write(buffers, first, n, m);
    square.write(buffers, first, n, v);
    if (largest.load) {
      largest.read(buffers, first, n, most);
      for (size_t i = 0; i < n; ++i) // NaN stays, as in maximum
        v[i] = most[i] > v[i] || std::isnan(most[i]) ? most[i] : v[i];
      largest.write(buffers, first, n, v);
    }
    for (size_t i = 0; i < n; ++i)
      p[i] = p[i] * decay - step * m[i] / (std::sqrt(v[i] * correction) + epsilon);
    if (isRandom)
      for (size_t i = 0; i < n; ++i)
        p[i] = roundedAtRandom(p[i], first + i);
    param.write(buffers, first, n, p);
  }

  static constexpr int64_t chunk = 512;
  int64_t count;
  Values param, grad, average, square, largest;
  double beta1, beta2;
  float decay, step, correction, epsilon;
  bool isRandom;
};

std::unique_ptr<Kernel> makeAdamW(const OpCall &call) { return std::make_unique<AdamW>(call); }

} // namespace

std::vector<OpInfo> optimizerOps() { return {{"ttnn.adamw", makeAdamW, nullptr, {0, 2, 3, 4}}}; }

} // namespace tt::ttnn
