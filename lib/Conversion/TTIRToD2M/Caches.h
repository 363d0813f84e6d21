//===- Caches.h - caches that ops write in place, as values -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_CACHES_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_CACHES_H

#include "Patterns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt {

/// On a return: the numbers of the arguments to which its last operands are written.
inline constexpr llvm::StringLiteral writtenArgumentsName = "d2m.written_arguments";

/// Replaces ops that write to a cache by the values that it has afterwards. The last value of an argument becomes an
/// operand of the return, after the results.
void makeCachesValues(func::FuncOp function, const TileTypes &types);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_CACHES_H
