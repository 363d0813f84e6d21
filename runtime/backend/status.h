//===- status.h - errors as status codes -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "queues.h"

#include <iostream>

namespace tt::backend {

/// Calls a function and prints its error on stderr. A timeout prints nothing: callers try again.
template <class F> DEVICE_STATUS_CODE guarded(const std::string &name, F &&function) {
  try {
    function();
    return DEVICE_STATUS_CODE::Success;
  } catch (const TimeoutError &) {
    return DEVICE_STATUS_CODE::TimeoutError;
  } catch (const std::exception &error) {
    std::cerr << "tt_backend: error: " + name + ": " + error.what() + "\n" << std::flush;
    return DEVICE_STATUS_CODE::RuntimeError;
  }
}

} // namespace tt::backend
