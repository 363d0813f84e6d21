//===- Syntax.h - literals of the target language -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTNNTOEMIT_SYNTAX_H
#define TTMLIR_LIB_CONVERSION_TTNNTOEMIT_SYNTAX_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Target/Emit/Text.h"

namespace mlir::tt::emit {

/// Writes values of the TTNN library in one language.
class Syntax {
public:
  explicit Syntax(Language language) : language(language) {}

  std::string boolean(bool value) const;
  std::string none() const { return isPython() ? "None" : "std::nullopt"; }
  std::string string(llvm::StringRef text) const;
  std::string list(llvm::ArrayRef<std::string> items) const;
  std::string dataType(ttcore::DataType type) const;
  std::string layout(ttnn::Layout layout) const;
  /// A value of an enum, by the names that a binary has for it: "ttcore.reduce_type", "sum".
  std::string enumeration(llvm::StringRef type, llvm::StringRef symbol) const;
  /// Returns the memory of a tensor with this layout.
  std::string memory(ttnn::TTNNLayoutAttr layout) const;
  /// An object of a class of the library.
  std::string make(llvm::StringRef name, llvm::ArrayRef<std::string> fields) const;
  /// A field or named argument.
  std::string field(llvm::StringRef name, llvm::StringRef value) const;
  /// A path from the library's name: "ttnn.transformer.concatenate_heads".
  std::string path(llvm::StringRef dotted) const;

  /// Any attribute of a TTNN op; failure for one that the library cannot take.
  FailureOr<std::string> attribute(Attribute attr) const;
  /// The default of a parameter as tools/opgen/functions.py states it; `type`: its enum, or "".
  std::string defaultValue(llvm::StringRef text, llvm::StringRef type) const;

  const Language language;

private:
  bool isPython() const { return language == Language::Python; }
  FailureOr<std::string> structure(Attribute attr) const;
};

/// Whether a call without the argument has this value in the op.
bool isDefault(Attribute attr, llvm::StringRef text);

} // namespace mlir::tt::emit

#endif // TTMLIR_LIB_CONVERSION_TTNNTOEMIT_SYNTAX_H
