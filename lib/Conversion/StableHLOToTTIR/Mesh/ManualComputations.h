//===- ManualComputations.h - what devices hold of tensors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_MANUALCOMPUTATIONS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_MANUALCOMPUTATIONS_H

#include "../Patterns.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

namespace mlir::tt::hlo {

/// Replaces a manual computation by its region, between ops that distribute its operands over the mesh and aggregate
/// its results.
LogicalResult lowerManualComputation(RewriterBase &rewriter, sdy::ManualComputationOp op);

/// Whether devices are arranged in rows and columns in the order of their numbers.
bool isGrid(sdy::MeshAttr mesh);

/// Whether the callers of all public functions provide arguments, and take results, as one tensor per device.
bool comesInParts(ModuleOp module);

/// Converts the composite `sdy.all_slice` to `ttir.mesh_partition` if it slices along whole axes.
LogicalResult lowerAllSlice(RewriterBase &rewriter, stablehlo::CompositeOp op);

/// Writes the groups of collectives that are named by mesh axes as numbers of devices.
LogicalResult numberReplicaGroups(Operation *op);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_MANUALCOMPUTATIONS_H
