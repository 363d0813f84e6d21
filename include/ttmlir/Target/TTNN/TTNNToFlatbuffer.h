//===- TTNNToFlatbuffer.h - serialization of TTNN programs ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTNN_TTNNTOFLATBUFFER_H
#define TTMLIR_TARGET_TTNN_TTNNTOFLATBUFFER_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::tt::ttnn {

/// Writes a module of TTNN programs (or one with a device module that holds them) as binary.fbs describes. Every
/// function with a body is a program. On failure, an error has been emitted and nothing is written.
LogicalResult translateTTNNToFlatbuffer(Operation *module, llvm::raw_ostream &os);

/// Registers `--ttnn-to-flatbuffer`, which reads modules of `dialects` and refuses by name those that it cannot write.
void registerTTNNToFlatbuffer(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_TTNNTOFLATBUFFER_H
