//===- distributed.cpp - norms of rows cut over a mesh -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// distributed_layer_norm and distributed_rms_norm compute the whole norm; *_pre_all_gather, a gather and
// layer_norm_post_all_gather are each a step of it.
//
//===----------------------------------------------------------------------===//

#include "core/mesh.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/normalization/normalization.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tt::ttnn {
namespace {

constexpr size_t chunk = 1024;
/// A sum is in the first column of a tile.
constexpr int64_t tileColumns = 32;

/// Rows of operand 0 with those of a residual added, in f32.
class SummedRows {
public:
  SummedRows(const OpCall &call, size_t residual)
      : in(operand(call, 0)), added(call, residual, volume(in.shape), 0.0f, "residual"), load(loader<float>(in.dtype)),
        bytes(storageBytes(in.dtype)) {
    if (in.shape.empty())
      fail(call, "operand 0 is a scalar; expected at least one dimension");
    if (isInteger(in.dtype))
      fail(call, "operand 0 is of type " + std::string(toString(in.dtype)) + "; expected floats");
    if (const TensorSpec *spec = optionalOperand(call, residual); spec && spec->shape != in.shape)
      expectOperandShape(call, residual, in.shape);
    length = static_cast<size_t>(in.shape.back());
    rows = length ? volume(in.shape) / in.shape.back() : 0;
  }

  /// Calls f(values, n, first column) for the pieces of a row.
  template <class F> void forEach(const Buffers &buffers, int64_t row, F f) const {
    alignas(64) float x[chunk], more[chunk];
    for (size_t i = 0; i < length; i += chunk) {
      const size_t n = std::min(chunk, length - i), at = static_cast<size_t>(row) * length + i;
      load(buffers.ins[0] + at * bytes, x, n);
      if (added) {
        added.read(buffers, at, n, more);
        for (size_t j = 0; j < n; ++j)
          x[j] += more[j];
      }
      f(x, n, i);
    }
  }
  /// Rows that a thread takes at least.
  int64_t grain(size_t parts = 1) const { return static_cast<int64_t>(1 + 8192 / std::max<size_t>(1, length * parts)); }

  TensorSpec in;
  size_t length;
  int64_t rows;

private:
  NormParameter added;
  Load<float> load;
  size_t bytes;
};

/// (x - mean) * scale * weight + bias, by rows.
class ScaledRows {
public:
  /// bias: operand, or one that the op does not have. produced: type of the written values.
  ScaledRows(const OpCall &call, const SummedRows &rows, size_t weight, size_t bias, DataType produced)
      : rows(rows), weight(call, weight, static_cast<int64_t>(rows.length), 1.0f, "weight"),
        bias(call, bias, static_cast<int64_t>(rows.length), 0.0f, "bias"), store(storer<float>(produced)),
        bytes(storageBytes(produced)) {
    expectResultShape(call, rows.in.shape);
  }
  void run(const Buffers &buffers, int64_t row, double centre, double variance, double epsilon) const {
    const auto mean = static_cast<float>(centre);
    const auto scale = static_cast<float>(1.0 / std::sqrt(variance + epsilon));
    rows.forEach(buffers, row, [&](float *x, size_t n, size_t first) {
      alignas(64) float w[chunk], b[chunk];
      weight.read(buffers, first, n, w);
      bias.read(buffers, first, n, b);
      for (size_t j = 0; j < n; ++j)
        x[j] = (x[j] - mean) * scale * w[j] + b[j];
      store(x, buffers.outs[0] + (static_cast<size_t>(row) * rows.length + first) * bytes, n);
    });
  }

private:
  const SummedRows &rows;
  NormParameter weight, bias;
  Store<float> store;
  size_t bytes;
};

//===----------------------------------------------------------------------===//
// At once
//===----------------------------------------------------------------------===//

/// Operands of the norms that work across the mesh.
struct Operands {
  size_t weight, bias, residual, count;
};

class DistributedNorm final : public MeshKernel {
public:
  DistributedNorm(const OpCall &call, const Operands &operands, bool centred, double epsilon)
      : rows(call, operands.residual), scaled(call, rows, operands.weight, operands.bias, result(call).dtype),
        groups(groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))), residual(operands.residual),
        count(operands.count), centred(centred), epsilon(call.attributes.get<double>("epsilon", epsilon)) {}

  std::vector<Need> needs() const override {
    std::vector<Need> needs = needsOf(groups);
    if (residual < count)
      std::ranges::copy(needsOf(groups, static_cast<uint32_t>(residual)), std::back_inserter(needs));
    return needs;
  }
  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    for (const auto &group : groups)
      if (std::ranges::any_of(group, [&](size_t device) { return chips.has(device); }))
        parallelFor(rows.rows, rows.grain(group.size()), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row)
            one(ins, outs, group, row);
        });
  }

