//===- attention.cpp - scaled dot product attention -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Handles few rows, as in a decoding step, and machines without the units of panels: two products of the matmul kernel
// with a masked softmax between them, for as many heads at a time as keeps the scores in cache. The query heads that
// share a key/value head are rows of one matrix, so nothing is repeated for them. panels.cpp handles many rows.
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/attention.h"

#include "core/scalars.h"
#include "tensor/storage.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tt::ttnn {
namespace {

void readKeys(const OpCall &call, Attention &a) {
  const Shape &key = operand(call, 1).shape, &value = operand(call, 2).shape;
  a.keyHeads = key[1];
  a.columns = key[2];
  a.valueSize = value[3];
  for (size_t i : {0, 1, 2})
    if (isInteger(operand(call, i).dtype))
      fail(call, "operand " + std::to_string(i) + " is of type " + std::string(toString(operand(call, i).dtype)) +
                     "; expected floats");
  a.scale = call.attributes.find<double>("scale") ? call.attributes.get<double>("scale")
                                                  : 1.0 / std::sqrt(static_cast<double>(a.size));
}

void readMask(const OpCall &call, Attention &a, const std::vector<size_t> &order) {
  const TensorSpec *mask = optionalOperand(call, a.maskIndex);
  if (!mask)
    return;
  std::vector<int64_t> strides(4);
  int64_t stride = 1;
  for (size_t d = 4; d-- > 0; stride *= mask->shape[d])
    strides[d] = mask->shape[d] == 1 ? 0 : stride;
  for (size_t d : order)
    a.maskStrides.push_back(strides[d]);
}

Attention prefillOf(const OpCall &call) {
  const Shape &query = operand(call, 0).shape;
  Attention a{};
  a.batch = query[0], a.heads = query[1], a.rows = query[2], a.size = query[3];
  a.maskIndex = 3, a.sinkIndex = 4;
  readKeys(call, a);
  readMask(call, a, {0, 1, 2, 3});
  a.causal = call.attributes.get<bool>("is_causal", true);
  a.centred = !a.causal;
  a.window = call.attributes.get<int64_t>("sliding_window_size", 0);
  return a;
}

/// One new row for each user: the query is [1, batch, heads, size], the mask [batch, 1, heads, columns]. The row's own
/// column is that of its position, else the last one. As in the library, the scale multiplies the sum of scores and
/// mask, and the sink.
Attention decodeOf(const OpCall &call) {
  const Shape &query = operand(call, 0).shape;
  Attention a{};
  a.batch = query[1], a.heads = query[2], a.rows = 1, a.size = query[3];
  a.maskIndex = 3, a.sinkIndex = 5;
  readKeys(call, a);
  readMask(call, a, {0, 2, 1, 3});
  a.scalesExtras = true;
  a.firstPosition = a.columns - 1;
  if (optionalOperand(call, 4) && call.attributes.get<bool>("is_causal", true))
    a.positionIndex = 4;
  a.window = call.attributes.get<int64_t>("sliding_window_size", 0);
  return a;
}

TensorSpec plainSpec(DataType type, Shape shape) {
  TensorSpec spec;
  spec.dtype = type;
  spec.shape = std::move(shape);
  return spec;
}

/// The kernel of a product of some heads.
std::unique_ptr<Kernel> product(const OpCall &call, const TensorSpec &a, const TensorSpec &b, const TensorSpec &c,
                                bool transposed) {
  OpCall matmul;
  matmul.name = "ttnn.matmul";
  matmul.ins = {a, b};
  matmul.outs = {c};
  matmul.attributes = Attributes(matmul.name, {{"transpose_b", {transposed}}});
  matmul.meshShape = call.meshShape;
  return findOp(matmul.name)->make(matmul);
}

class AttentionKernel final : public Kernel {
public:
  AttentionKernel(const OpCall &call, const Attention &attention) : a(attention), visible(call, attention) {
    const TensorSpec &query = operand(call, 0), &key = operand(call, 1), &value = operand(call, 2);
    const TensorSpec &out = result(call);
    probabilityType = storageType(value.dtype) == StorageType::BF16 ? DataType::BFloat16 : DataType::Float32;
    const int64_t matrix = a.groups() * a.rows, all = a.batch * a.keyHeads;
    constexpr int64_t cache = 1 << 20; // scores at a time, in elements
    together = std::clamp<int64_t>(cache / std::max<int64_t>(1, matrix * a.columns), 1, std::max<int64_t>(1, all));
    while (all % together != 0)
      --together;
    steps = all / together;

    const TensorSpec scores = plainSpec(DataType::Float32, {together, matrix, a.columns});
    TensorSpec chances = scores;
    chances.dtype = probabilityType;
    const TensorSpec queries = plainSpec(query.dtype, {together, matrix, a.size});
    const TensorSpec keys = plainSpec(key.dtype, {together, a.columns, a.size});
    const TensorSpec values = plainSpec(value.dtype, {together, a.columns, a.valueSize});
    const TensorSpec results = plainSpec(out.dtype, {together, matrix, a.valueSize});
    first = product(call, queries, keys, scores, true);
    second = product(call, chances, values, results, false);
    queryStep = queries.bytes(), keyStep = keys.bytes(), valueStep = values.bytes(), resultStep = results.bytes();
    ScratchLayout layout;
    scorePlace = layout.take(scores.bytes());
    chancePlace = probabilityType == DataType::Float32 ? scorePlace : layout.take(chances.bytes());
    innerPlace = layout.take(std::max(first->scratchBytes(), second->scratchBytes()));
    scratch = layout.bytes();

    store = storer<float>(probabilityType);
  }

