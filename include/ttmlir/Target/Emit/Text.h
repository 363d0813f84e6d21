//===- Text.h - names and formatting of emitted programs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_EMIT_TEXT_H
#define TTMLIR_TARGET_EMIT_TEXT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace mlir::tt::emit {

enum class Language { Python, Cpp };

/// The line width that emitted programs keep where a line can be broken.
inline constexpr size_t lineWidth = 120;
inline constexpr size_t indentation = 4;

/// Discardable attribute of an op of an emitted program: preferred names of its results, as strings. On a function: of
/// its arguments. On text: the names that it defines.
inline constexpr llvm::StringLiteral namesAttr = "ttnn.names";
/// Discardable attribute of the module: values of the files next to the program, by file name.
inline constexpr llvm::StringLiteral tensorFilesAttr = "ttnn.tensor_files";

/// The begin and the end of a text of several lines in C++, which is printed as it is.
inline constexpr llvm::StringLiteral rawBegin = "R\"kernel(", rawEnd = ")kernel\"";

/// Words that must not name a variable: keywords, and names with a meaning in the language or the library.
bool isReserved(Language language, llvm::StringRef word);
/// `text` as an identifier: other characters become underscores. Empty if nothing is left.
std::string identifierOf(llvm::StringRef text);

/// A number as both languages read it, with the fewest digits that identify this single (or double) precision value.
std::string floatText(double value, Language language, bool isSingle = true);

/// Names of one scope, each given once.
class NameScope {
public:
  explicit NameScope(Language language, const NameScope *outer = nullptr) : language(language), outer(outer) {}
  /// An unused name like `wish`: with an underscore after a reserved word, or a number.
  std::string give(llvm::StringRef wish);
  /// Takes a name that is given already.
  void reserve(llvm::StringRef name) { taken.insert(name); }
  bool isTaken(llvm::StringRef name) const { return taken.contains(name) || (outer && outer->isTaken(name)); }

private:
  Language language;
  const NameScope *outer;
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> next;
};

/// Breaks one statement, given as a single line, into lines of at most `lineWidth` columns at `indent` spaces: the last
/// brackets are opened, and their contents go to a line of their own, or to one line per item if they are too long.
/// Ends with a newline.
std::string wrapped(Language language, llvm::StringRef statement, size_t indent);

/// Calls `word` for every identifier outside of strings and comments and replaces it by the result.
std::string renamed(llvm::StringRef code, llvm::function_ref<llvm::StringRef(llvm::StringRef)> word);

} // namespace mlir::tt::emit

#endif // TTMLIR_TARGET_EMIT_TEXT_H
