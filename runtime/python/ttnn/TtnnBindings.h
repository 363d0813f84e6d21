//===- TtnnBindings.h - the Python package ttnn, in C++ ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "Bindings.h"

namespace tt::python {

//===- Types of TTNN that the runtime has no use for ------------------------===//

struct CoreCoord {
  int64_t x, y;
  bool operator==(const CoreCoord &) const = default;
};
/// A rectangle of cores; both corners are included.
struct CoreRange {
  CoreCoord start, end;
  bool operator==(const CoreRange &) const = default;
};
struct CoreRangeSet {
  std::vector<CoreRange> ranges;
  bool operator==(const CoreRangeSet &) const = default;
};
/// Rows and columns of cores from the first one on.
struct CoreGrid {
  int64_t y, x;
  bool operator==(const CoreGrid &) const = default;
};
enum class Orientation { RowMajor, ColumnMajor };
enum class TensorStorage { Host, Device };
struct ShardSpec {
  CoreRangeSet grid;
  std::vector<int64_t> shape;
  Orientation orientation = Orientation::RowMajor;
  bool operator==(const ShardSpec &) const = default;
};

/// "BFLOAT16", "TILE", "DRAM", "INTERLEAVED": their names in Python.
const char *dataTypeName(DataType type);
const char *layoutName(tt::Layout layout);
const char *bufferTypeName(BufferType type);
const char *memoryLayoutName(MemoryLayout layout);
std::string text(const MemoryConfig &memory);

/// A shape as Python's ttnn.Shape, or a tuple before that package is imported.
nb::object pyShape(const Shape &shape);

void bindTtnnTypes(nb::module_ &module);
/// Recorded calls, and copies into existing tensors.
void bindTtnnTraces(nb::module_ &module);
/// Binds the methods of TTNN's tensors to the class of the runtime module.
void bindTtnnTensor(nb::module_ &module, nb::class_<ttnn::Tensor> &tensor);

} // namespace tt::python
