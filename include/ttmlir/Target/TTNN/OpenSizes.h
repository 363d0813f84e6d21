//===- OpenSizes.h - files that leave sizes open ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Passes work with numbers. A program whose sizes are open is compiled for some
// points, which are values of these sizes that have nothing in common: where the
// files differ in numbers only, and each number is one expression of the sizes
// for all points, the file holds for other sizes, too.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_TTNN_OPENSIZES_H
#define TTMLIR_TARGET_TTNN_OPENSIZES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::tt::ttnn {

/// A size that a program takes from `least` to `most`.
struct OpenSize {
  std::string name;
  int64_t least, most;
};

/// Makes one file of those of a program for each point, which has a value of every size. Fails where a size decides
/// what is computed: the message names op and attribute.
llvm::Expected<std::string> openSizes(llvm::ArrayRef<llvm::StringRef> files, llvm::ArrayRef<OpenSize> sizes,
                                      llvm::ArrayRef<llvm::ArrayRef<int64_t>> points);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_OPENSIZES_H