private:
  static constexpr size_t most = 4; // operands

  void one(DeviceIns ins, DeviceOuts outs, const std::vector<size_t> &group, int64_t row) const {
    // Statistics cover the whole row, on whatever rank its parts are; each rank writes its own part.
    auto forEachDevice = [&](auto f) {
      for (size_t device : group) {
        const std::byte *pointers[most] = {};
        for (size_t i = 0; i < std::min(ins.size(), count); ++i)
          pointers[i] = ins[i].empty() ? nullptr : on(ins[i], device);
        std::byte *out = outs[0][device];
        f(Buffers{pointers, {&out, 1}, nullptr});
      }
    };
    const auto total = static_cast<double>(rows.length) * static_cast<double>(group.size());
    double sum = 0, squares = 0;
    if (centred)
      forEachDevice([&](const Buffers &buffers) {
        rows.forEach(buffers, row,
                     [&](const float *x, size_t n, size_t) { sum += sumOf(x, n, [](float v) { return v; }); });
      });
    const auto mean = static_cast<float>(sum / total);
    forEachDevice([&](const Buffers &buffers) {
      rows.forEach(buffers, row, [&](const float *x, size_t n, size_t) {
        squares += sumOf(x, n, [mean](float v) { return (v - mean) * (v - mean); });
      });
    });
    forEachDevice([&](const Buffers &buffers) {
      if (buffers.outs[0])
        scaled.run(buffers, row, mean, squares / total, epsilon);
    });
  }

  SummedRows rows;
  ScaledRows scaled;
  std::vector<std::vector<size_t>> groups;
  size_t residual, count;
  bool centred;
  double epsilon;
};

std::unique_ptr<MeshKernel> makeDistributedLayerNorm(const OpCall &call) {
  return std::make_unique<DistributedNorm>(call, Operands{1, 2, 3, 4}, true, 1e-5);
}
/// Operand 3, in which the chip's library keeps its statistics, is not read.
std::unique_ptr<MeshKernel> makeDistributedRmsNorm(const OpCall &call) {
  return std::make_unique<DistributedNorm>(call, Operands{1, 4, 2, 3}, false, 1e-12);
}

//===----------------------------------------------------------------------===//
// On one device
//===----------------------------------------------------------------------===//

/// rms_norm of the sum with a residual.
class ResidualNorm final : public Kernel {
public:
  ResidualNorm(const OpCall &call, DataType produced)
      : rows(call, 3), scaled(call, rows, 1, 2, produced), epsilon(call.attributes.get<double>("epsilon", 1e-5)) {}
  void run(const Buffers &buffers) const override {
    parallelFor(rows.rows, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        double squares = 0;
        rows.forEach(buffers, row,
                     [&](const float *x, size_t n, size_t) { squares += sumOf(x, n, [](float v) { return v * v; }); });
        scaled.run(buffers, row, 0, squares / static_cast<double>(rows.length), epsilon);
      }
    });
  }

private:
  SummedRows rows;
  ScaledRows scaled;
  double epsilon;
};

std::unique_ptr<Kernel> makeResidualNorm(const OpCall &call) {
  Epilogue epilogue;
  epilogue.activation = activationOf(call);
  const DataType produced = epilogue.empty() ? result(call).dtype : DataType::Float32;
  auto norm = std::make_unique<ResidualNorm>(call, produced);
  return epilogue.empty() ? std::move(norm) : withEpilogue(call, std::move(norm), produced, epilogue);
}

//===----------------------------------------------------------------------===//
// In steps
//===----------------------------------------------------------------------===//

