//===- tensorbin.h - tensor files of Tenstorrent's library ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/tensor.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tt::ttnn {

/// Whether such a file has a name for the data type.
bool isInTensorbin(DataType type);
/// A host tensor from the pages of a file of `size` bytes. Row-major values stay in place, others are decoded. Throws
/// BinaryError that names file and field for an invalid file.
Tensor readTensorbin(const std::string &path, const std::shared_ptr<std::byte> &pages, size_t size);
/// Writes shards of one spec, of a mesh or one alone. Throws Error.
void writeTensorbin(const std::string &path, const TensorSpec &spec, std::span<const std::byte *const> shards,
                    const std::vector<uint32_t> &meshShape);

} // namespace tt::ttnn
