//===- attention.cpp - attention of a training step, and its gradients ------===//
// SPDX-License-Identifier: Apache-2.0
//
// A task is a key head of a batch, with all query heads that share it, so that gradients of keys and values have one
// writer. Rows are computed one by one in f32: this serves the correctness of programs; training on the host has other
// means.
//
//===----------------------------------------------------------------------===//

#include "core/op.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tt::ttnn {
namespace {

// Columns of intermediates: 64 for the largest score and the reciprocal of the sum, or 32 for the logarithm of the sum.
constexpr int64_t statistics = 64;
constexpr float hidden = 1e9F; // what a mask of 0 takes from a score

/// An operand as floats.
class Floats {
public:
  Floats(const OpCall &call, size_t index) : index(index) {
    const TensorSpec *spec = optionalOperand(call, index);
    if (!spec)
      return;
    load = loader<float>(spec->dtype);
    bytes = storageBytes(spec->dtype);
  }
  explicit operator bool() const { return load != nullptr; }
  void read(const Buffers &buffers, int64_t first, int64_t n, float *to) const {
    load(buffers.ins[index] + static_cast<size_t>(first) * bytes, to, static_cast<size_t>(n));
  }
  std::vector<float> read(const Buffers &buffers, int64_t first, int64_t n) const {
    std::vector<float> values(static_cast<size_t>(n));
    read(buffers, first, n, values.data());
    return values;
  }

private:
  size_t index, bytes = 0;
  Load<float> load = nullptr;
};

/// A result computed from floats.
class Written {
public:
  Written(const OpCall &call, size_t index)
      : index(index), store(storer<float>(result(call, index).dtype)), bytes(storageBytes(result(call, index).dtype)) {
    if (sim::isBlockFormat(result(call, index).dtype))
      fail(call, "result " + std::to_string(index) + " is of type " + std::string(toString(result(call, index).dtype)) +
                     "; expected f32 or bf16");
  }
  void write(const Buffers &buffers, int64_t first, const float *from, int64_t n) const {
    store(from, buffers.outs[index] + static_cast<size_t>(first) * bytes, static_cast<size_t>(n));
  }

private:
  size_t index;
  Store<float> store;
  size_t bytes;
};

float dot(const float *a, const float *b, int64_t n) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

void addScaled(const float *from, float factor, float *to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i] += factor * from[i];
}

/// The common parts of both directions; `first` is the query operand.
struct Scores {
  Scores(const OpCall &call, size_t first, size_t maskIndex)
      : query(call, first), key(call, first + 1), value(call, first + 2), mask(call, maskIndex) {
    const Shape &q = operand(call, first).shape, &k = operand(call, first + 1).shape;
    batch = q[0], heads = q[1], rows = q[2], size = q[3], keyHeads = k[1], columns = k[2];
    if (const double dropout = call.attributes.get<double>("dropout_probability", 0); dropout != 0)
      fail(call, "attribute 'dropout_probability' is " + std::to_string(dropout) +
                     "; expected 0, as dropout in attention is not supported");
    const auto *kind = call.attributes.find<EnumAttribute>("mask_type");
    causal = kind && kind->symbol == "causal";
    scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
    const TensorSpec *spec = optionalOperand(call, maskIndex);
    for (int64_t d = 3, stride = 1; d >= 0 && spec; --d) {
      const int64_t extent = spec->shape[static_cast<size_t>(d)];
      maskStrides[d] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }

  int64_t groups() const { return heads / keyHeads; }
  int64_t tasks() const { return batch * keyHeads; }
  /// Keys that a row sees.
  int64_t seen(int64_t row) const { return causal ? std::min(columns, row + 1) : columns; }

  /// Scores of a row of head `head` of all, [batch * heads], with its keys.
  void compute(const Buffers &buffers, const float *q, const float *keys, int64_t head, int64_t row, float *to) const {
    const int64_t n = seen(row),
                  line = head / heads * maskStrides[0] + head % heads * maskStrides[1] + row * maskStrides[2];
    for (int64_t j = 0; j < n; ++j) {
      to[j] = scale * dot(q, keys + j * size, size);
      if (!mask)
        continue;
      float visible;
      mask.read(buffers, line + j * maskStrides[3], 1, &visible);
      to[j] += (visible - 1) * hidden;
    }
  }

  Floats query, key, value, mask;
  int64_t batch, heads, rows, size, keyHeads, columns;
  int64_t maskStrides[4] = {};
  bool causal = false;
  float scale = 1;
};

std::unique_ptr<Kernel> makeForward(const OpCall &call) {
  const Scores scores(call, 0, 3);
  const Written out(call, 0);
  std::optional<Written> kept;
  int64_t width = 0;
  if (call.outs.size() > 1) {
    kept.emplace(call, 1);
    width = result(call, 1).shape[3];
  }
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(scores.tasks(), 1, [&](int64_t begin, int64_t end) {
      const int64_t size = scores.size, matrix = scores.columns * size;
      std::vector<float> q(static_cast<size_t>(size)), sum(q), s(static_cast<size_t>(scores.columns));
      for (int64_t task = begin; task < end; ++task) {
        const std::vector<float> keys = scores.key.read(buffers, task * matrix, matrix);
        const std::vector<float> values = scores.value.read(buffers, task * matrix, matrix);
        for (int64_t line = 0; line < scores.groups() * scores.rows; ++line) {
          const int64_t head = task * scores.groups() + line / scores.rows, row = line % scores.rows;
          const int64_t at = head * scores.rows + row, n = scores.seen(row);
          scores.query.read(buffers, at * size, size, q.data());
          scores.compute(buffers, q.data(), keys.data(), head, row, s.data());
          float largest = -std::numeric_limits<float>::infinity(), total = 0;
          for (int64_t j = 0; j < n; ++j)
            largest = s[static_cast<size_t>(j)] > largest ? s[static_cast<size_t>(j)] : largest;
          std::fill(sum.begin(), sum.end(), 0.0F);
          for (int64_t j = 0; j < n; ++j) {
            const float chance = std::exp(s[static_cast<size_t>(j)] - largest);
            total += chance;
            addScaled(values.data() + j * size, chance, sum.data(), size);
          }
          const float reciprocal = 1 / total;
          for (float &each : sum)
            each *= reciprocal;
          out.write(buffers, at * size, sum.data(), size);
          if (kept) {
            float line64[statistics] = {};
            if (width == statistics)
              line64[0] = largest, line64[statistics / 2] = reciprocal;
            else
              line64[0] = largest + std::log(total);
            kept->write(buffers, at * width, line64, width);
          }
        }
      }
    });
  });
}

