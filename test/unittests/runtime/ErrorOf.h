//===- ErrorOf.h - the message of an error ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/types.h"

#include <string>

namespace tt::test {

/// The message of the error of type E that f throws.
template <class E = Error, class F> std::string errorOf(F f) {
  try {
    f();
  } catch (const E &error) {
    return error.what();
  }
  return "no error";
}

} // namespace tt::test
