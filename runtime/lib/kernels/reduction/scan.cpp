//===- scan.cpp - cumsum, cumprod, sort, topk -------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Along one dimension; adjacent lines are scanned together, so that memory is read in order. Sums and products are kept
// in double, integers modulo 2^32.
//
//===----------------------------------------------------------------------===//

#include "core/access.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

/// T: the type of loaded values; Wide: the type in which they are accumulated.
template <class T, class Wide, bool product> std::unique_ptr<Kernel> scan(const OpCall &call, size_t dim) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  const Lines lines(in.shape, dim);
  constexpr int64_t width = 256;
  const int64_t blocks = (lines.inner + width - 1) / width;
  const Load<T> load = loader<T>(in.dtype);
  const Store<T> store = storer<T>(produced);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(produced);

  auto columns = [=](const Buffers &buffers, int64_t first, size_t n) {
    alignas(64) T value[width];
    alignas(64) Wide total[width];
    std::fill_n(total, n, Wide(product ? 1 : 0));
    for (int64_t i = 0; i < lines.length; ++i) {
      const auto at = static_cast<size_t>(first + i * lines.inner);
      load(buffers.ins[0] + at * inBytes, value, n);
      for (size_t c = 0; c < n; ++c) {
        const auto x = static_cast<Wide>(value[c]);
        total[c] = product ? total[c] * x : total[c] + x;
        value[c] = static_cast<T>(total[c]);
      }
      store(value, buffers.outs[0] + at * outBytes, n);
    }
  };
  auto line = [=](const Buffers &buffers, int64_t first) {
    alignas(64) T value[width];
    Wide total = product ? 1 : 0;
    for (int64_t i = 0; i < lines.length; i += width) {
      const auto n = static_cast<size_t>(std::min(width, lines.length - i)), at = static_cast<size_t>(first + i);
      load(buffers.ins[0] + at * inBytes, value, n);
      for (size_t c = 0; c < n; ++c) {
        const auto x = static_cast<Wide>(value[c]);
        total = product ? total * x : total + x;
        value[c] = static_cast<T>(total);
      }
      store(value, buffers.outs[0] + at * outBytes, n);
    }
  };
  auto run = [=](const Buffers &buffers) {
    const int64_t work = std::max<int64_t>(1, lines.length * std::min(width, lines.inner));
    parallelFor(lines.outer * blocks, 1 + 16384 / work, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t outer = i / blocks * lines.length * lines.inner, column = i % blocks * width;
        if (lines.inner == 1)
          line(buffers, outer);
        else
          columns(buffers, outer + column, static_cast<size_t>(std::min(width, lines.inner - column)));
      }
    });
  };
  return roundedTo(out, produced, kernelOf(run));
}

template <bool product> std::unique_ptr<Kernel> makeScan(const OpCall &call) {
  const Shape &shape = operand(call, 0).shape;
  const auto dim = static_cast<size_t>(dimension(call, "dim", shape.size()));
  return isInteger(operand(call, 0).dtype) ? scan<int64_t, uint64_t, product>(call, dim)
                                           : scan<float, double, product>(call, dim);
}

/// A value with its position in the line. T: float, or int64_t for integers, which f32 holds to 2^24 only.
template <class T> struct Ranked {
  T value;
  int32_t index;
};

/// NaN counts as largest; equal values keep their order, so that sorting is stable.
template <class T> bool before(const Ranked<T> &a, const Ranked<T> &b, bool descending) {
  const bool nanA = a.value != a.value, nanB = b.value != b.value;
  if (nanA != nanB)
    return nanA == descending;
  if (!nanA && a.value != b.value)
    return (a.value < b.value) != descending;
  return a.index < b.index;
}

