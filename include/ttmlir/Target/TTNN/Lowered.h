//===- Lowered.h - partially lowered modules --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTNN_LOWERED_H
#define TTMLIR_TARGET_TTNN_LOWERED_H

#include "mlir/IR/Operation.h"

namespace mlir::tt {

/// The output that a module is lowered for.
enum class Written { Flatbuffer, Cpp, Python };

/// Reports an op of a dialect that should be gone by now, and names the pipeline that takes it away. `stillTTNN`: the
/// module is to be converted from TTNN to the language's dialect; else it is to be printed.
LogicalResult checkLowered(Operation *module, Written written, bool stillTTNN = false);

/// Errors come without the op that they are at, which may be a module with all its weights; mlir-translate turns that
/// on.
void keepDiagnosticsShort(Operation *module);

} // namespace mlir::tt

#endif // TTMLIR_TARGET_TTNN_LOWERED_H
