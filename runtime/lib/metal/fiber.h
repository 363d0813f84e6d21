//===- fiber.h - cooperative fibers -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a core run at the same time on the chip and wait for each other at circular buffers. Here each has its
// own stack, and a thread that runs a core switches from one to the next when one has to wait.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace tt::metal {

/// Memory for a fiber's frames with a guard page below it; kept for the next fiber.
class Stack {
public:
  /// Throws OutOfMemoryError.
  Stack();
  Stack(const Stack &) = delete;
  Stack &operator=(const Stack &) = delete;
  ~Stack();
  std::byte *bottom() const;
  static size_t size();

private:
  std::byte *memory = nullptr; // begins with the guard
};

class Fiber {
public:
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  /// The fiber must have ended.
  ~Fiber() = default;

  /// Runs until the fiber suspends or ends. Only in one thread at a time, and not from its own frames.
  void resume();
  /// Called inside: returns to the point of resumption. Not from a catch block: a thread's caught exceptions are not
  /// switched.
  void suspend();
  bool ended() const { return done; }
  /// Returns the exception that the body has thrown.
  std::exception_ptr error() const { return thrown; }

private:
#ifdef __x86_64__
  static void enter(Fiber *fiber);
  // Where the registers of the fiber and of the thread that has resumed it are saved, each on its stack.
  void *own = nullptr, *caller = nullptr;
#else
  static void enter(unsigned high, unsigned low);
  ucontext_t own{}, caller{};
#endif
  void prepare();
  void main();
  std::function<void()> body;
  Stack stack;
  bool done = false;
  std::exception_ptr thrown;
  // Information about the stacks for AddressSanitizer.
  [[maybe_unused]] void *fakeStack = nullptr;
  [[maybe_unused]] const void *callerBottom = nullptr;
  [[maybe_unused]] size_t callerSize = 0;
};

} // namespace tt::metal
