//===- Rules.h - which dimensions of an op are split together ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_RULES_RULES_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_RULES_RULES_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

namespace mlir::sdy {

/// What the partitioner must do for a factor that is split: nothing, combine partial results, gather it before the op,
/// or exchange data with neighbours.
enum class FactorKind { PassThrough, Reduction, NeedReplication, Permutation };

struct FactorType {
  FactorKind kind = FactorKind::PassThrough;
  /// Shardings never pass along it.
  bool isBlocked = false;
};

inline constexpr FactorType kPassThrough{}, kReduction{FactorKind::Reduction},
    kNeedReplication{FactorKind::NeedReplication}, kPermutation{FactorKind::Permutation},
    kBlocked{FactorKind::PassThrough, true}, kBlockedReplication{FactorKind::NeedReplication, true};

/// Which factors shardings pass along: all; those along which no device needs data of others; these and the windows
/// that edges of neighbours make whole.
enum class RuleMode { Full, Conservative, Edges };

/// A dimension of no tensor, or a tensor without the factor.
inline constexpr int64_t kNone = -1;

/// Collects the factors of an op. Dimensions that none covers get factors of size 1, which nothing splits.
class RuleBuilder {
public:
  explicit RuleBuilder(Operation *op);

  ArrayRef<int64_t> operand(unsigned index) const { return shapes[index]; }
  ArrayRef<int64_t> result(unsigned index) const { return shapes[operands + index]; }
  unsigned numOperands() const { return operands; }
  unsigned numResults() const { return shapes.size() - operands; }

  /// A factor that is the dimension `dims[i]` of the i-th tensor, operands first; kNone where it does not occur.
  RuleBuilder &add(ArrayRef<int64_t> dims, int64_t size, FactorType type = kPassThrough);
  /// Dimensions of some operands and results: (number of the tensor, dimension), results from `numOperands()` on.
  RuleBuilder &addAt(ArrayRef<std::pair<int64_t, int64_t>> places, int64_t size, FactorType type = kPassThrough);
  /// A factor of each dimension of the shape, of all tensors of its rank, if that is not 0.
  RuleBuilder &pointwise(ArrayRef<int64_t> shape, function_ref<std::optional<FactorType>(int64_t dim)> type);
  RuleBuilder &pointwise(ArrayRef<int64_t> shape);

  OpShardingRuleAttr build();

private:
  MLIRContext *context;
  unsigned operands;
  SmallVector<SmallVector<int64_t, 4>> shapes;
  SmallVector<SmallVector<SmallVector<int64_t, 2>, 4>> factors;
  SmallVector<int64_t> sizes;
  SmallVector<FactorType> types;
};

/// The rule of an op: its attribute, or one by the table. None for ops without one and for shapes that are not static.
/// Modes other than the full one leave out or block factors along which each device would need data of its neighbours.
OpShardingRuleAttr getShardingRule(Operation *op, RuleMode mode = RuleMode::Full);
/// One factor for each dimension, in all tensors.
OpShardingRuleAttr getIdentityRule(MLIRContext *context, ArrayRef<int64_t> shape, unsigned operands, unsigned results);

/// Of a dimension, the same in operand 0 and the result, along which an op looks at neighbours.
FactorType windowFactor(Operation *op, int64_t dim, RuleMode mode);

/// Every result element is computed of the operand elements at the same place.
bool isElementwise(Operation *op);

using RuleFunction = OpShardingRuleAttr (*)(Operation *op, RuleMode mode);

// The families; each is a row of the table.
OpShardingRuleAttr reshapeRule(Operation *op, RuleMode);
OpShardingRuleAttr concatenateRule(Operation *op, RuleMode mode);
OpShardingRuleAttr gatherRule(Operation *op, RuleMode);
OpShardingRuleAttr scatterRule(Operation *op, RuleMode);
OpShardingRuleAttr dynamicSliceRule(Operation *op, RuleMode);
OpShardingRuleAttr dynamicUpdateSliceRule(Operation *op, RuleMode);
OpShardingRuleAttr convolutionRule(Operation *op, RuleMode mode);
OpShardingRuleAttr reduceWindowRule(Operation *op, RuleMode mode);
OpShardingRuleAttr selectAndScatterRule(Operation *op, RuleMode mode);
OpShardingRuleAttr customCallRule(Operation *op, RuleMode);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_RULES_RULES_H
