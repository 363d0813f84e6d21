//===- AttributeVisitor.h - visitor over TTNN attributes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Enums and structured attributes with their fields, from ODS (tools/opgen).
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_TTNN_ATTRIBUTEVISITOR_H
#define TTMLIR_TARGET_TTNN_ATTRIBUTEVISITOR_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

// The name under which a binary knows an enum.
template <class Enum> inline constexpr llvm::StringLiteral enumName = "";
#define TTNN_ENUM(type, name) template <> inline constexpr llvm::StringLiteral enumName<type> = name;
#include "ttmlir/Target/TTNN/AttributeVisitor.inc"
#undef TTNN_ENUM

/// Attributes that hold one enum value.
template <class Visit> bool visitEnum(Attribute attr, Visit visit) {
#define TTNN_ENUM_ATTR(type)                                                                                           \
  if (auto typed = dyn_cast<type>(attr)) {                                                                             \
    visit(typed.getValue());                                                                                           \
    return true;                                                                                                       \
  }
#include "ttmlir/Target/TTNN/AttributeVisitor.inc"
#undef TTNN_ENUM_ATTR
  return false;
}

/// Calls `visit(name, value)` for every field of a structured attribute; false if it is none.
template <class Visit> bool visitFields(Attribute attr, Visit visit) {
#define TTNN_FIELD(name, get) visit(name, typed.get());
#define TTNN_STRUCT(type, fields)                                                                                      \
  if (auto typed = dyn_cast<type>(attr)) {                                                                             \
    fields return true;                                                                                                \
  }
#include "ttmlir/Target/TTNN/AttributeVisitor.inc"
#undef TTNN_STRUCT
#undef TTNN_FIELD
  return false;
}

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_ATTRIBUTEVISITOR_H
