//===- Scalars.h - functions of single numbers ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The value of an elementwise op, or of another function of the table, for one element of each operand. For compilers:
// the kernels of the runtime compute the same expressions over vectors (ttmlir/scalars/Functions.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttmlir/scalars/Functions.h"

#include <span>

namespace ttmlir::scalars {

struct Function {
  std::string_view name; // "ttnn.add", or without "ttnn." of what is no op of TTNN
  int operands;
  bool isExact;     // floats are those of IEEE 754, rounded once
  bool isOfNumbers; // there are no attributes
  Domain domain;
  // A function of `operands` numbers; nullptr if there is none. Integers are the sign-extended and the zero-extended
  // ones.
  float (*f)(const float *, const Attributes &);
  double (*d)(const double *, const Attributes &);
  int64_t (*i)(const int64_t *, const Attributes &);
  uint64_t (*u)(const uint64_t *, const Attributes &);
};

std::span<const Function> functions();
/// The function of a name, with or without "ttnn.", or nullptr.
const Function *find(std::string_view name);

} // namespace ttmlir::scalars
