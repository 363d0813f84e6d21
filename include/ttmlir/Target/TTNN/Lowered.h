//===- Lowered.h - partially lowered modules --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTNN_LOWERED_H
#define TTMLIR_TARGET_TTNN_LOWERED_H

#include "mlir/IR/Operation.h"

namespace mlir::tt {

/// The output that a module is lowered for.
enum class Written { Flatbuffer, Cpp, Python };

/// Reports an op of a dialect that should be lowered by now, and names the pipeline that lowers it. `stillTTNN`: the
/// module is about to be converted from TTNN to the language's dialect; else it is about to be printed.
LogicalResult checkLowered(Operation *module, Written written, bool stillTTNN = false);

/// Omits from diagnostics the op at which they are, which may be a module with all its weights; mlir-translate turns
/// printing on.
void keepDiagnosticsShort(Operation *module);

} // namespace mlir::tt

#endif // TTMLIR_TARGET_TTNN_LOWERED_H
