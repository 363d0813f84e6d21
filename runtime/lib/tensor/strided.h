//===- strided.h - strided copies -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// permute, transpose, slice, repeat and sharding are the same loop: result element [i, j, ...] is source element offset
// + i * stride0 + j * stride1 + ...
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

namespace tt::ttnn {

class StridedCopy {
public:
  /// dims: those of the result, row-major; strides: of the source, in elements.
  StridedCopy(Shape dims, std::vector<int64_t> strides, int64_t offset, size_t elementBytes);
  /// The result is a piece of the source, in order.
  bool isView() const { return dims.size() == 1 && strides[0] == 1; }
  /// Returns the offset of the first element.
  size_t offsetBytes() const { return static_cast<size_t>(offset) * elementBytes; }
  /// Copies with all threads.
  void run(const std::byte *from, std::byte *to) const;

private:
  template <class T> void copy(const T *from, T *to) const;
  template <class T> void copyRuns(const T *from, T *to) const;
  template <class T> void transpose(const T *from, T *to) const;
  int64_t sourceOffset(int64_t outer, size_t skip) const;

  Shape dims; // merged; at least one
  std::vector<int64_t> strides;
  int64_t offset, total = 1;
  size_t elementBytes;
  int columns = -1; // the dimension in which the source is contiguous, when that is not the last
};

/// Row-major strides of a shape.
std::vector<int64_t> rowMajorStrides(const Shape &shape);

} // namespace tt::ttnn
