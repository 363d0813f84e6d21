//===- Interrupts.cpp - Ctrl-C while programs run -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Python's own handlers of signals note the signal and leave the rest to the
// interpreter, which is not there while a program runs. So they get one in front
// of them that also tells the runtime.
//
//===----------------------------------------------------------------------===//

#include "Interrupts.h"
#include "tt/types.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace tt::python {
namespace {

/// Those that are meant to end what a program does, or to look in on it.
constexpr std::array watched = {SIGINT, SIGTERM, SIGALRM, SIGHUP, SIGUSR1, SIGUSR2};

using Handler = void (*)(int);
Handler ofPython = nullptr; // one for all signals; known once a signal has had one

void noteSignal(int number) {
  const int before = errno;
  requestInterrupt();
  ofPython(number);
  errno = before;
}

/// The handler in Python that a signal has.
bool hasPythonHandler(int number) {
  return PyCallable_Check(nb::module_::import_("signal").attr("getsignal")(number).ptr());
}

/// Signals may have got handlers, and lost ours, since.
void watchSignals() {
  for (const int number : watched) {
    struct sigaction action;
    if (::sigaction(number, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
        action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || action.sa_handler == noteSignal)
      continue;
    if (!ofPython && hasPythonHandler(number))
      ofPython = action.sa_handler;
    if (action.sa_handler != ofPython)
      continue; // somebody else's, who may call the one before: leave it alone
    action.sa_handler = noteSignal;
    ::sigaction(number, &action, nullptr);
  }
}

/// Asking the system each time would cost more than a small program takes.
bool isDue() {
  constexpr int64_t interval = 10'000'000; // ns
  static int64_t last = -interval;
  struct timespec time;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const int64_t now = time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
  return now - last >= interval ? (last = now, true) : false;
}

} // namespace

bool isMainThread() {
  static const auto main = [] {
    const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(thread.attr("ident"));
  }();
  return PyThread_get_thread_ident() == main;
}

SignalScope::SignalScope() {
  if (isDue())
    watchSignals();
  // One that came before the runtime was told to listen.
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
