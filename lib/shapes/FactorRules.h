//===- FactorRules.h - what the factor rules share --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_SHAPES_FACTORRULES_H
#define TTMLIR_LIB_SHAPES_FACTORRULES_H

#include "Rules.h"

namespace tt::shapes {

using namespace ::ttmlir::shapes;

/// The factors of the ops of a shape rule.
struct FactorRow {
  std::string_view rule;
  FactorRule function;
};

// The rules of each file.
std::span<const FactorRow> attentionFactorRules();
std::span<const FactorRow> routingFactorRules();

/// The index of the operand among those that are present, or kNone.
inline int64_t numberOf(const Op &op, std::string_view name) {
  int64_t number = 0;
  for (const Operand &operand : op.operands) {
    if (operand.state == Operand::State::Absent)
      continue;
    if (operand.name == name)
      return number;
    ++number;
  }
  return kNone;
}

inline int64_t resultNumber(const Factors &factors, size_t result = 0) {
  return static_cast<int64_t>(factors.numOperands() + result);
}

inline int64_t sizeAt(View shape, int64_t dim) { return shape[static_cast<size_t>(dim)]; }

/// The last dimensions of an operand, if they have the sizes of those of the result.
inline Factors::Place alignedPlace(const Factors &factors, int64_t tensor, int64_t resultDim) {
  if (tensor == kNone)
    return {kNone, kNone};
  const View shape = factors.operand(static_cast<size_t>(tensor)), out = factors.result(0);
  const int64_t dim = resultDim - static_cast<int64_t>(out.size()) + static_cast<int64_t>(shape.size());
  return dim >= 0 && sizeAt(shape, dim) == sizeAt(out, resultDim) ? Factors::Place{tensor, dim}
                                                                  : Factors::Place{kNone, kNone};
}

/// Gives each dimension without a factor one of its own, which must not be split.
inline bool takeRestWhole(Factors &factors) {
  for (size_t tensor = 0; tensor < factors.numTensors(); ++tensor)
    for (size_t dim = 0; dim < factors.tensor(tensor).size(); ++dim)
      if (factors.dimensions(tensor)[dim].empty())
        factors.addAt({{static_cast<int64_t>(tensor), static_cast<int64_t>(dim)}}, factors.tensor(tensor)[dim],
                      kNeedReplication);
  return true;
}

} // namespace tt::shapes

#endif // TTMLIR_LIB_SHAPES_FACTORRULES_H
