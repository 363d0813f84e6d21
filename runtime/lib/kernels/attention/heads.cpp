//===- heads.cpp - projections into heads and back, rotary embeddings ------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/access.h"
#include "tensor/strided.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <vector>

namespace tt::ttnn {
namespace {

/// A copy of elements of an operand, rounded again if those of a block format move into other groups.
std::unique_ptr<Kernel> copied(const TensorSpec &in, const TensorSpec &out, const Shape &dims,
                               const std::vector<int64_t> &strides, int64_t first) {
  constexpr auto group = static_cast<int64_t>(sim::blockGroup);
  StridedCopy copy(dims, strides, first, storageBytes(in.dtype));
  auto kernel = kernelOf([copy = std::move(copy)](const Buffers &b) { copy.run(b.ins[0], b.outs[0]); });
  const bool keepsGroups =
      in.dtype == out.dtype && strides.back() == 1 && in.shape.back() % group == 0 && first % group == 0 &&
      dims.back() % group == 0 && out.shape.back() % group == 0 &&
      std::all_of(strides.begin(), strides.end() - 1, [](int64_t stride) { return stride % group == 0; });
  return keepsGroups ? std::move(kernel) : roundedTo(out, in.dtype, std::move(kernel));
}

/// [batch, heads, rows, size] becomes [batch, rows, heads * size].
std::unique_ptr<Kernel> makeConcatenateHeads(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const Shape &s = in.shape;
  const std::vector<int64_t> from = rowMajorStrides(s);
  return copied(in, out, {s[0], s[2], s[1], s[3]}, {from[0], from[2], from[1], from[3]}, 0);
}

/// The part of an operand that becomes a result.
struct HeadsPart {
  size_t operand;
  Shape dims; // of the result
  std::vector<int64_t> strides;
  int64_t first; // element
};

/// A copy of a part for each result. `skipped`: bytes of operand 0 that a run omits.
std::unique_ptr<Kernel> copyParts(const OpCall &call, const std::vector<HeadsPart> &parts,
                                  std::function<size_t(const Buffers &)> skipped = nullptr) {
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<size_t> operands;
  size_t scratch = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const HeadsPart &part = parts[i];
    kernels.push_back(copied(operand(call, part.operand), result(call, i), part.dims, part.strides, part.first));
    operands.push_back(part.operand);
    scratch = std::max(scratch, kernels.back()->scratchBytes());
  }
  auto shared = std::make_shared<std::vector<std::unique_ptr<Kernel>>>(std::move(kernels));
  auto run = [shared, operands, skipped](const Buffers &buffers) {
    const size_t skip = skipped ? skipped(buffers) : 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::byte *from = buffers.ins[operands[i]] + (operands[i] == 0 ? skip : 0);
      (*shared)[i]->run({{&from, 1}, {&buffers.outs[i], 1}, buffers.scratch});
    }
  };
  return kernelOf(run, scratch);
}

/// The fused projection [batch, rows, columns] into query, key and value by heads.
std::unique_ptr<Kernel> makeSplitHeads(const OpCall &call) {
  const auto heads = call.attributes.get<int64_t>("num_heads");
  const auto keyHeads = call.attributes.get<int64_t>("num_kv_heads", heads);
  const Shape &shape = operand(call, 0).shape;
  const TensorSpec *fused = optionalOperand(call, 1);
  const int64_t parts = fused ? heads : heads + 2 * keyHeads;
  const int64_t size = shape[2] / parts, rows = shape[1], batch = shape[0];
  // Columns of an operand by heads.
  auto part = [&](size_t index, int64_t first, int64_t count) {
    const int64_t columns = operand(call, index).shape.back();
    return HeadsPart{index, {batch, count, rows, size}, {rows * columns, size, columns, 1}, first};
  };
  const size_t keyOperand = fused ? 1 : 0;
  const int64_t keyFirst = fused ? 0 : heads * size;
  std::vector<HeadsPart> all = {part(0, 0, heads), part(keyOperand, keyFirst, keyHeads),
                                part(keyOperand, keyFirst + keyHeads * size, keyHeads)};
  if (call.attributes.get<bool>("transpose_key")) {
    std::swap(all[1].dims[2], all[1].dims[3]);
    std::swap(all[1].strides[2], all[1].strides[3]);
  }
  return copyParts(call, all);
}

