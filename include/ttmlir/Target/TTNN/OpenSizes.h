//===- OpenSizes.h - files that leave sizes open ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Passes work on static shapes. A program with open sizes is compiled at several sample points. If the files differ
// only in numbers, and one expression of the sizes yields each number at all points, the file is valid for other sizes.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_TTNN_OPENSIZES_H
#define TTMLIR_TARGET_TTNN_OPENSIZES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::tt::ttnn {

/// An open size and its bounds, both inclusive.
struct OpenSize {
  std::string name;
  int64_t least, most;
};

/// A number of a program that is, or may be, a quotient of sizes. More points decide which one it is: those with all
/// remainders of the sizes modulo `period`. `place` names the op and the attribute.
struct Quotient {
  int64_t period;
  bool isKnown;
  std::string place;
};

/// A file, and its quotients, one for each period. `searches` is the number of values for which an expression was
/// searched: equal values of equal operands count once.
struct OpenFile {
  std::string data;
  llvm::SmallVector<Quotient> quotients;
  size_t searches = 0;
};

/// Merges the files of one program, compiled at each of `points`, into a file with open sizes. Each point has one value
/// per size. Fails if the ops of the program depend on a size; the message names the op and the attribute.
llvm::Expected<OpenFile> openSizes(llvm::ArrayRef<llvm::StringRef> files, llvm::ArrayRef<OpenSize> sizes,
                                   llvm::ArrayRef<llvm::ArrayRef<int64_t>> points);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_OPENSIZES_H
