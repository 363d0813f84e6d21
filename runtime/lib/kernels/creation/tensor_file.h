//===- tensor_file.h - tensors as files -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/tensor.h"

namespace tt::ttnn {

/// A host tensor of a file of the library (include/ttmlir/Target/TTNN/tensorbin.fbs), or of one of emitted programs
/// (tensor.fbs). Throws BinaryError that names file and field for anything that is no such file.
Tensor readTensorFile(const std::string &path);
/// Writes a file of the library, next to its place and renamed, so that no reader sees half a file. Throws Error.
void writeTensorFile(const std::string &path, const Tensor &tensor);

} // namespace tt::ttnn
