//===- Factors.h - shardings of an op by its factors ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_FACTORS_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_FACTORS_H

#include "Rules.h"
#include "Sharding.h"
#include "ttmlir/Dialect/StableHLO/IR/Windows.h"

namespace mlir::sdy {

using stablehlo::WindowedDim;
using stablehlo::WindowKind;

/// A sharding rule, read from its attribute once.
struct Rule {
  using Tensor = SmallVector<SmallVector<int32_t, 2>, 4>; // the factors of each dimension

  explicit Rule(OpShardingRuleAttr attribute);

  OpShardingRuleAttr attribute;
  SmallVector<int64_t> sizes;
  SmallVector<FactorType> types;
  SmallVector<Tensor> tensors; // operands, then results
  unsigned operands = 0;
  /// Whether each tensor has the factor, and whether the factor is the last of its dimension there.
  SmallVector<SmallVector<bool>> has, isLast;
  /// The elements of each tensor, by its factors.
  SmallVector<int64_t> tensorSizes;

  size_t numFactors() const { return sizes.size(); }
};

/// Rules by attribute: most ops of a model share a few.
class RuleCache {
public:
  const Rule *get(OpShardingRuleAttr attribute);

private:
  DenseMap<OpShardingRuleAttr, std::unique_ptr<Rule>> rules;
};

struct FactorSharding {
  Axes axes;
  /// Axes for which the factor has no room: they end the dimension.
  Axes overflow;
  bool isClosed = false;

  bool operator==(const FactorSharding &other) const = default;
};

/// The split of a tensor, by factor; factors that it lacks are empty.
struct FactorShardings {
  SmallVector<FactorSharding, 4> factors;
  Axes replicated, unreduced;
};

/// The factor splits one of these dimensions of the operand and of the result.
bool isWindowed(const Rule &rule, ArrayRef<WindowedDim> windows, int32_t factor);

/// The axes of each dimension, distributed over its factors from the first; the last takes the rest. A missing sharding
/// is open, or closed.
FactorShardings project(const Rule &rule, size_t tensor, const Sharding *sharding, bool isMissingClosed = false);
/// Sets the axes and openness of each dimension; nothing else changes.
void unproject(const Rule &rule, size_t tensor, const FactorShardings &factors, Sharding &sharding);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_FACTORS_H
