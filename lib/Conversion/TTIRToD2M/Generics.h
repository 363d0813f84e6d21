//===- Generics.h - TTIR ops as d2m.generic ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

namespace mlir::tt {

/// Makes a tile of those of the operands at the same place.
using TileBody = llvm::function_ref<Value(OpBuilder &, Location, ValueRange tiles)>;

/// Every core makes each of its tiles of `output` of its tiles of `inputs`. All lie on the same grid.
void createElementwise(OpBuilder &builder, Location loc, ValueRange inputs, Value output, TileBody body);

/// Every core makes tiles of its rows of elements, or rows of its tiles, 32 rows at a time.
void createTilize(OpBuilder &builder, Location loc, Value rows, Value tiles);
void createUntilize(OpBuilder &builder, Location loc, Value tiles, Value rows);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H
