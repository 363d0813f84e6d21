//===- tt_backend_api.hpp - tensors to and from a device ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Between initialize() and finish() of a tt_backend, from any thread or process.
// `timeout_in_seconds` is for waiting: time in which a program runs does not
// count, and less than 0 means until the backend is finished. A tensor is pushed
// and popped whole or not at all, also when the process is killed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt_backend_api_types.hpp"

namespace tt::backend {

/// Copies a microbatch, or with `push_one` one entry of it, to the end of a queue, converted to its format.
DEVICE_STATUS_CODE push_input(const tt_dram_io_desc &q_desc, const tt_PytorchTensorDesc &py_tensor_desc, bool push_one,
                              int timeout_in_seconds);
/// Copies the oldest microbatch, or with `get_one` the oldest entry, into memory that free_tensor() frees.
DEVICE_STATUS_CODE get_output(const tt_dram_io_desc &q_desc, tt_PytorchTensorDesc &py_tensor_desc, bool get_one,
                              int timeout_in_seconds);
/// Removes what get_output() copies.
DEVICE_STATUS_CODE pop_output(const tt_dram_io_desc &q_desc, bool pop_one, int timeout_in_seconds);
/// Frees values that the backend has allocated; those of others it leaves alone.
DEVICE_STATUS_CODE free_tensor(tt_PytorchTensorDesc &py_tensor_desc);

} // namespace tt::backend
