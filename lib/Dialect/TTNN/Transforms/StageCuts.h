//===- StageCuts.h - even cuts of a sequence of ops -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECUTS_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECUTS_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

/// One part of a sequence of ops, [begin, end).
using Part = std::pair<size_t, size_t>;

/// Cuts ops into `parts` parts in their order, none of which is empty, so that the slowest takes the least time; of
/// cuts that are equal in this, the one whose parts take the least time together. `opNs` are times of the ops;
/// `crossing` are values: who makes it, who uses it last, and the time of sending it.
struct Crossing {
  size_t created = 0, used = 0;
  double ns = 0;
};
std::vector<Part> cutEvenly(ArrayRef<double> opNs, ArrayRef<Crossing> crossing, size_t parts);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECUTS_H
