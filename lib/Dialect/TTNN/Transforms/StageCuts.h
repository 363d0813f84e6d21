//===- StageCuts.h - even cuts of a sequence of ops -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECUTS_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECUTS_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

/// One part of a sequence of ops, [begin, end).
using Part = std::pair<size_t, size_t>;

/// Divides ops into `parts` nonempty parts in order, so that the slowest takes the least time; among equal divisions,
/// the one whose parts take the least total time. `opNs` are times of the ops; `crossing` are values: the producer, the
/// last user, and the time to send it.
struct Crossing {
  size_t created = 0, used = 0;
  double ns = 0;
};
std::vector<Part> cutEvenly(ArrayRef<double> opNs, ArrayRef<Crossing> crossing, size_t parts);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECUTS_H
