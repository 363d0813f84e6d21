//===- finish.h - what follows a product on the chip ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/exact/exact.h"

namespace tt::ttnn::exact {

/// Bias, activation and packing of rows of a product. The same kernel adds a bias of one row, to partial sums that were
/// packed as f32 or bf16 and unpacked again; a separate op adds any other bias, to the packed result.
class Finish {
public:
  /// The bias is operand 2, if there is one. `activation`: a name of the elementwise table, or empty.
  Finish(const OpCall &call, const Compute &compute, const std::string &activation);
  bool fusesBias() const { return fused; }
  /// `count` destination values of a row of the result, from a column on that is a multiple of 16.
  void run(const Buffers &buffers, int64_t row, int64_t column, int64_t count, float *values) const;

private:
  void addBias(const Buffers &buffers, int64_t row, int64_t column, int64_t count, float *values) const;
  void activate(float *values, int64_t count) const;

  TensorSpec out;
  Compute compute;
  Store<float> pack;
  std::optional<TensorSpec> bias;
  std::vector<int64_t> biasStrides; // of the result's dimensions
  bool fused = false;
  Function function = nullptr;                // published
  const ElementwiseRow *activation = nullptr; // else
  size_t outBytes;
};

} // namespace tt::ttnn::exact
