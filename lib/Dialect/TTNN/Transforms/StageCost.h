//===- StageCost.h - estimated times of TTNN ops ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECOST_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECOST_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Target/CostModel.h"

namespace mlir::tt::ttnn {

/// Estimates by types alone what the runtime's clock (docs/runtime.md) will say of an op.
class StageCost {
public:
  explicit StageCost(ttcore::ChipDescAttr chip);

  double opNs(Operation *op) const;
  /// Sending a tensor to the next stage.
  double sendNs(Value value) const;

private:
  const ::ttmlir::cost::Speed &speed;
  double cores;
};

/// One part of a sequence of ops, [begin, end).
using Part = std::pair<size_t, size_t>;

/// Cuts ops into `parts` parts in their order, none of which is empty, so that the slowest takes the least time; of
/// cuts that are equal in this, the one whose parts take the least time together. `opNs` are times of the ops;
/// `crossing` are values: who makes it, who uses it last, and the time of sending it.
struct Crossing {
  size_t made = 0, used = 0;
  double ns = 0;
};
std::vector<Part> cutEvenly(ArrayRef<double> opNs, ArrayRef<Crossing> crossing, size_t parts);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_STAGECOST_H
