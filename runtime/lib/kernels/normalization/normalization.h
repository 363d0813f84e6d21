//===- normalization.h - helpers of normalization kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"
#include "tensor/storage.h"

#include <algorithm>

namespace tt::ttnn {

/// A per-channel or per-column operand as f32; absent ones are a constant.
class NormParameter {
public:
  NormParameter(const OpCall &call, size_t index, int64_t size, float otherwise, std::string_view name)
      : index(index), otherwise(otherwise) {
    const TensorSpec *spec = optionalOperand(call, index);
    if (!spec)
      return;
    if (volume(spec->shape) != size)
      fail(call, "operand '" + std::string(name) + "' has shape " + toString(spec->shape) + "; expected " +
                     std::to_string(size) + " elements");
    dtype = spec->dtype;
    load = loader<float>(spec->dtype);
    bytes = storageBytes(spec->dtype);
  }
  explicit operator bool() const { return load != nullptr; }
  void read(const Buffers &buffers, size_t first, size_t n, float *to) const {
    if (load)
      load(buffers.ins[index] + first * bytes, to, n);
    else
      std::fill_n(to, n, otherwise);
  }
  float at(const Buffers &buffers, size_t i) const {
    float value;
    read(buffers, i, 1, &value);
    return value;
  }
  /// The operand is written in place (OpInfo::writes).
  void write(const Buffers &buffers, size_t i, float value) const {
    storer<float>(dtype)(&value, const_cast<std::byte *>(buffers.ins[index]) + i * bytes, 1);
  }

private:
  size_t index;
  float otherwise;
  DataType dtype = DataType::Float32;
  Load<float> load = nullptr;
  size_t bytes = 0;
};

/// Sum of f(x) over a run, in lanes and as a tree.
template <class F> double sumOf(const float *x, size_t n, F f) {
  constexpr size_t lanes = 16;
  alignas(64) float lane[lanes] = {};
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (size_t l = 0; l < lanes; ++l)
      lane[l] += f(x[i + l]);
  for (size_t l = 0; i < n; ++i, ++l)
    lane[l] += f(x[i]);
  double sum = 0;
  for (float part : lane)
    sum += part;
  return sum;
}

} // namespace tt::ttnn
