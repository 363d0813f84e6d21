//===- ModuleText.h - printed forms of a module and its ops -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::tt::ttnn {

/// A module as people read it, without the values of its large constants. It is printed once, and the text of an op is
/// its lines of that.
class ModuleText {
public:
  explicit ModuleText(ModuleOp module);

  StringRef all() const { return text; }
  /// An op alone: what the module's text says once, at its beginning, stands here in full. For ops that another
  /// follows: all but terminators.
  std::string of(Operation *op) const;
  /// "3" for %3.
  std::string of(Value value);

private:
  /// Appends some text, with what its aliases stand for in their place.
  void expand(StringRef some, std::string &to) const;

  AsmState::LocationMap places;
  AsmState state;
  std::string text;
  std::vector<StringRef> lines;
  llvm::StringMap<std::string> aliases; // by name, with # or !
};

} // namespace mlir::tt::ttnn
