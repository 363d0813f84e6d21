//===- Rules.h - tables of lowering rules -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_RULES_H
#define TTMLIR_LIB_CONVERSION_RULES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"

#include <functional>
#include <string>

namespace mlir::tt {

/// The lowering of ops of one name, by a function over `Lowering`, which represents one op being lowered. into: the op
/// that replaces them, "rule" if that depends on the op, and empty if they are always refused.
template <class Lowering> struct LoweringRule {
  LoweringRule() = default;
  template <class Lower>
  LoweringRule(Lower lower, std::string into = "rule") : lower(std::move(lower)), into(std::move(into)) {}
  LogicalResult operator()(Lowering &lowering) const { return lower(lowering); }

  std::function<LogicalResult(Lowering &)> lower;
  std::string into;
};
template <class Lowering> using LoweringRules = llvm::StringMap<LoweringRule<Lowering>>;

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_RULES_H
