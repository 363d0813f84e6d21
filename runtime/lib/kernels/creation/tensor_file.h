//===- tensor_file.h - tensors as files -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/tensor.h"

namespace tt::ttnn {

/// A host tensor from a file of the library (include/ttmlir/Target/TTNN/tensorbin.fbs), or from one of emitted programs
/// (tensor.fbs). Throws BinaryError that names file and field for an invalid file.
Tensor readTensorFile(const std::string &path);
/// Writes a file of the library, in the same folder and renamed, so that no reader sees a partial file. Throws Error.
void writeTensorFile(const std::string &path, const Tensor &tensor);

} // namespace tt::ttnn
