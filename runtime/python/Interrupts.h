//===- Interrupts.h - Ctrl-C while programs run ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/interrupt.h"

#include <nanobind/nanobind.h>

#include <optional>

namespace nb = nanobind;

namespace tt::python {

/// While it exists in the main thread, Python's signal handlers are called between the ops of a run, and end it if they
/// raise. Created and destroyed with the interpreter's lock held.
class SignalScope final : public Interruptible {
public:
  /// Throws what a handler raises for a pending signal.
  SignalScope();
  /// Throws the Python exception of an Interrupted.
  [[noreturn]] void raise();

private:
  bool decide() override;
  std::optional<nb::python_error> raised;
};

/// Python calls signal handlers in its main thread.
bool isMainThread();

/// Calls f without the interpreter's lock.
template <class F> auto interruptibly(F f) {
  if (!isMainThread()) {
    const nb::gil_scoped_release unlocked;
    return f();
  }
  SignalScope signals;
  try {
    const nb::gil_scoped_release unlocked;
    return f();
  } catch (const Interrupted &) {
    signals.raise();
  }
}

} // namespace tt::python
