//===- tensor_file.h - tensors as files -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/tensor.h"

namespace tt::ttnn {

/// A host tensor over the pages of the file (include/ttmlir/Target/TTNN/tensor.fbs). Throws BinaryError that names file
/// and field for anything that is not such a file.
Tensor readTensorFile(const std::string &path);
/// Written next to its place and renamed, so that nobody sees half a file. Throws Error.
void writeTensorFile(const std::string &path, const Tensor &tensor);

} // namespace tt::ttnn
