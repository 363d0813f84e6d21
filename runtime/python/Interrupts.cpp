//===- Interrupts.cpp - Ctrl-C while programs run -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Interrupts.h"
#include "tt/signals.h"
#include "tt/types.h"

namespace tt::python {

/// Whether a signal has a handler in Python.
static bool hasPythonHandler(int number) {
  return PyCallable_Check(nb::module_::import_("signal").attr("getsignal")(number).ptr());
}

bool isMainThread() {
  static const auto main = [] {
    const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(thread.attr("ident"));
  }();
  return PyThread_get_thread_ident() == main;
}

SignalScope::SignalScope() {
  watchSignals(hasPythonHandler);
  // A signal that arrived before the runtime listened.
  if (PyErr_CheckSignals() < 0)
    throw nb::python_error();
}

bool SignalScope::decide() {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() == 0)
    return false;
  raised.emplace();
  return true;
}

void SignalScope::raise() {
  if (raised)
    throw std::move(*raised);
  if (PyErr_CheckSignals() < 0)
    throw nb::python_error();
  throw Error("interrupted by a signal");
}

} // namespace tt::python
