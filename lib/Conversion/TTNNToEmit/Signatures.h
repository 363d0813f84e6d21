//===- Signatures.h - how programs are written for callers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTNNTOEMIT_SIGNATURES_H
#define TTMLIR_LIB_CONVERSION_TTNNTOEMIT_SIGNATURES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tt::emit {

/// The tuples that a function took and returned. In a program these are lists.
struct TupleForm {
  struct List {
    std::string name;
    unsigned elements;
  };
  SmallVector<List, 1> arguments; // all but the device
  bool returnsTuple = false;
};

/// Attributes of the elements of a tuple, recorded on the argument that is one.
inline constexpr llvm::StringLiteral elementsAttr = "ttnn.elements";

/// Replaces tuples in the signatures of functions by their elements. Returns the original forms of the functions, by
/// name.
FailureOr<llvm::StringMap<TupleForm>> flattenTuples(ModuleOp module);

/// Replaces traces by calls of the recorded functions: programs in C++ and Python run them again each time.
LogicalResult callTraced(ModuleOp module);

/// Moves functions out of the files that `ttnn-file-split` has created. Returns whether there were any.
FailureOr<bool> joinFiles(ModuleOp module);

} // namespace mlir::tt::emit

#endif // TTMLIR_LIB_CONVERSION_TTNNTOEMIT_SIGNATURES_H
