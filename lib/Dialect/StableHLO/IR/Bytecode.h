//===- Bytecode.h - StableHLO attributes and types in bytecode --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_IR_BYTECODE_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_IR_BYTECODE_H

#include "mlir/IR/DialectInterface.h"

#include <memory>

namespace mlir::stablehlo {
/// Allows the dialect's attributes and types to be read from bytecode, and written.
std::unique_ptr<DialectInterface> makeBytecode(Dialect *dialect);
} // namespace mlir::stablehlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_IR_BYTECODE_H
