//===- Passes.h - passes on TTCore ops and on modules -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt::ttcore {

#define GEN_PASS_DECL
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"

/// The rows and columns of a mesh of at most two axes; for more axes, their sizes.
SmallVector<int64_t> rowsAndColumns(ArrayRef<int64_t> meshShape);

/// Refuses modules inside of `root` whose functions would stay unchanged; `isFlat`: also functions of device modules
/// and host modules.
LogicalResult checkModules(ModuleOp root, bool isFlat = false);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_H
