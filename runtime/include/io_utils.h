//===- io_utils.h - descriptors of queues and tensors ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt_backend.hpp"

namespace tt::io::utils {

/// Throws std::runtime_error for a name that the image does not have.
tt_dram_io_desc get_queue_descriptor(const std::shared_ptr<tt_backend> &backend, const std::string &queue_name);
/// A tensor of the queue's shape and format, without values. Throws std::runtime_error.
tt_PytorchTensorDesc get_tensor_descriptor(const std::string &name, const std::shared_ptr<tt_device_image> &model,
                                           const tt_dram_io_desc &io_desc);
/// Allocates values, and fills them with numbers from 0 to 1 (integers: 0) that depend on the name alone. Throws
/// std::runtime_error for a tensor that cannot be.
void fill_tensor_with_data(const std::string &name, tt_PytorchTensorDesc &tensor_desc);

} // namespace tt::io::utils
