//===- interpreter.h - what Python does for programs that run ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Python gives functions once, when it registers the plugin; nothing here is
// linked to it. A program of another language runs without them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/interrupt.h"

#include <optional>

namespace tt::pjrt {

/// While it lives in Python's main thread, Python's handlers of signals are called between the ops of what runs. What a
/// handler raises ends the run, and is raised by Python as soon as the call has returned.
class SignalScope {
public:
  SignalScope();

private:
  class Listener final : public Interruptible {
    bool decide() override;
  };
  std::optional<Listener> listener;
};

/// After an Interrupted: whether Python raises an exception as soon as the call has returned. It is told once.
///
/// Python does so only after a call that is no error, as jaxlib makes an exception of its own of one.
bool takeRaising();

/// Tells Python the sharding that a value has in a program that is being compiled. Throws PluginError when that raises.
void inspect(const std::string &name, const std::string &sharding);

} // namespace tt::pjrt