//===----------------------------------------------------------------------===//
// One position per user
//===----------------------------------------------------------------------===//

/// The first heads of [1, users, heads, size] become [1, 1, users, heads * size].
std::unique_ptr<Kernel> makeConcatenateDecodedHeads(const OpCall &call) {
  const Shape &s = operand(call, 0).shape;
  const auto heads = call.attributes.get<int64_t>("num_heads");
  return copyParts(call, {{0, {1, 1, s[1], heads * s[3]}, {0, 0, s[2] * s[3], 1}, 0}});
}

/// The fused projection [1, 1, users, columns] into query, key and value, each [1, users, heads, size].
std::unique_ptr<Kernel> makeDecodedHeads(const OpCall &call) {
  const TensorSpec &in = operand(call, 0);
  const auto heads = call.attributes.get<int64_t>("num_heads");
  const auto keyHeads = call.attributes.get<int64_t>("num_kv_heads", heads);
  const int64_t parts = heads + 2 * keyHeads;
  const int64_t all = in.shape[2], columns = in.shape[3], size = columns / parts;
  const TensorSpec *offset = optionalOperand(call, 1);
  const int64_t *slice = call.attributes.find<int64_t>("slice_size");
  const int64_t users = slice ? *slice : all;
  auto part = [&](int64_t first, int64_t count) {
    return HeadsPart{0, {1, users, count, size}, {0, columns, size, 1}, first * size};
  };
  std::function<size_t(const Buffers &)> skipped;
  if (offset)
    skipped = [load = loader<int64_t>(offset->dtype), name = call.name, last = all - users,
               row = static_cast<size_t>(columns) * storageBytes(in.dtype)](const Buffers &buffers) {
      int64_t first;
      load(buffers.ins[1], &first, 1);
      if (first < 0 || first > last)
        throw OpError(name + ": operand 'batch_offset' is " + std::to_string(first) + "; expected 0 to " +
                      std::to_string(last));
      return static_cast<size_t>(first) * row;
    };
  return copyParts(call, {part(0, heads), part(heads, keyHeads), part(heads + keyHeads, keyHeads)}, skipped);
}

//===----------------------------------------------------------------------===//
// Rotary embeddings
//===----------------------------------------------------------------------===//

/// x * cos + (the negated second half of x, then the first) * sin, by rows; cos and sin hold one row for each position.
std::unique_ptr<Kernel> makeRotaryEmbedding(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const int64_t size = in.shape.back(), rows = in.shape[in.shape.size() - 2];
  const int64_t *token = call.attributes.find<int64_t>("token_index");
  const int64_t first = token ? *token : 0, step = token ? 0 : 1;
  constexpr int64_t chunk = 256;
  const int64_t half = size / 2, total = volume(in.shape) / std::max<int64_t>(1, size);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const Load<float> load = loader<float>(in.dtype), loadCos = loader<float>(operand(call, 1).dtype),
                    loadSin = loader<float>(operand(call, 2).dtype);
  const Store<float> store = storer<float>(produced);
  const size_t inBytes = storageBytes(in.dtype), cosBytes = storageBytes(operand(call, 1).dtype),
               sinBytes = storageBytes(operand(call, 2).dtype), outBytes = storageBytes(produced);
  auto run = [=](const Buffers &buffers) {
    parallelFor(total, 1 + 8192 / (size + 1), [&](int64_t begin, int64_t end) {
      alignas(64) float low[chunk], high[chunk], cos[chunk], sin[chunk], value[chunk];
      for (int64_t row = begin; row < end; ++row)
        for (int64_t i = 0; i < half; i += chunk) {
          const auto n = static_cast<size_t>(std::min(chunk, half - i));
          const int64_t at = row * size + i, angle = (first + row % rows * step) * size + i;
          load(buffers.ins[0] + static_cast<size_t>(at) * inBytes, low, n);
          load(buffers.ins[0] + static_cast<size_t>(at + half) * inBytes, high, n);
          for (int64_t side : {int64_t(0), half}) {
            loadCos(buffers.ins[1] + static_cast<size_t>(angle + side) * cosBytes, cos, n);
            loadSin(buffers.ins[2] + static_cast<size_t>(angle + side) * sinBytes, sin, n);
            for (size_t c = 0; c < n; ++c)
              value[c] = side ? high[c] * cos[c] + low[c] * sin[c] : low[c] * cos[c] - high[c] * sin[c];
            store(value, buffers.outs[0] + static_cast<size_t>(at + side) * outBytes, n);
          }
        }
    });
  };
  return roundedTo(out, produced, kernelOf(run));
}

