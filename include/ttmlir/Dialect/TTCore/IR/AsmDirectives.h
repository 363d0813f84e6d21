//===- AsmDirectives.h - custom directives of attribute syntax --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Parsers and printers that the attribute formats of several dialects use: `custom<DimensionList>` and related ones.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_IR_ASMDIRECTIVES_H
#define TTMLIR_DIALECT_TTCORE_IR_ASMDIRECTIVES_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::tt {

/// 2x3x5
inline ParseResult parseDimensionList(AsmParser &parser, SmallVector<int64_t> &dimensions) {
  return parser.parseDimensionList(dimensions, /*allowDynamic=*/false, /*withTrailingX=*/false);
}
inline void printDimensionList(AsmPrinter &printer, ArrayRef<int64_t> dimensions) {
  llvm::interleave(dimensions, printer, "x");
}

/// A dimension list with as many entries as there are parameters.
template <class... Ints> ParseResult parseVargDimensionList(AsmParser &parser, Ints &...values) {
  SmallVector<int64_t> dimensions;
  llvm::SMLoc where = parser.getCurrentLocation();
  if (parseDimensionList(parser, dimensions))
    return failure();
  if (dimensions.size() != sizeof...(Ints))
    return parser.emitError(where) << "expected " << sizeof...(Ints) << " dimensions, found " << dimensions.size();
  const int64_t *next = dimensions.begin();
  ((values = *next++), ...);
  return success();
}
template <class... Ints> void printVargDimensionList(AsmPrinter &printer, Ints... values) {
  printDimensionList(printer, ArrayRef<int64_t>{static_cast<int64_t>(values)...});
}

/// (0,3): two integers as a coordinate; `make` converts them to the attribute.
template <class Make> ParseResult parseBracketedPair(AsmParser &parser, Make make) {
  int64_t first, second;
  if (parser.parseLParen() || parser.parseInteger(first) || parser.parseComma() || parser.parseInteger(second) ||
      parser.parseRParen())
    return failure();
  make(first, second);
  return success();
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_TTCORE_IR_ASMDIRECTIVES_H
