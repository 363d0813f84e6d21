//===- ShardedArguments.h - presharded arguments ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_SHARDEDARGUMENTS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_SHARDEDARGUMENTS_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "llvm/ADT/StringRef.h"

namespace mlir::tt::ttcore {

/// The attribute of an argument that arrives in shards and has the type of one shard: array<i64: ...>, the dimension
/// that each axis of the mesh splits, -1 for none.
inline constexpr llvm::StringLiteral shardDimsName = "ttcore.shard_dims";

/// Returns the attribute that marks the type of a tensor that is distributed over the mesh of the module around `op`.
TensorMeshAttr distributedOver(Operation *op);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_SHARDEDARGUMENTS_H
