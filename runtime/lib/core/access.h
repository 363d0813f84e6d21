//===- access.h - index operands and contiguous runs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Positions, page tables and lengths are operands: they are known only when the kernel runs, and checked there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/op.h"
#include "tensor/storage.h"

namespace tt::ttnn {

/// The integers of an attribute that is an array or a single one; none if it is absent.
inline std::vector<int64_t> integersOf(const OpCall &call, std::string_view name) {
  if (const auto *list = call.attributes.find<std::vector<int64_t>>(name))
    return *list;
  if (const auto *one = call.attributes.find<int64_t>(name))
    return {*one};
  return {};
}

/// The integers of an operand; floats are also accepted, because TTNN passes positions in bf16.
class Positions {
public:
  Positions(const OpCall &call, size_t index);
  int64_t count() const { return total; }
  /// Element i; throws OpError naming op and operand unless it is in [0, limit).
  int64_t at(const std::byte *values, int64_t i, int64_t limit) const;
  /// Element i, without a check.
  int64_t raw(const std::byte *values, int64_t i) const;

private:
  std::string where;
  int64_t total;
  size_t bytes;
  Load<int64_t> loadInt = nullptr;
  Load<float> loadFloat = nullptr;
};

/// Copies runs of elements, and converts them if the types differ. A run of a block format begins with a row.
class RunCopy {
public:
  RunCopy(DataType from, DataType to);
  /// n elements, from and to these addresses.
  void operator()(const std::byte *from, std::byte *to, size_t n) const;
  size_t fromBytes, toBytes; // of an element

private:
  bool same;
  Load<int64_t> loadInt = nullptr;
  Store<int64_t> storeInt = nullptr;
  Load<float> loadFloat = nullptr;
  Store<float> storeFloat = nullptr;
};

/// A tensor split at one dimension: element (o, i, n) is at (o * length + i) * inner + n.
struct Lines {
  Lines(const Shape &shape, size_t dim) : length(shape[dim]) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != dim)
        (d < dim ? outer : inner) *= shape[d];
  }
  int64_t outer = 1, length, inner = 1;
  /// Returns the start of line `line` of outer * inner.
  int64_t start(int64_t line) const { return line / inner * length * inner + line % inner; }
  int64_t count() const { return outer * inner; }
};

} // namespace tt::ttnn
