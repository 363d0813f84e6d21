//===- lookup.cpp - embedding, gather, scatter, slice_dynamic --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/access.h"
#include "core/scalars.h"
#include "tensor/strided.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

/// Rows and columns of an embedding's weight, whose dimensions before the last two are 1.
struct Table {
  int64_t rows, width;
};

Table tableOf(const OpCall &call, size_t index) {
  const Shape &shape = operand(call, index).shape;
  if (shape.size() < 2 || volume(Shape(shape.begin(), shape.end() - 2)) != 1)
    fail(call, "the weight has shape " + toString(shape) + "; expected [rows, width]");
  return {shape[shape.size() - 2], shape.back()};
}

/// Calls copy(i, position) for positions of 32 bits, which are checked some at a time.
template <class F>
void eachPosition(const Positions &positions, const std::byte *from, int64_t rows, int64_t begin, int64_t end, F copy) {
  constexpr int64_t atOnce = 256;
  const auto *given = reinterpret_cast<const uint32_t *>(from);
  for (int64_t first = begin; first < end; first += atOnce) {
    const int64_t last = std::min(end, first + atOnce);
    uint32_t most = 0;
    for (int64_t i = first; i < last; ++i)
      most = std::max(most, given[i]);
    if (most >= static_cast<uint64_t>(rows)) [[unlikely]]
      for (int64_t i = first; i < last; ++i)
        positions.at(from, i, rows); // throws
    for (int64_t i = first; i < last; ++i)
      copy(i, given[i]);
  }
}

/// Rows of as many bytes as `Row`, found by positions of 32 bits.
template <class Row> std::unique_ptr<Kernel> smallRows(const Positions &positions, int64_t rows) {
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(positions.count(), 16384, [&](int64_t begin, int64_t end) {
      const std::byte *table = buffers.ins[1];
      std::byte *to = buffers.outs[0];
      eachPosition(positions, buffers.ins[0], rows, begin, end, [=](int64_t i, uint32_t row) {
        std::memcpy(to + static_cast<size_t>(i) * sizeof(Row), table + row * sizeof(Row), sizeof(Row));
      });
    });
  });
}

/// The same of any number of bytes.
std::unique_ptr<Kernel> plainRows(const Positions &positions, int64_t rows, size_t bytes) {
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(positions.count(), 1 + 65536 / static_cast<int64_t>(std::max<size_t>(1, bytes)),
                [&](int64_t begin, int64_t end) {
                  eachPosition(positions, buffers.ins[0], rows, begin, end, [&](int64_t i, uint32_t row) {
                    std::memcpy(buffers.outs[0] + static_cast<size_t>(i) * bytes, buffers.ins[1] + row * bytes, bytes);
                  });
                });
  });
}

std::unique_ptr<Kernel> makeEmbedding(const OpCall &call) {
  const Table table = tableOf(call, 1);
  const Positions positions(call, 0);
  const Shape &shape = result(call).shape;
  if (shape.empty() || shape.back() != table.width || volume(shape) != volume({positions.count(), table.width}))
    fail(call, "the result has shape " + toString(shape) + "; expected that of the positions " +
                   toString(operand(call, 0).shape) + " and " + std::to_string(table.width));
  const RunCopy copy(operand(call, 1).dtype, result(call).dtype);
  const auto width = static_cast<size_t>(table.width);
  const DataType type = operand(call, 1).dtype, place = operand(call, 0).dtype;
  const bool wide = place == DataType::Int32 || place == DataType::UInt32;
  if (type == result(call).dtype && wide && !sim::isBlockFormat(type) && table.rows > 0)
    switch (width * copy.fromBytes) {
    case 1:
      return smallRows<uint8_t>(positions, table.rows);
    case 2:
      return smallRows<uint16_t>(positions, table.rows);
    case 4:
      return smallRows<uint32_t>(positions, table.rows);
    case 8:
      return smallRows<uint64_t>(positions, table.rows);
    default:
      return plainRows(positions, table.rows, width * copy.fromBytes);
    }
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(positions.count(), 1 + 16384 / std::max<int64_t>(1, table.width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto row = static_cast<size_t>(positions.at(buffers.ins[0], i, table.rows));
        copy(buffers.ins[1] + row * width * copy.fromBytes,
             buffers.outs[0] + static_cast<size_t>(i) * width * copy.toBytes, width);
      }
    });
  });
}

