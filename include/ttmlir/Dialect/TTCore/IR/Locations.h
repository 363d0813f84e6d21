//===- Locations.h - printing of locations ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_IR_LOCATIONS_H
#define TTMLIR_DIALECT_TTCORE_IR_LOCATIONS_H

#include "mlir/IR/Location.h"

namespace mlir::tt::ttcore {

/// `loc` without what passes keep in it for themselves, the numbers of source ops; a name that is a file and a line, as
/// the builder writes it, becomes that place.
Location readableLocation(Location loc);

/// Diagnostics of a context name readable locations from now on.
void makeDiagnosticsReadable(MLIRContext *context);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_IR_LOCATIONS_H
