//===- Rules.h - factors of ops as sharding rules ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_RULES_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_RULES_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

namespace mlir::sdy {

using ::ttmlir::shapes::FactorKind;
using ::ttmlir::shapes::FactorMode;
using ::ttmlir::shapes::FactorType;

/// The rule of an op: its attribute, or its factors. None for ops without them and for shapes that are not static.
/// Modes other than the full one omit or block factors along which each device would need data of its neighbors.
OpShardingRuleAttr getShardingRule(Operation *op, FactorMode mode = FactorMode::Full);
/// Returns the rule with one factor for each dimension, in all tensors.
OpShardingRuleAttr getIdentityRule(MLIRContext *context, ArrayRef<int64_t> shape, unsigned operands, unsigned results);

/// Whether every result element is computed from the operand elements at the same position.
bool isElementwise(Operation *op);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_RULES_H
