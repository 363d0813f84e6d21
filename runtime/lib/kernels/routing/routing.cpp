//===- routing.cpp - choices of tokens and experts ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/access.h"
#include "core/random.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tt::ttnn {
namespace {

void expectElements(const OpCall &call, size_t index) {
  const DataType type = result(call, index).dtype;
  if (sim::isBlockFormat(type))
    fail(call, "result " + std::to_string(index) + " is of type " + std::string(toString(type)) +
                   ", whose elements cannot be written alone; expected f32, bf16 or an integer type");
}

//===----------------------------------------------------------------------===//
// sampling
//===----------------------------------------------------------------------===//

/// In double, so that sums of few probabilities equal those in any other order up to the resolution of a random number.
int64_t drawn(const std::vector<float> &values, double temp, int64_t k, double p, double random) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto larger = [&](int64_t a, int64_t b) {
    const double x = values[static_cast<size_t>(a)] * temp, y = values[static_cast<size_t>(b)] * temp;
    return x != y ? x > y : a < b;
  };
  std::sort(order.begin(), order.end(), larger);
  const double largest = values[static_cast<size_t>(order[0])] * temp;
  std::vector<double> chances;
  for (int64_t i : order)
    chances.push_back(std::exp(values[static_cast<size_t>(i)] * temp - largest));
  const double all = std::accumulate(chances.begin(), chances.end(), 0.0);
  double kept = 0;
  size_t count = 0;
  while (count < static_cast<size_t>(k) && (count == 0 || kept < p * all))
    kept += chances[count++];
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    if (sum += chances[i]; random * kept < sum)
      return order[i];
  return order[count - 1];
}

