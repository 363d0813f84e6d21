//===- Verify.h - verification of shardings ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_IR_VERIFY_H
#define TTMLIR_LIB_DIALECT_SDY_IR_VERIFY_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

namespace mlir::sdy {

/// Reports errors as those of one sharding: "'op' out_sharding ...".
using EmitError = function_ref<InFlightDiagnostic()>;

/// The mesh of a sharding; an error if its symbol names none.
FailureOr<MeshAttr> findMesh(EmitError emitError, TensorShardingAttr sharding, Operation *op,
                             SymbolTableCollection *symbols = nullptr);

/// Verifies that the sharding fits the mesh and the type: known axes, each used once, one entry per dimension.
LogicalResult verifySharding(EmitError emitError, TensorShardingAttr sharding, MeshAttr mesh, Type type);
LogicalResult verifySharding(EmitError emitError, TensorShardingAttr sharding, Type type, Operation *op,
                             SymbolTableCollection *symbols = nullptr);
/// Verifies that there is one sharding for each type.
LogicalResult verifyShardings(EmitError emitError, TensorShardingPerValueAttr shardings, TypeRange types, Operation *op,
                              SymbolTableCollection *symbols = nullptr);

/// Axes of the mesh, no part of which is named twice.
LogicalResult verifyAxes(EmitError emitError, ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

/// The number of parts into which an axis, or a part of it, splits a dimension.
int64_t getSize(AxisRefAttr axis, MeshAttr mesh);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_IR_VERIFY_H
