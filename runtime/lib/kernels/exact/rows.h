//===- rows.h - sums and extremes of lines of tiles -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/exact/exact.h"

#include <optional>

namespace tt::ttnn::exact {

/// Along a row of tiles the sum is transposed after each of them, down a column it is not (llk_math_reduce.h).
enum class Along : uint8_t { Row, Column };

/// Values of a line in the order of the tiles, after the unpacker; `source` is the f32 format there.
struct Line {
  const float *values;
  int64_t count;
  DataType source; // of memory
};
/// The matrix unit multiplies each value by `scale` (1, or 1 / n).
float sumOf(const Line &line, float scale, Along along, const Compute &compute);
float maximumOf(const Line &line, Along along, const Compute &compute);

/// Returns `dst` after a tile of a line, as f32 bits: plus the sum of 32 values, or the maximum of it and of at most 32
/// values; without `dst`, of the values alone.
uint32_t addTile(const float *values, float scale, uint32_t dst, DataType source, Along along, const Compute &compute);
uint32_t joinTile(std::span<const float> values, std::optional<uint32_t> dst, DataType source, Along along,
                  const Compute &compute);
/// `dst` plus the sum of a tile of 32 rows of 32 values. Rows of its four faces are added, and then the values in
/// each column. Both steps multiply by the factor, which therefore is a square root.
uint32_t addWholeTile(const float *values, float scale, uint32_t dst, DataType source, const Compute &compute);

enum class Operation : uint8_t { Sum, Difference, Product };

/// The steps of a fused op: each result is packed as f32 or bf16, and unpacked again.
class Steps {
public:
  explicit Steps(const Compute &compute) : compute(compute) {}
  DataType type() const { return compute.wide() ? DataType::Float32 : DataType::BFloat16; }
  void pass(std::span<float> values) const;
  float passed(float value) const {
    pass({&value, 1});
    return value;
  }
  /// The matrix unit on destination values, each with its own value of `others` or all with the only one.
  void combine(Operation operation, std::span<float> values, std::span<const float> others) const;
  void apply(Operation operation, std::span<float> values, std::span<const float> others) const {
    combine(operation, values, others);
    pass(values);
  }

private:
  Compute compute;
};

/// Runs f(line, result) for each row of operand 0 (`in`, unpacked) in parallel; `out` is packed.
class RowKernel final : public Kernel {
public:
  using Body = std::function<void(const Buffers &buffers, std::vector<float> &row, std::vector<float> &result)>;
  RowKernel(const TensorSpec &in, const TensorSpec &out, size_t dim, const Compute &compute, Body body);
  void run(const Buffers &buffers) const override;

private:
  TensorSpec in, out;
  size_t dim;
  Compute compute;
  Body body;
};

} // namespace tt::ttnn::exact