/// The gradient of the weight: each row is the sum of the gradients of its lookups, added in order.
std::unique_ptr<Kernel> makeEmbeddingBackward(const OpCall &call) {
  const Table table = tableOf(call, 1);
  const Positions positions(call, 0);
  const TensorSpec &gradient = operand(call, 2), &out = result(call);
  if (volume(gradient.shape) != volume({positions.count(), table.width}))
    fail(call, "the gradient has shape " + toString(gradient.shape) + "; expected " +
                   std::to_string(positions.count()) + " rows of " + std::to_string(table.width));
  if (volume(out.shape) != volume({table.rows, table.width}))
    fail(call, "the result has shape " + toString(out.shape) + "; expected that of the weight, " +
                   toString(operand(call, 1).shape));
  const Load<float> load = loader<float>(gradient.dtype);
  const size_t bytes = storageBytes(gradient.dtype);
  constexpr int64_t columns = 256; // of a thread's share
  const int64_t shares = (table.width + columns - 1) / columns;
  auto run = [=](const Buffers &buffers) {
    auto *sums = reinterpret_cast<float *>(buffers.outs[0]);
    std::fill_n(sums, table.rows * table.width, 0.0f);
    parallelFor(shares, 1, [&](int64_t begin, int64_t end) {
      alignas(64) float values[columns];
      for (int64_t share = begin; share < end; ++share) {
        const int64_t column = share * columns, n = std::min(columns, table.width - column);
        for (int64_t i = 0; i < positions.count(); ++i) {
          const int64_t row = positions.at(buffers.ins[0], i, table.rows);
          load(buffers.ins[2] + static_cast<size_t>(i * table.width + column) * bytes, values, static_cast<size_t>(n));
          for (int64_t c = 0; c < n; ++c)
            sums[row * table.width + column + c] += values[c];
        }
      }
    });
  };
  return roundedTo(out, DataType::Float32, kernelOf(run));
}

/// An index operand as large as the input but along one dimension, or smaller.
void expectIndexShape(const OpCall &call, const Shape &index, size_t dim) {
  const Shape &shape = operand(call, 0).shape;
  bool bad = index.size() != shape.size();
  for (size_t d = 0; d < shape.size() && !bad; ++d)
    bad = d != dim && index[d] > shape[d];
  if (bad)
    fail(call, "the index has shape " + toString(index) + "; expected rank " + std::to_string(shape.size()) +
                   " and no size above those of the input " + toString(shape) + " outside of dimension " +
                   std::to_string(dim));
}

/// For each line along a dimension of a tensor, the beginning of that line in another one that is at least as large.
class LinesWithin {
public:
  LinesWithin(const Shape &shape, const Shape &within, size_t dim)
      : shape(shape), strides(rowMajorStrides(within)), lines(shape, dim), dim(dim) {}
  int64_t count() const { return lines.count(); }
  int64_t length() const { return lines.length; }
  int64_t step() const { return lines.inner; }        // from one element of a line to the next
  int64_t stepWithin() const { return strides[dim]; } // in the larger tensor
  int64_t start(int64_t line) const { return lines.start(line); }
  int64_t startWithin(int64_t line) const {
    int64_t at = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      if (d == dim)
        continue;
      at += line % shape[d] * strides[d];
      line /= shape[d];
    }
    return at;
  }

private:
  Shape shape;
  std::vector<int64_t> strides;
  Lines lines;
  size_t dim;
};

template <class T>
void gatherLines(const Buffers &buffers, const Positions &positions, const LinesWithin &lines, int64_t limit) {
  const T *from = reinterpret_cast<const T *>(buffers.ins[0]);
  T *to = reinterpret_cast<T *>(buffers.outs[0]);
  parallelFor(lines.count(), 1 + 4096 / std::max<int64_t>(1, lines.length()), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t start = lines.start(line), source = lines.startWithin(line);
      for (int64_t i = 0; i < lines.length(); ++i) {
        const int64_t at = start + i * lines.step();
        to[at] = from[source + positions.at(buffers.ins[1], at, limit) * lines.stepWithin()];
      }
    }
  });
}