/// The sums of a device's part of each row: of the squares, then of the elements.
class RowSums final : public Kernel {
public:
  RowSums(const OpCall &call, size_t sums)
      : rows(call, 1), sums(sums), store(storer<float>(result(call).dtype)), bytes(storageBytes(result(call).dtype)) {
    Shape expected = rows.in.shape;
    expected.back() = static_cast<int64_t>(sums) * tileColumns;
    expectResultShape(call, expected);
  }
  void run(const Buffers &buffers) const override {
    const size_t columns = sums * tileColumns;
    parallelFor(rows.rows, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        double squares = 0, sum = 0;
        rows.forEach(buffers, row, [&](const float *x, size_t n, size_t) {
          squares += sumOf(x, n, [](float v) { return v * v; });
          if (sums > 1)
            sum += sumOf(x, n, [](float v) { return v; });
        });
        float values[2 * tileColumns] = {static_cast<float>(squares)};
        values[tileColumns] = static_cast<float>(sum);
        store(values, buffers.outs[0] + static_cast<size_t>(row) * columns * bytes, columns);
      }
    });
  }

private:
  SummedRows rows;
  size_t sums;
  Store<float> store;
  size_t bytes;
};

std::unique_ptr<Kernel> makeRmsSums(const OpCall &call) { return std::make_unique<RowSums>(call, 1); }
std::unique_ptr<Kernel> makeLayerSums(const OpCall &call) { return std::make_unique<RowSums>(call, 2); }

/// layer_norm with the sums of all devices, 64 columns each.
class NormOfSums final : public Kernel {
public:
  explicit NormOfSums(const OpCall &call)
      : rows(call, call.ins.size()), scaled(call, rows, 2, 3, result(call).dtype), stats(operand(call, 1)),
        load(loader<float>(stats.dtype)), bytes(storageBytes(stats.dtype)),
        epsilon(call.attributes.get<double>("epsilon", 1e-12)) {
    const int64_t columns = 2 * tileColumns, given = stats.shape.empty() ? 0 : stats.shape.back();
    Shape expected = rows.in.shape;
    expected.back() = given;
    if (given < columns || given % columns != 0 || stats.shape != expected)
      fail(call, "operand 1 has shape " + toString(stats.shape) + "; expected the rows of " + toString(rows.in.shape) +
                     " with " + std::to_string(columns) + " columns for each device");
  }
  void run(const Buffers &buffers) const override {
    const auto columns = static_cast<size_t>(stats.shape.back());
    const double total = static_cast<double>(rows.length) * static_cast<double>(columns / (2 * tileColumns));
    parallelFor(rows.rows, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        double squares = 0, sum = 0;
        for (size_t i = 0; i < columns; i += 2 * tileColumns) {
          float values[tileColumns + 1];
          load(buffers.ins[1] + (static_cast<size_t>(row) * columns + i) * bytes, values, tileColumns + 1);
          squares += values[0];
          sum += values[tileColumns];
        }
        const double mean = sum / total;
        // In a short format, sums may give a negative variance.
        scaled.run(buffers, row, mean, std::max(0.0, squares / total - mean * mean), epsilon);
      }
    });
  }

private:
  SummedRows rows;
  ScaledRows scaled;
  TensorSpec stats;
  Load<float> load;
  size_t bytes;
  double epsilon;
};

std::unique_ptr<Kernel> makeNormOfSums(const OpCall &call) { return std::make_unique<NormOfSums>(call); }

} // namespace

std::vector<OpInfo> distributedNormalizationOps() {
  return {
      {"ttnn.distributed_layer_norm", nullptr, makeDistributedLayerNorm},
      {"ttnn.distributed_rms_norm", nullptr, makeDistributedRmsNorm},
      {"ttnn.dit_rms_norm_unary_fused", makeResidualNorm},
      {"ttnn.rms_norm_pre_all_gather", makeRmsSums},
      // recip: reciprocals for another way to compute the same sums.
      {"ttnn.layer_norm_pre_all_gather", makeLayerSums},
      {"ttnn.layer_norm_post_all_gather", makeNormOfSums},
  };
}

} // namespace tt::ttnn
