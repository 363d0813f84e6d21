//===- NearestName.h - the known name that was meant ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_NEARESTNAME_H
#define TTMLIR_DIALECT_NEARESTNAME_H

#include "mlir/Support/LLVM.h"

namespace mlir::tt {

/// Returns the known name with the fewest edits, of at most a third of the letters; empty if there is none. Case,
/// underscores and hyphens do not count.
StringRef nearestName(StringRef name, ArrayRef<StringRef> known);

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_NEARESTNAME_H