std::unique_ptr<Kernel> makeGather(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &index = operand(call, 1);
  const auto dim = static_cast<size_t>(dimension(call, "dim", in.shape.size()));
  expectIndexShape(call, index.shape, dim);
  const Positions positions(call, 1);
  const LinesWithin lines(index.shape, in.shape, dim);
  const int64_t limit = in.shape[dim];
  const size_t bytes = storageBytes(in.dtype);
  auto run = [=](const Buffers &buffers) {
    const auto gather = bytes == 4 ? gatherLines<uint32_t> : bytes == 2 ? gatherLines<uint16_t> : gatherLines<uint8_t>;
    gather(buffers, positions, lines, limit);
  };
  return roundedTo(result(call), in.dtype, kernelOf(run));
}

enum class Scatter : uint8_t { Set, Sum, Product, Maximum, Minimum };

Scatter scatterOf(const OpCall &call) {
  constexpr std::pair<std::string_view, Scatter> kinds[] = {{"invalid", Scatter::Set},
                                                            {"sum", Scatter::Sum},
                                                            {"prod", Scatter::Product},
                                                            {"max", Scatter::Maximum},
                                                            {"min", Scatter::Minimum}};
  const std::string &symbol = call.attributes.get<EnumAttribute>("scatter_reduce_type").symbol;
  for (const auto &[name, kind] : kinds)
    if (symbol == name)
      return kind;
  fail(call, "attribute 'scatter_reduce_type' is '" + symbol + "'; expected invalid, sum, prod, max or min");
}

template <class T> T combined(Scatter kind, T old, T value) {
  switch (kind) {
  case Scatter::Set:
    return value;
  case Scatter::Sum:
    if constexpr (std::same_as<T, int64_t>)
      return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value));
    else
      return old + value;
  case Scatter::Product:
    if constexpr (std::same_as<T, int64_t>)
      return static_cast<T>(static_cast<uint64_t>(old) * static_cast<uint64_t>(value));
    else
      return old * value;
  case Scatter::Maximum:
    return scalars::maximum(old, value);
  case Scatter::Minimum:
    return scalars::minimum(old, value);
  }
  return value;
}

/// One thread scatters a line, in order, so that the last of equal positions wins and sums have one order. Combined
/// values are f32 or int64 until the end.
template <class T> std::unique_ptr<Kernel> scatterKernel(const OpCall &call, size_t dim, Scatter kind) {
  const TensorSpec &in = operand(call, 0), &index = operand(call, 1), &source = operand(call, 2), &out = result(call);
  const Positions positions(call, 1);
  const LinesWithin lines(index.shape, in.shape, dim), sources(index.shape, source.shape, dim);
  const int64_t limit = in.shape[dim], total = volume(in.shape);
  const Load<T> load = loader<T>(in.dtype), loadSource = loader<T>(source.dtype);
  const Store<T> store = storer<T>(out.dtype);
  const size_t unit = storeGroup(out), sourceBytes = storageBytes(source.dtype);
  const TensorSpec spec = out;
  // Few of many elements are set, which costs a copy.
  if (kind == Scatter::Set && in.dtype == out.dtype && unit == 1) {
    const size_t bytes = storageBytes(out.dtype);
    return kernelOf([=](const Buffers &buffers) {
      constexpr int64_t piece = int64_t(1) << 18;
      const auto all = static_cast<int64_t>(spec.bytes());
      parallelFor((all + piece - 1) / piece, 1, [&](int64_t begin, int64_t end) {
        const int64_t first = begin * piece, last = std::min(all, end * piece);
        std::memcpy(buffers.outs[0] + first, buffers.ins[0] + first, static_cast<size_t>(last - first));
      });
      parallelFor(lines.count(), 1 + 4096 / std::max<int64_t>(1, lines.length()), [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t start = lines.start(line), target = lines.startWithin(line), from = sources.startWithin(line);
          for (int64_t i = 0; i < lines.length(); ++i) {
            const int64_t at = positions.at(buffers.ins[1], start + i * lines.step(), limit);
            T value;
            loadSource(buffers.ins[2] + static_cast<size_t>(from + i * sources.stepWithin()) * sourceBytes, &value, 1);
            store(&value, buffers.outs[0] + static_cast<size_t>(target + at * lines.stepWithin()) * bytes, 1);
          }
        }
      });
    });
  }
  auto run = [=](const Buffers &buffers) {
    T *values = reinterpret_cast<T *>(buffers.scratch);
    load(buffers.ins[0], values, static_cast<size_t>(total));
    parallelFor(lines.count(), 1 + 4096 / std::max<int64_t>(1, lines.length()), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t start = lines.start(line), target = lines.startWithin(line), from = sources.startWithin(line);
        for (int64_t i = 0; i < lines.length(); ++i) {
          T value,
              &to = values[target + positions.at(buffers.ins[1], start + i * lines.step(), limit) * lines.stepWithin()];
          loadSource(buffers.ins[2] + static_cast<size_t>(from + i * sources.stepWithin()) * sourceBytes, &value, 1);
          to = combined(kind, to, value);
        }
      }
    });
    storePiece(store, spec, unit, values, buffers.outs[0], static_cast<size_t>(total));
  };
  return kernelOf(run, static_cast<size_t>(total) * sizeof(T));
}

