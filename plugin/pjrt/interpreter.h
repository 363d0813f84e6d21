//===- interpreter.h - what Python does for programs that run ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Python passes functions once, when it registers the plugin; nothing here is linked to it. A program in another
// language runs without them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/interrupt.h"
#include "tt/sim/ranks.h"

#include <optional>
#include <string>

namespace tt::pjrt {

/// While it exists in Python's main thread, Python's signal handlers are called between the ops of a run. An exception
/// of a handler ends the run, and Python raises it as soon as the call has returned.
class SignalScope {
public:
  SignalScope();

private:
  class Listener final : public Interruptible {
    bool decide() override;
  };
  std::optional<Listener> listener;
};

/// While it exists, a call of Python with unsplit values is made by the first of the ranks, for all of them. Calls in
/// this thread only.
class SharedCalls {
public:
  explicit SharedCalls(sim::Ranks *ranks);
  ~SharedCalls();
  SharedCalls(const SharedCalls &) = delete;

private:
  sim::Ranks *const before;
};

/// After an Interrupted: whether Python raises an exception as soon as the call has returned. It is reported once.
///
/// Python does so only after a call without an error, because jaxlib converts an error to an exception of its own.
bool takeRaising();

/// Reports to Python the sharding of a value in a program that is being compiled. Throws PluginError if that raises.
void inspect(const std::string &name, const std::string &sharding);

} // namespace tt::pjrt