/// Computes, with probabilities p of a row and gradient g of its result o: dv += p g, ds = p (g . v - g . o), dq = ds
/// k, dk += ds q.
std::unique_ptr<Kernel> makeBackward(const OpCall &call) {
  const Scores scores(call, 2, 6);
  const Floats gradient(call, 0), output(call, 1), kept(call, 5);
  const int64_t width = operand(call, 5).shape[3];
  const Written toQuery(call, 0), toKey(call, 1), toValue(call, 2);
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(scores.tasks(), 1, [&](int64_t begin, int64_t end) {
      const int64_t size = scores.size, matrix = scores.columns * size;
      std::vector<float> q(static_cast<size_t>(size)), g(q), o(q), dq(q), s(static_cast<size_t>(scores.columns));
      for (int64_t task = begin; task < end; ++task) {
        const std::vector<float> keys = scores.key.read(buffers, task * matrix, matrix);
        const std::vector<float> values = scores.value.read(buffers, task * matrix, matrix);
        std::vector<float> dk(static_cast<size_t>(matrix)), dv(dk);
        for (int64_t line = 0; line < scores.groups() * scores.rows; ++line) {
          const int64_t head = task * scores.groups() + line / scores.rows, row = line % scores.rows;
          const int64_t at = head * scores.rows + row, n = scores.seen(row);
          scores.query.read(buffers, at * size, size, q.data());
          gradient.read(buffers, at * size, size, g.data());
          output.read(buffers, at * size, size, o.data());
          scores.compute(buffers, q.data(), keys.data(), head, row, s.data());
          float line64[statistics];
          kept.read(buffers, at * width, width, line64);
          const float reciprocal = width == statistics ? line64[statistics / 2] : 1.0F;
          const float common = dot(g.data(), o.data(), size);
          std::fill(dq.begin(), dq.end(), 0.0F);
          for (int64_t j = 0; j < n; ++j) {
            const float chance = std::exp(s[static_cast<size_t>(j)] - line64[0]) * reciprocal;
            const float ds = scores.scale * chance * (dot(g.data(), values.data() + j * size, size) - common);
            addScaled(g.data(), chance, dv.data() + j * size, size);
            addScaled(q.data(), ds, dk.data() + j * size, size);
            addScaled(keys.data() + j * size, ds, dq.data(), size);
          }
          toQuery.write(buffers, at * size, dq.data(), size);
        }
        toKey.write(buffers, task * matrix, dk.data(), matrix);
        toValue.write(buffers, task * matrix, dv.data(), matrix);
      }
    });
  });
}

} // namespace

std::vector<OpInfo> attentionTrainingOps() {
  return {
      {"ttnn.sdpa_fw", makeForward},
      {"ttnn.sdpa_bw", makeBackward},
  };
}

} // namespace tt::ttnn
