//===- KeySyntax.h - attributes written as keys and values ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_KEYSYNTAX_H
#define TTMLIR_DIALECT_KEYSYNTAX_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::tt::syntax {

/// A parameter of an attribute written as `<key = value, ...>`: a list of numbers, or one number.
struct Key {
  StringRef name;
  SmallVector<int64_t> *list = nullptr;
  int64_t *number = nullptr;
};

/// Parses `key = [1, 2], key = 3` up to `>`, with keys in any order and each at most once.
inline ParseResult parseKeys(AsmParser &parser, ArrayRef<Key> keys) {
  llvm::SmallDenseSet<StringRef> seen;
  if (succeeded(parser.parseOptionalGreater()))
    return success();
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    const Key *key = llvm::find_if(keys, [&](const Key &each) { return each.name == name; });
    if (key == keys.end()) {
      InFlightDiagnostic diagnostic = parser.emitError(loc) << "expected ";
      llvm::interleaveComma(keys, diagnostic, [&](const Key &each) { diagnostic << each.name; });
      return diagnostic << "; found '" << name << "'";
    }
    if (!seen.insert(key->name).second)
      return parser.emitError(loc) << "'" << name << "' is given twice";
    if (parser.parseEqual())
      return failure();
    if (!key->list) {
      if (parser.parseInteger(*key->number))
        return failure();
    } else if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                              [&] { return parser.parseInteger(key->list->emplace_back()); }))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseGreater();
}

/// Prints `<key = [1, 2], number = 3>`, without empty lists and without numbers that are 0.
inline void printLists(AsmPrinter &printer, ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> lists,
                       StringRef numberName = {}, int64_t number = 0) {
  StringRef separator = "";
  printer << '<';
  for (const auto &[name, numbers] : lists)
    if (!numbers.empty()) {
      printer << separator << name << " = [";
      llvm::interleaveComma(numbers, printer);
      printer << ']';
      separator = ", ";
    }
  if (number != 0)
    printer << separator << numberName << " = " << number;
  printer << '>';
}

} // namespace mlir::tt::syntax

#endif // TTMLIR_DIALECT_KEYSYNTAX_H
