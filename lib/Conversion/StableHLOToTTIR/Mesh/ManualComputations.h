//===- ManualComputations.h - what devices hold of tensors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_MANUALCOMPUTATIONS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_MANUALCOMPUTATIONS_H

#include "../Patterns.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

namespace mlir::tt::hlo {

/// Puts the region of a manual computation in its place, between ops that distribute its operands over the mesh and
/// aggregate its results.
LogicalResult lowerManualComputation(RewriterBase &rewriter, sdy::ManualComputationOp op);

/// Whether devices lie in rows and columns as their numbers say.
bool isGrid(sdy::MeshAttr mesh);

/// Whether the callers of all public functions hand over arguments, and take results, as one tensor per device.
bool comesInParts(ModuleOp module);

/// Makes `ttir.mesh_partition` of the composite `sdy.all_slice`, where it slices along whole axes.
LogicalResult lowerAllSlice(RewriterBase &rewriter, stablehlo::CompositeOp op);

/// Writes the groups of collectives that are named by axes of a mesh as numbers of devices.
LogicalResult numberReplicaGroups(Operation *op);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_MANUALCOMPUTATIONS_H
