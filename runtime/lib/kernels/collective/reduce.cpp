//===- reduce.cpp - values of several devices combined --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "reduce.h"
#include "core/mesh.h"
#include "core/scalars.h"
#include "tensor/storage.h"
#include "tensor/strided.h"
#include "tt/parallel.h"
#include "tt/ttnn/tensor.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

enum class Reduce : int64_t { Sum = 0, Max = 2, Min = 3, Prod = 6 };

Reduce reduceType(const OpCall &call) {
  const auto type = call.attributes.get<EnumAttribute>("reduce_type");
  switch (static_cast<Reduce>(type.value)) {
  case Reduce::Sum:
  case Reduce::Max:
  case Reduce::Min:
  case Reduce::Prod:
    return static_cast<Reduce>(type.value);
  }
  fail(call, "attribute 'reduce_type' is " + type.symbol + "; expected sum, max, min or prod");
}

/// T: float or int64_t.
template <class T> class ReduceKernel final : public MeshKernel {
public:
  /// dim: the scattered dimension, or -1 for all_reduce.
  ReduceKernel(const OpCall &call, Reduce reduce, int64_t dim)
      : in(operand(call, 0)), out(result(call)), reduce(reduce),
        groups(groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))), load(loader<T>(in.dtype)),
        store(storer<T>(out.dtype)), scattered(dim >= 0) {
    row = out.shape.empty() ? 1 : out.shape.back();
    rows = row == 0 ? 0 : volume(out.shape) / row;
    strides = rowMajorStrides(in.shape);
    if (scattered)
      step = out.shape[static_cast<size_t>(dim)] * strides[static_cast<size_t>(dim)];
  }

  std::vector<Need> needs() const override { return needsOf(groups); }
  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    for (const auto &group : groups) {
      const std::byte *reduced = nullptr;
      for (size_t i = 0; i < group.size(); ++i) {
        if (!chips.has(group[i]))
          continue;
        if (!scattered && reduced) { // the same on every device of the group
          if (out.bytes())
            std::memcpy(outs[0][group[i]], reduced, out.bytes());
          continue;
        }
        reduced = outs[0][group[i]];
        parallelFor(rows, 1 + 16384 / std::max<int64_t>(1, row), [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r)
            one(ins[0], group, r, static_cast<int64_t>(i) * step, outs[0][group[i]]);
        });
      }
    }
  }

private:
  static T combine(Reduce reduce, T a, T b) {
    switch (reduce) {
    case Reduce::Sum:
      return a + b;
    case Reduce::Max:
      return scalars::maximum(a, b);
    case Reduce::Min:
      return scalars::minimum(a, b);
    case Reduce::Prod:
      if constexpr (std::same_as<T, int64_t>)
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else
        return a * b;
    }
    return a;
  }

  void one(std::span<const std::byte *const> ins, const std::vector<size_t> &group, int64_t r, int64_t offset,
           std::byte *to) const {
    constexpr int64_t chunk = 1024;
    alignas(64) T sum[chunk], value[chunk];
    int64_t at = offset, rest = r;
    for (size_t d = out.shape.empty() ? 0 : out.shape.size() - 1; d-- > 0; rest /= out.shape[d])
      at += rest % out.shape[d] * strides[d];
    for (int64_t i = 0; i < row; i += chunk) {
      const int64_t n = std::min(chunk, row - i);
      for (size_t k = 0; k < group.size(); ++k) {
        const std::byte *from = on(ins, group[k]) + static_cast<size_t>(at + i) * storageBytes(in.dtype);
        load(from, k == 0 ? sum : value, static_cast<size_t>(n));
        for (int64_t j = 0; j < n && k > 0; ++j)
          sum[j] = combine(reduce, sum[j], value[j]);
      }
      store(sum, to + static_cast<size_t>(r * row + i) * storageBytes(out.dtype), static_cast<size_t>(n));
    }
  }

  TensorSpec in, out;
  Reduce reduce;
  std::vector<std::vector<size_t>> groups;
  Load<T> load;
  Store<T> store;
  bool scattered;
  std::vector<int64_t> strides;
  int64_t row, rows, step = 0;
};

std::unique_ptr<MeshKernel> reduceKernel(const OpCall &call, int64_t dim) {
  const Reduce reduce = reduceType(call);
  if (isInteger(operand(call, 0).dtype))
    return std::make_unique<ReduceKernel<int64_t>>(call, reduce, dim);
  return std::make_unique<ReduceKernel<float>>(call, reduce, dim);
}

std::unique_ptr<MeshKernel> makeAllReduce(const OpCall &call) { return reduceKernel(call, -1); }

std::unique_ptr<MeshKernel> makeReduceScatter(const OpCall &call) {
  Shape part = operand(call, 0).shape;
  const int64_t dim = dimension(call, "scatter_dim", part.size());
  part[static_cast<size_t>(dim)] = partOf(call, dim, part[static_cast<size_t>(dim)], groupSize(call));
  return reduceKernel(call, dim);
}

} // namespace

std::vector<OpInfo> reducingCollectiveOps() {
  return {
      {"ttnn.all_reduce", nullptr, makeAllReduce},
      {"ttnn.all_reduce_async", nullptr, makeAllReduce},
      {"ttnn.reduce_scatter", nullptr, makeReduceScatter},
  };
}

} // namespace tt::ttnn
