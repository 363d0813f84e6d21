//===- TtnnText.h - printing of tensors -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "TtnnBindings.h"

namespace tt::python {

/// Reads stored values one by one, of any data type.
class Values {
public:
  Values(const ttnn::Tensor &tensor, size_t shard) : type(tensor.dtype()), data(tensor.data(shard)) {}
  bool isInteger() const;
  double number(int64_t index) const;
  /// A Python bool, int or float.
  nb::object object(int64_t index) const;

private:
  DataType type;
  const std::byte *data;
};

/// Nested lists of the values of a shard; the value itself for rank 0.
nb::object nestedLists(const ttnn::Tensor &tensor, size_t shard = 0);
/// "ttnn.Tensor([[ 1.0000, ...]], shape=Shape([32, 32]), dtype=DataType::BFLOAT16, layout=Layout::TILE)"; the values of
/// large tensors are shortened.
std::string describe(const ttnn::Tensor &tensor);

} // namespace tt::python
