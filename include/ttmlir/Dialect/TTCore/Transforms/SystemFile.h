//===- SystemFile.h - system descriptor files -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_SYSTEMFILE_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_SYSTEMFILE_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

namespace mlir::tt::ttcore {

/// The system that a file describes, with at least one chip: a #ttcore.system_desc as the compiler prints it, or the
/// JSON that the runtime writes for the current machine. Errors are passed to `emitError` and name the file.
FailureOr<SystemDescAttr> readSystemFile(StringRef path, MLIRContext *context,
                                         function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_SYSTEMFILE_H
