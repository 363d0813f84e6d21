//===- Constants.h - values that do not change between runs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_CONSTANTS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_CONSTANTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tt::ttcore {

/// The kind of a function: tt.function_type = "const_eval" marks one whose results are evaluated once and kept.
inline constexpr llvm::StringLiteral functionTypeName = "tt.function_type";
inline constexpr llvm::StringLiteral constEvalType = "const_eval";

/// Whether `value` is a function's argument that `ttcore.argument_type` calls a parameter or a constant.
bool isConstantArgument(Value value);
/// Whether `op` makes a tensor that is the same in every run, of nothing but its attributes.
bool isConstantCreation(Operation *op);
/// Whether some op, other than those that free it or look at it, may change `value` in place.
bool mayBeWritten(Value value);

/// Asks of many values whether they are computed from constants and constant arguments alone, each answered once.
class ConstantAnalysis {
public:
  bool isConstant(Value value);
  /// To be called before an op is erased, for its place in memory may become another's.
  void forget(Operation *op);

private:
  llvm::DenseMap<Value, bool> known;
};

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_CONSTANTS_H
