//===- interpreter.cpp - what Python does for programs that run -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "interpreter.h"
#include "common.h"
#include "tt/signals.h"
#include "tt/ttnn/host_call.h"

#include <memory>
#include <pthread.h>
#include <utility>
#include <vector>

extern "C" {
/// Functions of Python's C API by their names there, and the marks of its own signal handlers.
struct TtPjrtInterpreter {
  int (*ensure)();
  void (*release)(int state);
  int (*checkSignals)();
  void (*fetch)(void **type, void **value, void **traceback);
  void (*restore)(void *type, void *value, void *traceback);
  int (*addPendingCall)(int (*function)(void *), void *argument);
  void (*setInterrupt)();
  unsigned long mainThread;
  int handledSignal; // one that has a handler in Python, or 0
};
__attribute__((visibility("default"))) void ttPjrtSetInterpreter(const TtPjrtInterpreter *interpreter);
/// Records, in a host function that ends in the main thread, that its exception is to leave the program unchanged.
/// Takes the references.
__attribute__((visibility("default"))) void ttPjrtRaise(void *type, void *value, void *traceback);

/// An operand or result in Python.
struct TtPjrtArray {
  int32_t dtype; // tt::DataType
  void *data;
  size_t bytes;
};
using TtPjrtFail = void (*)(const char *text, size_t size, void *to);
/// Finds the function by its name. Calls `fail` once: with a text if it raises, with nullptr after it has returned its
/// results. Does not call it if a signal handler raised outside of the function: Python has lost that exception, and
/// the return value has no meaning.
using TtPjrtHostFunction = int (*)(const char *name, size_t inCount, const TtPjrtArray *ins, size_t outCount,
                                   const TtPjrtArray *outs, TtPjrtFail fail, void *to);
__attribute__((visibility("default"))) void ttPjrtSetHostFunction(TtPjrtHostFunction function);
/// Passes on the sharding that the compiler found for a value, a message xla.OpSharding. Calls `fail` if it raises.
using TtPjrtInspect = void (*)(const char *name, const char *sharding, size_t bytes, TtPjrtFail fail, void *to);
__attribute__((visibility("default"))) void ttPjrtSetInspector(TtPjrtInspect inspect);
}

namespace tt::pjrt {
namespace {

TtPjrtInterpreter interpreter{};
TtPjrtInspect inspector = nullptr;

struct Exception {
  void *type, *value, *traceback;
};
thread_local std::unique_ptr<Exception> raised; // by what was called last
thread_local bool isRaising = false;
thread_local sim::Ranks *sharing = nullptr; // calls of Python

/// Calls, or takes the results that the first rank got.
template <class F> void callShared(std::string_view name, std::span<const ttnn::HostArray> outs, F call) {
  if (!sharing || !name.ends_with(".whole"))
    return call();
  if (sharing->rank() == 0)
    call();
  std::vector<sim::Ranks::Send> sends;
  std::vector<sim::Ranks::Receive> receives;
  for (const ttnn::HostArray &out : outs) {
    const size_t bytes = out.spec->bytes();
    for (uint32_t rank = 1; rank < sharing->size() && sharing->rank() == 0; ++rank)
      sends.push_back({rank, {out.data, bytes}});
    if (sharing->rank() != 0)
      receives.push_back({0, {out.data, bytes}});
  }
  if (!outs.empty())
    sharing->exchange(sends, receives, "results of a function of Python");
}

/// Python raises it when its main thread continues.
void raiseLater(std::unique_ptr<Exception> exception) {
  const auto raise = [](void *argument) {
    const std::unique_ptr<Exception> given(static_cast<Exception *>(argument));
    interpreter.restore(given->type, given->value, given->traceback);
    return -1;
  };
  isRaising = true;
  interpreter.addPendingCall(raise, exception.release());
}

std::vector<TtPjrtArray> arrays(std::span<const ttnn::HostArray> from) {
  std::vector<TtPjrtArray> to;
  for (const ttnn::HostArray &array : from)
    to.push_back({static_cast<int32_t>(array.spec->dtype), array.data, array.spec->bytes()});
  return to;
}

/// Calls Python's handlers; whether one has raised.
bool handleSignals() {
  const int state = interpreter.ensure();
  const bool hasRaised = interpreter.checkSignals() != 0;
  if (hasRaised) {
    auto exception = std::make_unique<Exception>();
    interpreter.fetch(&exception->type, &exception->value, &exception->traceback);
    raiseLater(std::move(exception));
  }
  interpreter.release(state);
  return hasRaised;
}

} // namespace

SignalScope::SignalScope() {
  if (!interpreter.ensure || pthread_self() != interpreter.mainThread)
    return;
  watchSignals([](int number) { return number == interpreter.handledSignal; });
  listener.emplace();
  // One that arrived while nothing listened: in jaxlib, on the way here.
  static uint32_t seen = 0;
  if (const uint32_t count = watchedSignals(); count != seen) {
    seen = count;
    if (handleSignals())
      throw Interrupted();
  }
}

bool SignalScope::Listener::decide() { return handleSignals(); }

SharedCalls::SharedCalls(sim::Ranks *ranks) : before(std::exchange(sharing, ranks)) {}
SharedCalls::~SharedCalls() { sharing = before; }

bool takeRaising() { return std::exchange(isRaising, false); }

} // namespace tt::pjrt

void tt::pjrt::inspect(const std::string &name, const std::string &sharding) {
  if (!inspector)
    return;
  std::string failure;
  const TtPjrtFail fail = [](const char *text, size_t size, void *to) {
    static_cast<std::string *>(to)->assign(text, size);
  };
  inspector(name.c_str(), sharding.data(), sharding.size(), fail, &failure);
  if (!failure.empty())
    throw PluginError(PJRT_Error_Code_INTERNAL, "looking at a sharding failed:\n" + failure);
}

void ttPjrtSetInspector(TtPjrtInspect inspect) { tt::pjrt::inspector = inspect; }

void ttPjrtSetInterpreter(const TtPjrtInterpreter *given) { tt::pjrt::interpreter = *given; }

void ttPjrtRaise(void *type, void *value, void *traceback) {
  tt::pjrt::raised = std::make_unique<tt::pjrt::Exception>(tt::pjrt::Exception{type, value, traceback});
}

void ttPjrtSetHostFunction(TtPjrtHostFunction function) {
  tt::ttnn::setHostCaller([function](const std::string &name, std::span<const tt::ttnn::HostArray> ins,
                                     std::span<const tt::ttnn::HostArray> outs) {
    tt::pjrt::callShared(name, outs, [&] {
      struct Failure {
        bool failed = false, ended = false;
        std::string text;
      } failure;
      const std::vector<TtPjrtArray> given = tt::pjrt::arrays(ins), expected = tt::pjrt::arrays(outs);
      function(
          name.c_str(), given.size(), given.data(), expected.size(), expected.data(),
          [](const char *text, size_t size, void *to) {
            auto &failure = *static_cast<Failure *>(to);
            failure.ended = true;
            failure.failed = text != nullptr;
            if (text)
              failure.text.assign(text, size);
          },
          &failure);
      if (!failure.ended) {
        // The handler of SIGINT raises again.
        tt::pjrt::isRaising = true;
        tt::pjrt::interpreter.setInterrupt();
        throw tt::Interrupted();
      }
      if (tt::pjrt::raised) {
        tt::pjrt::raiseLater(std::move(tt::pjrt::raised));
        throw tt::Interrupted();
      }
      if (failure.failed)
        throw tt::pjrt::PluginError(PJRT_Error_Code_INTERNAL, failure.text);
    });
  });
}