/// The first `count` of each line, in order: values and their positions.
template <class T> std::unique_ptr<Kernel> rankingOf(const OpCall &call, size_t dim, int64_t count, bool descending) {
  const TensorSpec &in = operand(call, 0), &values = result(call, 0), &indices = result(call, 1);
  if (sim::isBlockFormat(indices.dtype))
    fail(call, "the places are of type " + std::string(toString(indices.dtype)) + "; expected an integer type");
  // Values of block formats are written as loaded, then their groups are rounded again.
  const DataType produced = !sim::isBlockFormat(values.dtype) ? values.dtype
                            : in.dtype == DataType::Float32   ? DataType::Float32
                                                              : DataType::BFloat16;
  const Lines lines(in.shape, dim), kept(values.shape, dim);
  const Load<T> load = loader<T>(in.dtype);
  const RunCopy copy(in.dtype, produced);
  const RunCopy place(DataType::Int32, indices.dtype);
  auto run = [=](const Buffers &buffers) {
    auto *all = reinterpret_cast<Ranked<T> *>(buffers.scratch);
    parallelFor(lines.count(), 1 + 2048 / std::max<int64_t>(1, lines.length), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        Ranked<T> *ranked = all + line * lines.length;
        const int64_t start = lines.start(line);
        auto source = [&](int64_t i) {
          return buffers.ins[0] + static_cast<size_t>(start + i * lines.inner) * copy.fromBytes;
        };
        for (int64_t i = 0; i < lines.length; ++i) {
          load(source(i), &ranked[i].value, 1);
          ranked[i].index = static_cast<int32_t>(i);
        }
        auto order = [descending](const Ranked<T> &a, const Ranked<T> &b) { return before(a, b, descending); };
        std::partial_sort(ranked, ranked + count, ranked + lines.length, order);
        for (int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<size_t>(kept.start(line) + i * kept.inner);
          copy(source(ranked[i].index), buffers.outs[0] + at * copy.toBytes, 1);
          place(reinterpret_cast<const std::byte *>(&ranked[i].index), buffers.outs[1] + at * place.toBytes, 1);
        }
      }
    });
  };
  return roundedTo(values, produced, kernelOf(run, static_cast<size_t>(volume(in.shape)) * sizeof(Ranked<T>)));
}

std::unique_ptr<Kernel> ranking(const OpCall &call, size_t dim, int64_t count, bool descending) {
  const auto make = isInteger(operand(call, 0).dtype) ? rankingOf<int64_t> : rankingOf<float>;
  return make(call, dim, count, descending);
}

size_t rankedDimension(const OpCall &call) {
  const size_t rank = operand(call, 0).shape.size();
  const auto dim = static_cast<size_t>(wrapDimension(call, "dim", call.attributes.get<int64_t>("dim", -1), rank));
  if (operand(call, 0).shape[dim] > INT32_MAX)
    fail(call, "dimension " + std::to_string(dim) + " is too long to count in 32 bits");
  return dim;
}

std::unique_ptr<Kernel> makeSort(const OpCall &call) {
  const size_t dim = rankedDimension(call);
  return ranking(call, dim, operand(call, 0).shape[dim], call.attributes.get<bool>("descending", false));
}

/// Always sorted: this is one of the orders that `sorted = false` allows.
std::unique_ptr<Kernel> makeTopK(const OpCall &call) {
  const size_t dim = rankedDimension(call);
  const int64_t k = call.attributes.get<int64_t>("k"), length = operand(call, 0).shape[dim];
  if (k < 0 || k > length)
    fail(call, "attribute 'k' is " + std::to_string(k) + "; expected at most the " + std::to_string(length) +
                   " elements of dimension " + std::to_string(dim));
  return ranking(call, dim, k, call.attributes.get<bool>("largest", true));
}

} // namespace

std::vector<OpInfo> scanOps() {
  return {
      {"ttnn.cumsum", makeScan<false>},
      {"ttnn.cumprod", makeScan<true>},
      {"ttnn.sort", makeSort},
      {"ttnn.topk", makeTopK},
  };
}

} // namespace tt::ttnn
