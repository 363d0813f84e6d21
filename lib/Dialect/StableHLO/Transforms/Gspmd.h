//===- Gspmd.h - shardings as strings of GSPMD ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_GSPMD_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_GSPMD_H

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

namespace mlir::tt::shlo {

/// `{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}`, read.
struct GspmdSharding {
  SmallVector<int64_t> tile; // parts of each dimension; none: everywhere the whole
  SmallVector<int64_t> mesh; // rows and columns; none: any
  bool manual = false;       // what one device holds already
};

/// Errors are reported at `op`.
FailureOr<GspmdSharding> parseGspmd(Operation *op, StringRef text);

/// Rows and columns of the first mesh that an annotation of the module names, else 1 and 1.
FailureOr<SmallVector<int64_t>> gspmdMesh(ModuleOp module);

} // namespace mlir::tt::shlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_GSPMD_H