std::unique_ptr<Kernel> makeSampling(const OpCall &call) {
  const TensorSpec &values = operand(call, 0);
  const int64_t candidates = values.shape.back(), users = values.shape[values.shape.size() - 2];
  const Positions limits(call, 2);
  const Load<float> load = loader<float>(values.dtype), loadP = loader<float>(operand(call, 3).dtype),
                    loadTemp = loader<float>(operand(call, 4).dtype);
  const size_t bytes = storageBytes(values.dtype), bytesP = storageBytes(operand(call, 3).dtype),
               bytesTemp = storageBytes(operand(call, 4).dtype);
  expectElements(call, 0);
  const RunCopy copy(operand(call, 1).dtype, result(call).dtype);
  const auto seed = call.attributes.get<int64_t>("seed", 0);
  const std::string name = call.name;
  return kernelOf([=](const Buffers &buffers) {
    const uint64_t bits = seedOf(seed);
    std::vector<float> row(static_cast<size_t>(candidates));
    for (int64_t user = 0; user < users; ++user) {
      const auto u = static_cast<size_t>(user);
      load(buffers.ins[0] + u * row.size() * bytes, row.data(), row.size());
      float p, temp;
      loadP(buffers.ins[3] + u * bytesP, &p, 1);
      loadTemp(buffers.ins[4] + u * bytesTemp, &temp, 1);
      for (const float value : row)
        if (std::isnan(value * temp))
          throw OpError(name + ": a value of user " + std::to_string(user) + ", or its 'temp', is NaN");
      const int64_t k = limits.at(buffers.ins[2], user, candidates + 1);
      if (k < 1)
        throw OpError(name + ": 'k' of user " + std::to_string(user) + " is " + std::to_string(k) + "; expected 1 to " +
                      std::to_string(candidates));
      const double random = static_cast<double>(randomBits(bits, u) >> 11) * 0x1p-53;
      const int64_t which = drawn(row, temp, k, p, random);
      copy(buffers.ins[1] + (u * row.size() + static_cast<size_t>(which)) * copy.fromBytes,
           buffers.outs[0] + u * copy.toBytes, 1);
    }
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Rows of `out` [rows, columns] are rows of a [rows, inner] times b [inner, columns], in f32.
void multiply(const float *a, const float *b, float *out, int64_t rows, int64_t inner, int64_t columns) {
  std::fill_n(out, rows * columns, 0.0F);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < columns; ++j)
        out[i * columns + j] += a[i * inner + k] * b[k * columns + j];
}

std::vector<float> floats(const Load<float> load, const std::byte *from, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  load(from, values.data(), values.size());
  return values;
}

std::unique_ptr<Kernel> makeRouter(const OpCall &call) {
  const TensorSpec &input = operand(call, 0), &weight = operand(call, 1), &bias = operand(call, 2);
  const int64_t size = weight.shape[0], experts = weight.shape[1], k = call.attributes.get<int64_t>("k");
  const int64_t tokens = size == 0 ? 0 : volume(input.shape) / size;
  for (size_t i : {0, 1})
    expectElements(call, i);
  // The bias as a row for each token, by the strides of its broadcast.
  std::vector<int64_t> biasRow(static_cast<size_t>(tokens), 0);
  const int64_t step = bias.shape.empty() || bias.shape.back() == 1 ? 0 : 1;
  for (int64_t token = 0; token < tokens; ++token) {
    int64_t rest = token, stride = bias.shape.empty() ? 1 : bias.shape.back();
    for (size_t d = input.shape.size() - 1, b = bias.shape.empty() ? 0 : bias.shape.size() - 1; d-- > 0 && b-- > 0;) {
      biasRow[static_cast<size_t>(token)] += bias.shape[b] == 1 ? 0 : rest % input.shape[d] * stride;
      rest /= input.shape[d];
      stride *= bias.shape[b];
    }
  }
  const Load<float> loadInput = loader<float>(input.dtype), loadWeight = loader<float>(weight.dtype),
                    loadBias = loader<float>(bias.dtype);
  const size_t inputBytes = storageBytes(input.dtype);
  const Store<int64_t> storeIndex = storer<int64_t>(result(call, 0).dtype);
  const Store<float> storeWeight = storer<float>(result(call, 1).dtype);
  const size_t indexBytes = storageBytes(result(call, 0).dtype), weightBytes = storageBytes(result(call, 1).dtype);
  const int64_t biases = volume(bias.shape);
  return kernelOf([=](const Buffers &buffers) {
    const std::vector<float> weights = floats(loadWeight, buffers.ins[1], size * experts);
    const std::vector<float> offsets = floats(loadBias, buffers.ins[2], biases);
    parallelFor(tokens, 1 + 65536 / std::max<int64_t>(1, size * experts), [&](int64_t begin, int64_t end) {
      std::vector<float> logits(static_cast<size_t>(experts)), chances(static_cast<size_t>(k));
      std::vector<int64_t> order(logits.size());
      for (int64_t token = begin; token < end; ++token) {
        const std::vector<float> x =
            floats(loadInput, buffers.ins[0] + static_cast<size_t>(token * size) * inputBytes, size);
        multiply(x.data(), weights.data(), logits.data(), 1, size, experts);
        for (int64_t e = 0; e < experts; ++e)
          logits[static_cast<size_t>(e)] +=
              offsets[static_cast<size_t>(biasRow[static_cast<size_t>(token)] + e * step)];
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
          const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
          if (std::isnan(x) != std::isnan(y))
            return std::isnan(x);
          return x > y || (!(y > x) && a < b);
        });
        float sum = 0;
        for (int64_t i = 0; i < k; ++i) {
          const auto at = static_cast<size_t>(i);
          chances[at] = std::exp(logits[static_cast<size_t>(order[at])] - logits[static_cast<size_t>(order[0])]);
          sum += chances[at];
        }
        for (float &chance : chances)
          chance /= sum;
        const auto at = static_cast<size_t>(token * k);
        storeIndex(order.data(), buffers.outs[0] + at * indexBytes, static_cast<size_t>(k));
        storeWeight(chances.data(), buffers.outs[1] + at * weightBytes, static_cast<size_t>(k));
      }
    });
  });
}