/// x * cos + (x times the matrix, piece by piece of a row) * sin. cos and sin hold one row for each position; in decode
/// mode, [1, batch, heads, size], one for each user.
std::unique_ptr<Kernel> makeRotaryEmbeddingLlama(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &matrix = operand(call, 3), &out = result(call);
  const bool decode = call.attributes.get<bool>("is_decode_mode", false);
  const int64_t size = in.shape[3], rows = in.shape[2], positions = decode ? in.shape[1] : rows;
  const int64_t piece = matrix.shape.back();
  // In decode mode the caches may repeat a user's row for each row of a tile.
  const int64_t cacheStep = decode ? volume(operand(call, 1).shape) / size / positions : 1;
  const int64_t total = volume(in.shape) / std::max<int64_t>(1, size);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const Load<float> load = loader<float>(in.dtype), loadCos = loader<float>(operand(call, 1).dtype),
                    loadSin = loader<float>(operand(call, 2).dtype), loadMatrix = loader<float>(matrix.dtype);
  const Store<float> store = storer<float>(produced);
  const size_t inBytes = storageBytes(in.dtype), cosBytes = storageBytes(operand(call, 1).dtype),
               sinBytes = storageBytes(operand(call, 2).dtype), outBytes = storageBytes(produced);
  auto run = [=](const Buffers &buffers) {
    std::vector<float> swap(static_cast<size_t>(piece * piece));
    loadMatrix(buffers.ins[3], swap.data(), swap.size());
    parallelFor(total, 1 + 65536 / (size * piece + 1), [&](int64_t begin, int64_t end) {
      std::vector<float> values(static_cast<size_t>(size * 4));
      float *x = values.data(), *cos = x + size, *sin = cos + size, *y = sin + size;
      const auto n = static_cast<size_t>(size);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t position = decode ? row / rows % positions * cacheStep : row % rows;
        load(buffers.ins[0] + static_cast<size_t>(row * size) * inBytes, x, n);
        loadCos(buffers.ins[1] + static_cast<size_t>(position * size) * cosBytes, cos, n);
        loadSin(buffers.ins[2] + static_cast<size_t>(position * size) * sinBytes, sin, n);
        for (int64_t i = 0; i < size; ++i) {
          float swapped = 0;
          for (int64_t j = 0; j < piece; ++j)
            swapped += x[i / piece * piece + j] * swap[static_cast<size_t>(j * piece + i % piece)];
          y[i] = x[i] * cos[i] + swapped * sin[i];
        }
        store(y, buffers.outs[0] + static_cast<size_t>(row * size) * outBytes, n);
      }
    });
  };
  return roundedTo(out, produced, kernelOf(run));
}

} // namespace

std::vector<OpInfo> headOps() {
  return {
      {"ttnn.concatenate_heads", makeConcatenateHeads},
      {"ttnn.nlp_concat_heads", makeConcatenateHeads},
      {"ttnn.nlp_concat_heads_decode", makeConcatenateDecodedHeads},
      {"ttnn.nlp_create_qkv_heads_decode", makeDecodedHeads},
      {"ttnn.split_query_key_value_and_split_heads", makeSplitHeads},
      {"ttnn.rotary_embedding", makeRotaryEmbedding, nullptr, {}, 0, /*computes=*/true},
      {"ttnn.rotary_embedding_llama", makeRotaryEmbeddingLlama, nullptr, {}, 0, /*computes=*/true},
  };
}

} // namespace tt::ttnn
