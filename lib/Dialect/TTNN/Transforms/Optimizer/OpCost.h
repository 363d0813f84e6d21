//===- OpCost.h - estimated times of TTNN ops -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_OPCOST_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_OPCOST_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/costs/Costs.h"

namespace mlir::tt::ttnn {

using ::ttmlir::cost::Family;
Family familyOf(Operation *op);

/// Whether an op that only moves keeps the order of elements in rows: the runtime reuses the operand's memory for the
/// result if both have the same placement.
bool keepsOrder(Operation *op);

/// A boolean attribute; false if it is absent.
bool flag(Operation *op, StringRef name);

/// A tensor of the type, in a layout other than its own, for counting work. Null if it is not a tensor with a layout.
std::optional<::ttmlir::cost::PlacedTensor> placedTensor(Type type, TTNNLayoutAttr layout);
inline std::optional<::ttmlir::cost::PlacedTensor> placedTensor(Type type) {
  return placedTensor(type, TTNNLayoutAttr::of(type));
}

/// Operands and results of an op with layouts that they have, or may get.
struct OpTensors {
  SmallVector<std::optional<::ttmlir::cost::PlacedTensor>, 4> ins;
  SmallVector<::ttmlir::cost::PlacedTensor, 1> outs;

  OpTensors() = default;
  /// Takes the placements from the types of operands and results.
  explicit OpTensors(Operation *op);
};

/// Estimates, from types and layouts alone, what the runtime's clock (docs/cost-model.md) will report for an op.
class OpCost {
public:
  explicit OpCost(ttcore::ChipDescAttr chip);

  const ::ttmlir::cost::Speed &speedOfChip() const { return speed; }
  ::ttmlir::cost::Times times(Operation *op, const OpTensors &tensors) const;
  static ::ttmlir::cost::Work work(Operation *op, const OpTensors &tensors);
  /// The time of an op whose work is known, with some of its tensor operands placed differently. The cost of this call
  /// depends on the number of these operands only.
  double nsWith(Operation *op, const OpTensors &tensors, const ::ttmlir::cost::Work &work,
                ArrayRef<std::pair<unsigned, ::ttmlir::cost::PlacedTensor>> changed) const;
  double opNs(Operation *op) const { return times(op, OpTensors(op)).total(); }
  /// Returns the time of a change of layout that is a separate op.
  double moveNs(const ::ttmlir::cost::PlacedTensor &from, const ::ttmlir::cost::PlacedTensor &to) const;
  /// Sending a tensor to another chip.
  double sendNs(Value value) const;
  /// Returns the bytes that the op's kernels keep in the L1 of each core.
  static int64_t circularBytes(Operation *op, const OpTensors &tensors, const ::ttmlir::cost::Chip &chip);

private:
  const ::ttmlir::cost::Speed &speed;
  double cores;
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_OPCOST_H
