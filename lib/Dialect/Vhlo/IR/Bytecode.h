//===- Bytecode.h - attributes and types in files ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_VHLO_IR_BYTECODE_H
#define TTMLIR_LIB_DIALECT_VHLO_IR_BYTECODE_H

namespace mlir::vhlo {
class VhloDialect;

/// Allows the dialect's attributes and types to be read from bytecode, and written.
void addBytecode(VhloDialect &dialect);
} // namespace mlir::vhlo

#endif // TTMLIR_LIB_DIALECT_VHLO_IR_BYTECODE_H
