//===- tt_backend.hpp - running device images --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt_backend_api_types.hpp"

/// The programs of an image on a simulated chip, and the queues of its inputs and outputs.
///
/// Programs run in a thread of their own, in the order in which they were requested, and wait for inputs and for room
/// for outputs. Only the process that initializes the backend runs programs; another one that creates it for an image
/// with the same output path can push and pop.
class tt_backend {
public:
  /// Throws std::runtime_error for an image that is for another device than `config` says.
  static std::shared_ptr<tt_backend> create(const std::shared_ptr<tt::tt_device_image> &model,
                                            const tt::tt_backend_config &config);
  virtual ~tt_backend() = default;

  /// Opens the chip and makes the queues, empty. RuntimeError when another backend has the output path.
  virtual tt::DEVICE_STATUS_CODE initialize() = 0;
  /// Runs what can run without waiting, and closes queues and chip. RuntimeError when a program had failed, or waited.
  virtual tt::DEVICE_STATUS_CODE finish() = 0;

  virtual const std::vector<std::string> &get_programs() const = 0;
  /// Asks for runs: as many as the parameter "$p_loop_count" says, each of one microbatch.
  virtual tt::DEVICE_STATUS_CODE run_program(const std::string &name,
                                             const std::map<std::string, std::string> &parameters = {}) = 0;
  /// Waits until all programs have run. TimeoutError when so many seconds go by in which nothing runs.
  virtual tt::DEVICE_STATUS_CODE wait_for_idle(int timeout_in_seconds = 60) = 0;

  /// Throws std::runtime_error naming the queues that there are.
  virtual tt::tt_dram_io_desc get_queue_descriptor(const std::string &name) const = 0;
};