/// Product i is of matrix i / (a's sharing) of a and expert i % experts of b.
std::unique_ptr<Kernel> makeSparse(const OpCall &call) {
  const TensorSpec &a = operand(call, 0), &b = operand(call, 1), &sparsity = operand(call, 2);
  const bool sparseA = call.attributes.get<bool>("is_input_a_sparse", false);
  const int64_t experts = b.shape[1], rows = a.shape[2], inner = a.shape[3], columns = b.shape[3];
  const int64_t products = volume(sparsity.shape);
  expectElements(call, 0);
  const Load<float> loadA = loader<float>(a.dtype), loadB = loader<float>(b.dtype),
                    live = loadNonzero<float>(sparsity.dtype);
  const size_t aBytes = storageBytes(a.dtype), bBytes = storageBytes(b.dtype), liveBytes = storageBytes(sparsity.dtype),
               outBytes = storageBytes(result(call).dtype);
  const Store<float> store = storer<float>(result(call).dtype);
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(products, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> out(static_cast<size_t>(rows * columns));
      for (int64_t i = begin; i < end; ++i) {
        float isLive;
        live(buffers.ins[2] + static_cast<size_t>(i) * liveBytes, &isLive, 1);
        const int64_t matrix = sparseA ? i : i / experts, expert = i % experts;
        if (isLive != 0) {
          const auto left =
              floats(loadA, buffers.ins[0] + static_cast<size_t>(matrix * rows * inner) * aBytes, rows * inner);
          const auto right =
              floats(loadB, buffers.ins[1] + static_cast<size_t>(expert * inner * columns) * bBytes, inner * columns);
          multiply(left.data(), right.data(), out.data(), rows, inner, columns);
        } else {
          std::fill(out.begin(), out.end(), 0.0F);
        }
        store(out.data(), buffers.outs[0] + static_cast<size_t>(i) * out.size() * outBytes, out.size());
      }
    });
  });
}

/// Rows of keys are dot products with each head's query, in f32.
std::unique_ptr<Kernel> makeIndexer(const OpCall &call) {
  const TensorSpec &query = operand(call, 0), &key = operand(call, 1), &weights = operand(call, 2);
  if (call.attributes.find<int64_t>("cluster_axis"))
    fail(call,
         "attribute 'cluster_axis' is given; expected none: positions that lie on several chips are not simulated");
  const int64_t heads = query.shape[1], positions = query.shape[2], size = query.shape[3], keys = key.shape[2];
  const auto start = call.attributes.get<int64_t>("chunk_start_idx", 0);
  expectElements(call, 0);
  const Load<float> loadQuery = loader<float>(query.dtype), loadKey = loader<float>(key.dtype),
                    loadWeight = loader<float>(weights.dtype);
  const size_t queryBytes = storageBytes(query.dtype), keyBytes = storageBytes(key.dtype),
               weightBytes = storageBytes(weights.dtype), outBytes = storageBytes(result(call).dtype);
  const Store<float> store = storer<float>(result(call).dtype);
  return kernelOf([=, batches = query.shape[0]](const Buffers &buffers) {
    for (int64_t batch = 0; batch < batches; ++batch) {
      const auto all =
          floats(loadKey, buffers.ins[1] + static_cast<size_t>(batch * keys * size) * keyBytes, keys * size);
      const int64_t grain = 1 + 65536 / std::max<int64_t>(1, heads * keys * size);
      parallelFor(positions, grain, [&](int64_t begin, int64_t end) {
        std::vector<float> scores(static_cast<size_t>(keys));
        for (int64_t position = begin; position < end; ++position) {
          std::ranges::fill(scores, 0.0F);
          for (int64_t head = 0; head < heads; ++head) {
            const auto row = static_cast<size_t>((batch * heads + head) * positions + position);
            const auto q = floats(loadQuery, buffers.ins[0] + row * static_cast<size_t>(size) * queryBytes, size);
            float weight;
            loadWeight(buffers.ins[2] + row * weightBytes, &weight, 1);
            for (int64_t t = 0; t < keys; ++t) {
              float dot = 0;
              for (int64_t i = 0; i < size; ++i)
                dot += q[static_cast<size_t>(i)] * all[static_cast<size_t>(t * size + i)];
              scores[static_cast<size_t>(t)] += (dot < 0 ? 0 : dot) * weight;
            }
          }
          for (int64_t t = start + position + 1; t < keys; ++t)
            scores[static_cast<size_t>(t)] = -std::numeric_limits<float>::infinity();
          store(scores.data(), buffers.outs[0] + static_cast<size_t>((batch * positions + position) * keys) * outBytes,
                scores.size());
        }
      });
    }
  });
}

} // namespace

std::vector<OpInfo> routingOps() {
  return {
      {"ttnn.sampling", makeSampling},
      {"ttnn.topk_router_gpt", makeRouter},
      {"ttnn.sparse_matmul", makeSparse},
      {"ttnn.indexer_score_dsa", makeIndexer},
  };
}

} // namespace tt::ttnn
