//===- Factors.h - whether an op can be computed in parts -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_FACTORS_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_FACTORS_H

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

namespace mlir::tt::shlo {

/// The dimensions of the tensors of an op that must be unsplit, operands first, because each device would need elements
/// that others hold. The op itself states which of them are windows, shifts and orders.
SmallVector<SmallVector<int64_t>> wholeDims(Operation *op);

/// Emits an error at `op` if it has a sharding rule (`sdy.sharding_rule`) and its tensors are not split alike along its
/// factors; `shardings` are those of operands, then results, null for replicated ones.
LogicalResult checkFactors(Operation *op, ArrayRef<sdy::TensorShardingAttr> shardings, sdy::MeshAttr mesh);

} // namespace mlir::tt::shlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_FACTORS_H
