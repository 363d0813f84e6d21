//===- TranslateToCpp.h - printing of the emitc dialect as C++ --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_CPP_TRANSLATETOCPP_H
#define TTMLIR_TARGET_CPP_TRANSLATETOCPP_H

#include "mlir/IR/Operation.h"

namespace mlir::tt::emit {

/// Prints a module of the emitc dialect as C++ by MLIR's own emitter, then gives variables the names that the module
/// states (see `namesAttr`), writes lists in place, and breaks long lines.
LogicalResult translateToCpp(Operation *module, llvm::raw_ostream &os);

/// Registers --mlir-to-cpp, which reads modules of `dialects` and refuses by name those that it cannot print.
void registerTranslateToCpp(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt::emit

#endif // TTMLIR_TARGET_CPP_TRANSLATETOCPP_H
