//===- Locations.h - printing of locations ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_IR_LOCATIONS_H
#define TTMLIR_DIALECT_TTCORE_IR_LOCATIONS_H

#include "mlir/IR/Location.h"

namespace mlir::tt::ttcore {

/// `loc` without the numbers of source ops that passes store in it. A name that is a file and a line, as the builder
/// writes it, becomes that file location.
Location readableLocation(Location loc);

/// From now on, diagnostics of a context show readable locations.
void makeDiagnosticsReadable(MLIRContext *context);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_IR_LOCATIONS_H