std::unique_ptr<Kernel> makeScatter(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &index = operand(call, 1), &source = operand(call, 2);
  const auto dim = static_cast<size_t>(dimension(call, "dim", in.shape.size()));
  expectIndexShape(call, index.shape, dim);
  bool bad = source.shape.size() != index.shape.size();
  for (size_t d = 0; d < index.shape.size() && !bad; ++d)
    bad = index.shape[d] > source.shape[d];
  if (bad)
    fail(call, "the source has shape " + toString(source.shape) + "; expected at least that of the index, " +
                   toString(index.shape));
  const Scatter kind = scatterOf(call);
  return isInteger(in.dtype) && isInteger(source.dtype) ? scatterKernel<int64_t>(call, dim, kind)
                                                        : scatterKernel<float>(call, dim, kind);
}

/// A slice whose position is known at run time; its size is that of the result.
std::unique_ptr<Kernel> makeSliceDynamic(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const size_t rank = in.shape.size();
  const Positions begins(call, 1), ends(call, 2);
  for (const Positions *positions : {&begins, &ends})
    if (positions->count() != static_cast<int64_t>(rank))
      fail(call, "begins and ends have " + std::to_string(begins.count()) + " and " + std::to_string(ends.count()) +
                     " elements; expected " + std::to_string(rank) + " each");
  if (out.shape.size() != rank)
    fail(call, "the result has shape " + toString(out.shape) + "; expected rank " + std::to_string(rank));
  std::vector<int64_t> steps(rank, 1);
  if (call.attributes.find<std::vector<int64_t>>("step"))
    steps = integers(call, "step", rank, 1);
  const std::vector<int64_t> from = rowMajorStrides(in.shape);
  std::vector<int64_t> strides = from;
  for (size_t d = 0; d < rank; ++d)
    strides[d] *= steps[d];
  const size_t bytes = storageBytes(in.dtype);
  const StridedCopy copy(out.shape, strides, 0, bytes);
  const std::string name = call.name;
  const Shape shape = in.shape, sizes = out.shape;
  auto run = [=](const Buffers &buffers) {
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d) {
      const auto index = static_cast<int64_t>(d);
      // As in slice_static: negative positions count from the end, and an end past the last element means the last.
      int64_t begin = begins.raw(buffers.ins[1], index), end = ends.raw(buffers.ins[2], index);
      begin += begin < 0 ? shape[d] : 0;
      end = std::min(end < 0 ? end + shape[d] : end, shape[d]);
      const int64_t size = end > begin ? (end - begin + steps[d] - 1) / steps[d] : 0;
      if (begin < 0 || begin > shape[d] || size != sizes[d])
        throw OpError(name + ": dimension " + std::to_string(d) + " of size " + std::to_string(shape[d]) +
                      " is sliced from " + std::to_string(begin) + " to " + std::to_string(end) + " in steps of " +
                      std::to_string(steps[d]) + "; expected " + std::to_string(sizes[d]) + " elements");
      offset += begin * from[d];
    }
    copy.run(buffers.ins[0] + static_cast<size_t>(offset) * bytes, buffers.outs[0]);
  };
  return roundedTo(out, in.dtype, kernelOf(run));
}

} // namespace

std::vector<OpInfo> lookupOps() {
  return {
      {"ttnn.embedding", makeEmbedding},
      {"ttnn.embedding_bw", makeEmbeddingBackward, nullptr, {}, 0, /*computes=*/true},
      {"ttnn.gather", makeGather},
      {"ttnn.scatter", makeScatter},
      {"ttnn.slice_dynamic", makeSliceDynamic},
  };
}

} // namespace tt::ttnn
