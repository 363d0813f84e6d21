//===- Bytecode.h - Shardy attributes in bytecode ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_IR_BYTECODE_H
#define TTMLIR_LIB_DIALECT_SDY_IR_BYTECODE_H

#include "mlir/IR/DialectInterface.h"

#include <memory>

namespace mlir::sdy {
/// Allows the dialect's attributes to be read from bytecode, and written.
std::unique_ptr<DialectInterface> makeBytecode(Dialect *dialect);
} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_IR_BYTECODE_H