  size_t scratchBytes() const override { return scratch; }

  void run(const Buffers &buffers) const override {
    std::byte *scores = buffers.scratch + scorePlace, *chances = buffers.scratch + chancePlace;
    for (int64_t step = 0; step < steps; ++step) {
      const auto s = static_cast<size_t>(step);
      const std::byte *toScores[] = {buffers.ins[0] + s * queryStep, buffers.ins[1] + s * keyStep};
      first->run({toScores, {&scores, 1}, buffers.scratch + innerPlace});
      softmax(buffers, step, reinterpret_cast<float *>(scores), chances);
      const std::byte *toResult[] = {chances, buffers.ins[2] + s * valueStep};
      std::byte *result = buffers.outs[0] + s * resultStep;
      second->run({toResult, {&result, 1}, buffers.scratch + innerPlace});
    }
  }

private:
  void softmax(const Buffers &buffers, int64_t step, float *scores, std::byte *chances) const {
    const int64_t count = together * a.groups() * a.rows, before = step * count;
    parallelFor(count, 1 + 8192 / std::max<int64_t>(1, a.columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = before + i, head = row / a.rows;
        one(buffers, head / a.heads, head % a.heads, row % a.rows, scores + i * a.columns,
            chances + static_cast<size_t>(i * a.columns) * storageBytes(probabilityType));
      }
    });
  }

  void one(const Buffers &buffers, int64_t batch, int64_t head, int64_t row, float *x, std::byte *to) const {
    const VisibleColumns::Span span = visible.of(buffers, batch, row);
    const auto scale = static_cast<float>(a.scale);
    const float sink = visible.sink(buffers, head);
    if (span.first >= span.last && !visible.hasSink()) {
      // No keys to attend to: an empty sum over an empty sum.
      std::fill_n(x, a.columns, std::numeric_limits<float>::quiet_NaN());
      return finish(x, to);
    }
    constexpr int lanes = 16;
    alignas(64) float lane[lanes], mask[maskChunk];
    std::fill_n(lane, lanes, sink);
    for (int64_t i = span.first; i < span.last; i += maskChunk) {
      const int64_t n = std::min(maskChunk, span.last - i);
      float *values = x + i;
      if (visible.masked()) {
        visible.mask(buffers, batch, head, row, i, n, mask);
        for (int64_t j = 0; j < n; ++j)
          values[j] = values[j] * scale + mask[j];
      } else {
        for (int64_t j = 0; j < n; ++j)
          values[j] *= scale;
      }
      int64_t j = 0;
      for (; j + lanes <= n; j += lanes)
        for (int l = 0; l < lanes; ++l)
          lane[l] = values[j + l] > lane[l] || values[j + l] != values[j + l] ? values[j + l] : lane[l];
      for (int l = 0; j < n; ++j, ++l)
        lane[l] = values[j] > lane[l] || values[j] != values[j] ? values[j] : lane[l];
    }
    float top = lane[0];
    for (int l = 1; l < lanes; ++l)
      top = lane[l] > top || lane[l] != lane[l] ? lane[l] : top;

    alignas(64) float sums[lanes] = {};
    int64_t j = span.first;
    for (int64_t i = span.first; i < span.last; ++i)
      x[i] = scalars::exp(x[i] - top);
    for (; j + lanes <= span.last; j += lanes)
      for (int l = 0; l < lanes; ++l)
        sums[l] += x[j + l];
    for (int l = 0; j < span.last; ++j, ++l)
      sums[l] += x[j];
    double sum = visible.hasSink() ? scalars::exp(sink - top) : 0.0f;
    for (float part : sums)
      sum += part;
    const auto factor = static_cast<float>(1.0 / sum);
    std::fill(x, x + span.first, 0.0f);
    for (int64_t i = span.first; i < span.last; ++i)
      x[i] *= factor;
    std::fill(x + span.last, x + a.columns, 0.0f);
    finish(x, to);
  }

  void finish(const float *x, std::byte *to) const {
    if (probabilityType != DataType::Float32)
      store(x, to, static_cast<size_t>(a.columns));
  }

  static constexpr int64_t maskChunk = 512;
  Attention a;
  VisibleColumns visible;
  DataType probabilityType;
  int64_t together = 1, steps = 1; // key/value heads at a time
  std::unique_ptr<Kernel> first, second;
  size_t queryStep, keyStep, valueStep, resultStep, scorePlace, chancePlace, innerPlace, scratch;
  Store<float> store;
};

std::unique_ptr<Kernel> makeAttention(const OpCall &call, const Attention &a) {
  if (a.batch * a.heads * a.rows == 0)
    return kernelOf([](const Buffers &) {});
  if (auto kernel = makePanelAttention(call, a))
    return kernel;
  return std::make_unique<AttentionKernel>(call, a);
}

std::unique_ptr<Kernel> makePrefill(const OpCall &call) { return makeAttention(call, prefillOf(call)); }
std::unique_ptr<Kernel> makeDecode(const OpCall &call) { return makeAttention(call, decodeOf(call)); }

} // namespace

std::vector<OpInfo> attentionOps() {
  return {
      {"ttnn.scaled_dot_product_attention", makePrefill},
      {"ttnn.scaled_dot_product_attention_decode", makeDecode},
  };
}

} // namespace tt::ttnn
