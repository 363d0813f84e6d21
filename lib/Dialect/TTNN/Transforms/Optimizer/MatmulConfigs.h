//===- MatmulConfigs.h - program configs of matrix products -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_MATMULCONFIGS_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_MATMULCONFIGS_H

#include "LegalLayouts.h"

namespace mlir::tt::ttnn {

/// A config for a product with one weight matrix that has none: blocks of the result for each core, by multicast along
/// both axes of the grid or along one, whichever leaves a core the fewest tiles; along both on a requested grid. Null
/// for other ops, and if no block's circular buffers fit into half of L1.
Attribute matmulConfigOf(Operation *op, const ChipMemory &chip,
                         std::optional<std::array<int64_t, 2>> requested = std::nullopt);

/// Products of one row of tiles mainly read their weights: a constant weight that only such products read is sharded
/// over the channels of DRAM, and is read in long bursts. Sets the program configs of the products.
void shardWeightsInDram(Block &block, const ChipMemory &chip);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_MATMULCONFIGS_H
