//===- D2MAttrs.cpp - attributes and types of the D2M dialect --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt::d2m;

#include "ttmlir/Dialect/D2M/IR/D2MEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/D2M/IR/D2MAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/D2M/IR/D2MTypes.cpp.inc"

void D2MDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/D2M/IR/D2MAttrs.cpp.inc"
      >();
}

void D2MDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ttmlir/Dialect/D2M/IR/D2MTypes.cpp.inc"
      >();
}

// #d2m.thread<compute>, #d2m.thread<datamovement, @kernel, dm_core = 1>
Attribute ThreadAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc at;
  if (parser.parseLess() || parser.getCurrentLocation(&at) || parser.parseKeyword(&word))
    return {};
  std::optional<ThreadType> type = symbolizeThreadType(word);
  if (!type) {
    parser.emitError(at) << "thread type is '" << word << "'; expected compute, datamovement or unified";
    return {};
  }
  SymbolRefAttr kernel;
  int32_t core = -1;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("dm_core"))) {
      if (parser.parseEqual() || parser.parseInteger(core))
        return {};
    } else if (parser.parseAttribute(kernel)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return ThreadAttr::get(parser.getContext(), *type, kernel, core);
}

void ThreadAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyThreadType(getThreadType());
  if (getKernelSymbol())
    printer << ", " << getKernelSymbol();
  if (getDmCoreIndex() != -1)
    printer << ", dm_core = " << getDmCoreIndex();
  printer << '>';
}

ShapedType CBType::cloneWith(std::optional<ArrayRef<int64_t>> shape, Type elementType) const {
  return CBType::get(getContext(), getUnderlying().cloneWith(shape, elementType));
}
