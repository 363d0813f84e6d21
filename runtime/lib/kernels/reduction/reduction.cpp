//===- reduction.cpp - sum, mean, max, min, prod, argmax ---------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The order of every sum is fixed by the shape alone, so results do not depend on the number of threads: runs of up to
// `piece` values are added in lanes and as a tree in f32, the runs' sums in double. Integers are exact modulo 2^32.
//
//===----------------------------------------------------------------------===//

#include "core/access.h"
#include "core/op.h"
#include "core/scalars.h"
#include "tensor/storage.h"
#include "tensor/strided.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <numeric>

namespace tt::ttnn {
namespace {

/// The conversion of values before a reduction, and of its result.
struct AsIs {
  template <class T> static T enter(T x) { return x; }
  template <class T> static T leave(T x) { return x; }
};
struct Sum : AsIs {
  template <class T> static T identity() { return T(0); }
  template <class T> static T combine(T a, T b) {
    if constexpr (std::same_as<T, int64_t>)
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Product : AsIs {
  template <class T> static T identity() { return T(1); }
  template <class T> static T combine(T a, T b) {
    if constexpr (std::same_as<T, int64_t>)
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
struct Minimum : AsIs {
  template <class T> static T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class T> static T combine(T a, T b) { return scalars::minimum(a, b); }
};
/// The minimum in the opposite order.
struct Maximum : Minimum {
  template <class T> static T enter(T x) {
    if constexpr (std::same_as<T, int64_t>)
      return ~x;
    else
      return -x;
  }
  template <class T> static T leave(T x) { return enter(x); }
};

/// Returns the extreme of some floats in their original form.
template <class Op> float extremeOf(const float *x, int64_t n) {
  constexpr int width = 16, count = 4;
  using Lane = scalars::Vector<float, width>;
  Lane lane[count];
  std::ranges::fill(lane, Lane(std::numeric_limits<float>::infinity()));
  const auto take = [&](Lane &least, const float *from) __attribute__((always_inline)) {
    Lane values;
    std::memcpy(&values, from, sizeof values);
    if constexpr (std::same_as<Op, Maximum>)
      values = -values;
    scalars::takeMinimum<width>(least, values);
  };
  int64_t i = 0;
  for (; i + count * width <= n; i += count * width)
    for (int l = 0; l < count; ++l)
      take(lane[l], x + i + l * width);
  for (; i + width <= n; i += width)
    take(lane[0], x + i);
  for (int l = 1; l < count; ++l)
    scalars::takeMinimum<width>(lane[0], lane[l]);
  alignas(64) float values[width];
  std::memcpy(values, &lane[0], sizeof values);
  for (int l = 0; i < n; ++i, ++l)
    values[l] = scalars::minimum(values[l], Op::enter(x[i]));
  for (int half = width / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l)
      values[l] = scalars::minimum(values[l], values[l + half]);
  return values[0];
}

/// Result and reduced dimensions, merged if memory allows, with strides of the operand.
struct Geometry {
  Shape kept, reduced;
  std::vector<int64_t> keptStrides, reducedStrides;
  bool innerReduced = false;       // the contiguous dimension is a reduced one
  int64_t outputs = 1, inputs = 1; // inputs: per output
};

Geometry geometryOf(const Shape &shape, const std::vector<bool> &reduce) {
  Geometry g;
  const std::vector<int64_t> strides = rowMajorStrides(shape);
  int last = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    (reduce[d] ? g.inputs : g.outputs) *= shape[d];
    if (shape[d] == 1)
      continue;
    Shape &dims = reduce[d] ? g.reduced : g.kept;
    std::vector<int64_t> &dimStrides = reduce[d] ? g.reducedStrides : g.keptStrides;
    if (last == static_cast<int>(reduce[d])) {
      dims.back() *= shape[d];
      dimStrides.back() = strides[d];
    } else {
      dims.push_back(shape[d]);
      dimStrides.push_back(strides[d]);
    }
    last = static_cast<int>(reduce[d]);
  }
  g.innerReduced = last == 1;
  return g;
}

int64_t offsetOf(int64_t index, const Shape &dims, const std::vector<int64_t> &strides, size_t count) {
  int64_t at = 0;
  for (size_t d = count; d-- > 0; index /= dims[d])
    at += index % dims[d] * strides[d];
  return at;
}

/// T: the type of loaded values; Wide: the type of a run's sum.
template <class Op, class T, class Wide> class ReduceKernel final : public Kernel {
public:
  ReduceKernel(const TensorSpec &in, DataType produced, Geometry geometry, bool mean)
      : g(std::move(geometry)), load(loader<T>(in.dtype)), inBytes(storageBytes(in.dtype)), produced(produced),
        mean(mean), direct(std::same_as<T, float> && in.dtype == DataType::Float32) {
    if (g.innerReduced) {
      run0 = g.reduced.back();
      pieces = (run0 + piece - 1) / piece;
      steps = g.inputs == 0 ? 0 : g.inputs / run0 * pieces;
      tasks = g.outputs;
    } else {
      run0 = g.kept.empty() ? 1 : g.kept.back();
      columns = (run0 + width - 1) / width;
      steps = g.inputs;
      tasks = run0 == 0 ? 0 : g.outputs / run0 * columns;
    }
    // If there are few results of many values, threads share the values in parts that depend on the shape alone.
    const int64_t stepSize = g.innerReduced ? std::min(run0, piece) : std::min(run0, width);
    if (tasks < 32 && steps > 1)
      parts = std::clamp<int64_t>(steps * stepSize / 65536, 1, std::min<int64_t>(64, steps));
  }

  size_t scratchBytes() const override { return static_cast<size_t>(g.outputs * parts) * sizeof(Wide); }

  void run(const Buffers &buffers) const override {
    Wide *partial = reinterpret_cast<Wide *>(buffers.scratch); // [part][output]
    const int64_t work = std::max<int64_t>(1, steps / parts * std::min<int64_t>(run0, g.innerReduced ? piece : width));
    parallelFor(tasks * parts, 1 + 32768 / work, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t task = i / parts, part = i % parts;
        const int64_t first = steps * part / parts, last = steps * (part + 1) / parts;
        if (g.innerReduced)
          partial[part * g.outputs + task] = runs(buffers.ins[0], task, first, last);
        else
          block(buffers.ins[0], task, first, last, partial + part * g.outputs);
      }
    });
    parallelFor(g.outputs, 8192, [&](int64_t begin, int64_t end) { finish(partial, buffers.outs[0], begin, end); });
  }

private:
  static constexpr int64_t piece = 1024, width = 512, flush = 64;
  static constexpr int lanes = 32;

  const T *read(const std::byte *base, int64_t at, int64_t n, T *buffer) const {
    if (direct)
      return reinterpret_cast<const T *>(base) + at;
    load(base + static_cast<size_t>(at) * inBytes, buffer, static_cast<size_t>(n));
    return buffer;
  }

  /// Steps [first, last) of one result, each a contiguous run.
  Wide runs(const std::byte *base, int64_t output, int64_t first, int64_t last) const {
    alignas(64) T buffer[piece];
    const int64_t start = offsetOf(output, g.kept, g.keptStrides, g.kept.size());
    Wide total = Op::template identity<Wide>();
    for (int64_t step = first; step < last; ++step) {
      const int64_t from = step % pieces * piece, n = std::min(piece, run0 - from);
      const int64_t at = start + offsetOf(step / pieces, g.reduced, g.reducedStrides, g.reduced.size() - 1) + from;
      const T *x = read(base, at, n, buffer);
      if constexpr (std::derived_from<Op, Minimum> && std::same_as<T, float>) {
        total = Op::combine(total, static_cast<Wide>(extremeOf<Op>(x, n)));
        continue;
      }
      alignas(64) T lane[lanes];
      std::fill_n(lane, lanes, Op::template identity<T>());
      int64_t i = 0;
      for (; i + lanes <= n; i += lanes)
        for (int l = 0; l < lanes; ++l)
          lane[l] = Op::combine(lane[l], Op::enter(x[i + l]));
      for (int l = 0; i < n; ++i, ++l)
        lane[l] = Op::combine(lane[l], Op::enter(x[i]));
      for (int half = lanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
          lane[l] = Op::combine(lane[l], lane[l + half]);
      total = Op::combine(total, static_cast<Wide>(lane[0]));
    }
    return total;
  }

  /// Steps [first, last) of up to `width` adjacent results; each step is one row of them.
  void block(const std::byte *base, int64_t task, int64_t first, int64_t last, Wide *to) const {
    alignas(64) T buffer[width], sum[width];
    alignas(64) Wide total[width];
    const int64_t outer = task / columns, column = task % columns * width, n = std::min(width, run0 - column);
    const int64_t start = column + (g.kept.empty() ? 0 : offsetOf(outer, g.kept, g.keptStrides, g.kept.size() - 1));
    std::fill_n(total, n, Op::template identity<Wide>());
    for (int64_t step = first; step < last;) {
      std::fill_n(sum, n, Op::template identity<T>());
      for (const int64_t end = std::min(last, step + flush); step < end; ++step) {
        const T *x = read(base, start + offsetOf(step, g.reduced, g.reducedStrides, g.reduced.size()), n, buffer);
        for (int64_t i = 0; i < n; ++i)
          sum[i] = Op::combine(sum[i], Op::enter(x[i]));
      }
      for (int64_t i = 0; i < n; ++i)
        total[i] = Op::combine(total[i], static_cast<Wide>(sum[i]));
    }
    std::copy_n(total, n, to + outer * run0 + column);
  }

  void finish(const Wide *partial, std::byte *out, int64_t begin, int64_t end) const {
    constexpr int64_t chunk = 512;
    for (int64_t i = begin; i < end; i += chunk) {
      const auto n = std::min(chunk, end - i);
      alignas(64) Wide total[chunk];
      std::copy_n(partial + i, n, total);
      for (int64_t part = 1; part < parts; ++part)
        for (int64_t j = 0; j < n; ++j)
          total[j] = Op::combine(total[j], partial[part * g.outputs + i + j]);
      for (int64_t j = 0; j < n; ++j)
        total[j] = Op::leave(total[j]);
      std::byte *to = out + static_cast<size_t>(i) * storageBytes(produced);
      if constexpr (std::same_as<Wide, int64_t>) {
        storer<int64_t>(produced)(total, to, static_cast<size_t>(n));
      } else {
        alignas(64) float value[chunk];
        const double count = mean ? static_cast<double>(g.inputs) : 1.0;
        for (int64_t j = 0; j < n; ++j)
          value[j] = static_cast<float>(total[j] / count);
        storer<float>(produced)(value, to, static_cast<size_t>(n));
      }
    }
  }

  Geometry g;
  Load<T> load;
  size_t inBytes;
  DataType produced;
  bool mean, direct;
  int64_t run0 = 1, pieces = 1, columns = 1, steps = 0, tasks = 0, parts = 1;
};

/// The reduced dimensions: `dim_arg` as an array or one integer; absent or empty means all.
std::vector<bool> reducedDims(const OpCall &call) {
  const size_t rank = operand(call, 0).shape.size();
  const std::vector<int64_t> dims = integersOf(call, "dim_arg");
  std::vector<bool> reduce(rank, dims.empty());
  for (int64_t dim : dims) {
    const auto d = static_cast<size_t>(wrapDimension(call, "dim_arg", dim, rank));
    if (reduce[d])
      fail(call, "attribute 'dim_arg' " + quoted(dims) + " names dimension " + std::to_string(d) + " twice");
    reduce[d] = true;
  }
  return reduce;
}

template <class Op> std::unique_ptr<Kernel> reduction(const OpCall &call, bool mean = false) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const std::vector<bool> reduce = reducedDims(call);
  Geometry g = geometryOf(in.shape, reduce);
  const DataType produced = sim::isBlockFormat(out.dtype) ? DataType::Float32 : out.dtype;
  if (isInteger(in.dtype) && !mean)
    return roundedTo(out, produced,
                     std::make_unique<ReduceKernel<Op, int64_t, int64_t>>(in, produced, std::move(g), false));
  return roundedTo(out, produced, std::make_unique<ReduceKernel<Op, float, double>>(in, produced, std::move(g), mean));
}

std::unique_ptr<Kernel> makeSum(const OpCall &call) { return reduction<Sum>(call); }
std::unique_ptr<Kernel> makeMean(const OpCall &call) { return reduction<Sum>(call, true); }
std::unique_ptr<Kernel> makeMax(const OpCall &call) { return reduction<Maximum>(call); }
std::unique_ptr<Kernel> makeMin(const OpCall &call) { return reduction<Minimum>(call); }
std::unique_ptr<Kernel> makeProd(const OpCall &call) { return reduction<Product>(call); }

/// The first largest element; NaN counts as largest.
std::unique_ptr<Kernel> makeArgMax(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const size_t rank = in.shape.size();
  const bool all = !call.attributes.find<int64_t>("dim");
  const int64_t dim = all ? 0 : dimension(call, "dim", rank);
  std::vector<bool> reduce(rank, all);
  if (!all)
    reduce[static_cast<size_t>(dim)] = true;
  if (!isInteger(out.dtype))
    fail(call, "the result is of type " + std::string(toString(out.dtype)) + "; expected an integer type");
  const int64_t length = all ? volume(in.shape) : in.shape[static_cast<size_t>(dim)];
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(dim) + 1; d < rank && !all; ++d)
    inner *= in.shape[d];
  const int64_t outputs = volume(out.shape);
  const Load<float> load = loader<float>(in.dtype);
  const Load<int64_t> loadInt = isInteger(in.dtype) ? loader<int64_t>(in.dtype) : nullptr;
  const Store<int64_t> store = storer<int64_t>(out.dtype);
  const size_t inBytes = storageBytes(in.dtype), outBytes = storageBytes(out.dtype);
  auto search = [=](auto load, const std::byte *from, auto value) {
    decltype(value) best{};
    int64_t index = 0;
    for (int64_t i = 0; i < length; ++i) {
      load(from + static_cast<size_t>(i * inner) * inBytes, &value, 1);
      if (i == 0 || value > best || (value != value && best == best)) {
        best = value;
        index = i;
      }
    }
    return index;
  };
  return kernelOf([=](const Buffers &buffers) {
    parallelFor(outputs, 1 + 8192 / std::max<int64_t>(1, length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const std::byte *from = buffers.ins[0] + static_cast<size_t>(i / inner * length * inner + i % inner) * inBytes;
        const int64_t index = loadInt ? search(loadInt, from, int64_t(0)) : search(load, from, 0.0f);
        store(&index, buffers.outs[0] + static_cast<size_t>(i) * outBytes, 1);
      }
    });
  });
}

} // namespace

std::vector<OpInfo> reductionOps() {
  return {
      {"ttnn.sum", makeSum}, {"ttnn.mean", makeMean}, {"ttnn.max", makeMax},
      {"ttnn.min", makeMin}, {"ttnn.prod", makeProd}, {"ttnn.argmax", makeArgMax},
  };
}

} // namespace tt::ttnn
