//===- signals.h - signals while programs run -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// An interpreter's own handlers of signals note the signal and leave the rest
// to the interpreter, which is not there while a program runs. So they get one
// in front of them that also tells the runtime (tt/interrupt.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tt {

/// Puts requestInterrupt() in front of the interpreter's handlers of SIGINT, SIGTERM, SIGALRM, SIGHUP, SIGUSR1 and
/// SIGUSR2: they may have got some, and lost ours, since the last call. Costs a clock reading within 10 ms of it.
/// Called in one thread only.
///
/// `isOfInterpreter` tells whether the interpreter has a handler of its own for a signal, which makes the handler that
/// the system has the interpreter's; it is queried until one is known. Other handlers are left alone.
void watchSignals(bool (*isOfInterpreter)(int number));
/// Returns the number of signals since they are watched.
uint32_t watchedSignals() noexcept;

} // namespace tt
