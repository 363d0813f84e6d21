//===- Overrides.h - layouts and configs that a user asks for ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_OVERRIDES_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_OVERRIDES_H

#include "LegalLayouts.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tt::ttnn {

/// The name of a location: for `loc("relu_1")`, relu_1; empty if it has none.
StringRef nameOf(Location loc);

/// The options override-output-layout, insert-memreconfig and override-conv2d-config, by the names of ops' locations. A
/// name without an op in the module is an error, as is a setting that the op cannot have.
class Overrides {
public:
  /// Reads the text. Emits errors at `module`.
  static FailureOr<Overrides> parse(ModuleOp module, StringRef outputLayouts, StringRef memoryReconfigs,
                                    StringRef convConfigs);

  /// Whether all requests are possible, before any layout is chosen.
  LogicalResult check(ModuleOp module) const;
  /// The layout that is requested for the op's result; null if none is requested or the result's placement cannot be
  /// chosen, failure after an error.
  FailureOr<TTNNLayoutAttr> layoutOf(Operation *op, const ChipMemory &chip) const;
  /// Operands before which a change of layout is to be inserted.
  ArrayRef<int64_t> reconfiguredOperands(Operation *op) const;
  /// Gives convolutions the fields that are requested.
  LogicalResult applyConvConfigs(ModuleOp module) const;
  /// Emits a warning if the user requested the result of the op, which is moved out of L1.
  void warnOfMove(Operation *op, StringRef why) const;

private:
  struct Row {
    SmallVector<std::string> layout; // parts between colons
    SmallVector<int64_t> operands;
    SmallVector<std::pair<std::string, std::string>> conv;
  };
  const Row *find(Operation *op) const;
  llvm::StringMap<Row> rows;
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_OVERRIDES_H
