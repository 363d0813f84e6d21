//===- TTMetalToFlatbuffer.h - serialization of TTMetal programs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTMETAL_TTMETALTOFLATBUFFER_H
#define TTMLIR_TARGET_TTMETAL_TTMETALTOFLATBUFFER_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::tt::ttmetal {

/// Writes a module of TTMetal programs as metal.fbs describes. Every function that is not a kernel is a program. On
/// failure, an error has been emitted and nothing is written.
LogicalResult translateTTMetalToFlatbuffer(Operation *module, llvm::raw_ostream &os);

/// The C++ of the kernels of a module, one after the other.
LogicalResult translateKernelsToCpp(Operation *module, llvm::raw_ostream &os);

/// Registers `--ttmetal-to-flatbuffer` and `--ttkernel-to-cpp`, which read modules of `dialects`.
void registerTTMetalTranslations(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt::ttmetal

#endif // TTMLIR_TARGET_TTMETAL_TTMETALTOFLATBUFFER_H
