//===- sums.h - what follows the sums of panels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/panels/panels.h"
#include "kernels/elementwise/elementwise.h"

#include <optional>

namespace tt::ttnn {

/// Bias, activation and rounding of blocks of sums, and their way to the result.
class SumsFinish {
public:
  /// activation: as `activationOf` gives it. produced: f32, bf16 or a block format, rows of
  /// the result being rows of its groups.
  SumsFinish(panels::Unit unit, DataType produced, const std::string &activation);

  /// c: rows of `panels::width` sums of one panel, `columns` of which are needed; changed. bias: those of its columns,
  /// or nullptr. to: the first value of the result, whose rows are `rowBytes` apart.
  void operator()(float *c, const float *bias, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) const;

private:
  panels::Unit unit;
  bool relu, toBf16;
  std::optional<DataType> block;   // the format that sums are rounded to
  Run<float> activation = nullptr; // another
};

} // namespace tt::ttnn
