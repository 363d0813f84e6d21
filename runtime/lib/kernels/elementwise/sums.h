//===- sums.h - what follows the sums of panels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/panels/panels.h"
#include "kernels/elementwise/elementwise.h"

#include <optional>

namespace tt::ttnn {

/// A tensor of the same shape and type that is added to a result, whose sum may pass through a relu: the same bits as
/// with a kernel for each.
struct Residual {
  const std::byte *values = nullptr;
  bool relu = false;

  /// The same from a byte of the result on.
  Residual from(int64_t byte) const { return {values ? values + byte : nullptr, relu}; }
};

/// Bias, activation and rounding of blocks of sums, and their storage in the result.
class SumsFinish {
public:
  /// activation: as `activationOf` returns it. produced: f32, bf16 or a block format; rows of the result are rows of
  /// its groups.
  SumsFinish(panels::Unit unit, DataType produced, const std::string &activation);

  /// c: rows of `panels::width` sums of one panel, `columns` of which are needed; it is overwritten. bias: that of its
  /// columns, or nullptr. to: the first value of the result, whose rows are `rowBytes` apart. residual: its values
  /// begin with the one that is added to the first value.
  void operator()(float *c, const float *bias, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes,
                  const Residual &residual = {}) const;

  /// Whether it can add a residual of this type.
  bool adds(DataType type) const { return !block && type == (toBf16 ? DataType::BFloat16 : DataType::Float32); }

private:
  panels::Unit unit;
  bool relu, relu6, toBf16;
  std::optional<DataType> block;   // the format that sums are rounded to
  Run<float> activation = nullptr; // another
};

} // namespace tt::ttnn
