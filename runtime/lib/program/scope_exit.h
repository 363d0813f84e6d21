//===- scope_exit.h - work at the end of a scope ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace tt::runtime {

/// Calls a function at the end of its scope, also if an exception leaves it.
template <class F> class ScopeExit {
public:
  explicit ScopeExit(F f) : f(std::move(f)) {}
  ScopeExit(const ScopeExit &) = delete;
  ~ScopeExit() { f(); }

private:
  F f;
};

} // namespace tt::runtime
