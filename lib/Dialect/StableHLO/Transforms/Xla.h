//===- Xla.h - shardings that XLA writes as strings -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_XLA_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_XLA_H

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

namespace mlir::tt::shlo {

/// Entries of `mhlo.frontend_attributes`.
inline constexpr StringLiteral xlaShardingName = "xla.sdy.sharding";
inline constexpr StringLiteral xlaMeshesName = "xla.sdy.meshes";
inline constexpr StringLiteral xlaRuleName = "xla.sdy.custom_sharding_rule";

/// A sharding of a value on the mesh, for any mesh that it names. `mesh_idx_N` stands for its axis N. Errors are
/// reported at `op`.
FailureOr<sdy::TensorShardingAttr> parseSharding(Operation *op, StringRef text, sdy::MeshOp mesh);

/// Parses an attribute; emits an error at `op` that states what `what` should be.
Attribute parseText(Operation *op, StringRef what, StringRef text);

} // namespace mlir::tt::shlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_XLA_H
