//===- EmitPyDialect.cpp - the emitpy dialect -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/EmitPy/IR/EmitPy.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emitpy;

#include "ttmlir/Dialect/EmitPy/IR/EmitPyOpsDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/EmitPy/IR/EmitPyTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/EmitPy/IR/EmitPyAttrs.cpp.inc"

void EmitPyDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ttmlir/Dialect/EmitPy/IR/EmitPyTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/EmitPy/IR/EmitPyAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/EmitPy/IR/EmitPyOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool emitpy::isKeyword(StringRef name) {
  static const llvm::StringSet<> keywords = {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                             "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                             "else",   "except", "finally", "for",      "from",     "global", "if",
                                             "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                             "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};
  return keywords.contains(name);
}

bool emitpy::isIdentifier(StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, isWord) && !isKeyword(name);
}

bool emitpy::isDottedName(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  return llvm::all_of(parts, isIdentifier);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult emitpy::OpaqueType::verify(function_ref<InFlightDiagnostic()> emitError, StringRef value) {
  return value.empty() ? emitError() << "expected the name of a Python class" : LogicalResult(success());
}

LogicalResult emitpy::OpaqueAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef value) {
  return value.empty() ? emitError() << "expected a Python expression" : LogicalResult(success());
}

LogicalResult ImportOp::verify() {
  if (!isDottedName(getModuleName()))
    return emitOpError() << "'" << getModuleName() << "' is not the name of a Python module";
  if (ArrayAttr names = getNamesAttr())
    for (StringRef name : names.getAsValueRange<StringAttr>())
      if (!isIdentifier(name))
        return emitOpError() << "'" << name << "' is not a Python name";
  return success();
}

LogicalResult GlobalOp::verify() {
  if (!isIdentifier(getSymName()))
    return emitOpError() << "'" << getSymName() << "' is not a Python name";
  return success();
}

void FileOp::build(OpBuilder &builder, OperationState &state, StringRef id) {
  state.addAttribute(getIdAttrName(state.name), builder.getStringAttr(id));
  state.addRegion()->emplaceBlock();
}

LogicalResult FileOp::verify() {
  if (!isIdentifier(getId()))
    return emitOpError() << "'" << getId() << "' is not the name of a Python module";
  return success();
}

/// Counts uses of operands in an argument; an index without an operand is an error.
static LogicalResult countUses(CallOpaqueOp op, Attribute argument, SmallVectorImpl<unsigned> &uses) {
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    for (Attribute item : list)
      if (failed(countUses(op, item, uses)))
        return failure();
    return success();
  }
  auto integer = dyn_cast<IntegerAttr>(argument);
  if (!integer || !integer.getType().isIndex()) {
    if (isa<IntegerAttr, FloatAttr, StringAttr, UnitAttr, emitpy::OpaqueAttr>(argument))
      return success();
    return op.emitOpError() << "argument " << argument << " has no form in Python";
  }
  int64_t index = integer.getInt();
  if (index < 0 || index >= static_cast<int64_t>(uses.size()))
    return op.emitOpError() << "argument refers to operand " << index << " of " << uses.size();
  ++uses[index];
  return success();
}

LogicalResult CallOpaqueOp::verify() {
  StringRef callee = getCallee();
  bool isMethod = callee.consume_front(".");
  if (!isDottedName(callee))
    return emitOpError() << "callee '" << getCallee() << "' is not a Python name";
  if (isMethod && getOperands().empty())
    return emitOpError() << "calls a method and has no operand whose method that could be";
  std::optional<ArrayAttr> args = getArgs();
  if (std::optional<ArrayAttr> keywords = getKeywords()) {
    if (!args)
      return emitOpError() << "has keywords and no args";
    if (keywords->size() != args->size())
      return emitOpError() << "has " << keywords->size() << " keywords for " << args->size() << " args";
    bool named = false;
    for (StringRef keyword : keywords->getAsValueRange<StringAttr>()) {
      if (keyword.empty() && named)
        return emitOpError() << "has a positional argument after a keyword";
      if (!keyword.empty() && !isIdentifier(keyword))
        return emitOpError() << "keyword '" << keyword << "' is not a Python name";
      named |= !keyword.empty();
    }
  }
  if (!args)
    return success();
  SmallVector<unsigned> uses(getOperands().size());
  for (Attribute argument : *args)
    if (failed(countUses(*this, argument, uses)))
      return failure();
  for (auto [index, count] : llvm::enumerate(uses))
    if (count == 0 && !(isMethod && index == 0))
      return emitOpError() << "operand " << index << " is no argument";
  return success();
}

#define GET_OP_CLASSES
#include "ttmlir/Dialect/EmitPy/IR/EmitPyOps.cpp.inc"
