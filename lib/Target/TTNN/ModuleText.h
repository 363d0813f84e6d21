//===- ModuleText.h - printed forms of a module and its ops -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::tt::ttnn {

/// A module as readable text, without the values of its large constants. It is printed once; the text of an op consists
/// of its lines of that.
class ModuleText {
public:
  explicit ModuleText(ModuleOp module);

  StringRef all() const { return text; }
  /// A single op: it contains in full what the module's text states once, at its beginning. For ops that another
  /// follows: all except terminators.
  std::string of(Operation *op) const;
  /// "3" for %3.
  std::string of(Value value);

private:
  /// Appends text, with aliases expanded.
  void expand(StringRef some, std::string &to) const;

  AsmState::LocationMap places;
  AsmState state;
  std::string text;
  std::vector<StringRef> lines;
  llvm::StringMap<std::string> aliases; // by name, with # or !
};

} // namespace mlir::tt::ttnn
