//===- Fusing.h - fusion of TTIR ops ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H

#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {

/// The op that replaces the last op of a group has its requests (ttcore.compute_config, ttcore.epoch,
/// ttcore.fusion_group). Ops with different requests are not fused (`mayFuse`); a product or convolution also takes ops
/// that have no config of their own (`mayJoin`).
struct FusionState : ttcore::FusionState {
  FusionState(Operation *op, const TTIRFusingOptions &options) : ttcore::FusionState(op), options(options) {}
  void notifyOperationReplaced(Operation *root, ValueRange values) override;
  TTIRFusingOptions options;
};

/// A fusion of the group that ends with an `Op`.
template <class Op> struct Fusion : OpRewritePattern<Op> {
  Fusion(MLIRContext *context, FusionState &state) : OpRewritePattern<Op>(context), state(state) {}
  FusionState &state;
};

/// Ops that one op replaces, found from the last of them upwards.
class Group {
public:
  Group(const FusionState &state, Operation *root) : state(&state) { ops.insert(root); }

  Operation *root() const { return ops.front(); }

  /// The op of this kind that produces `value`, now part of the group; null if there is none, or it is observed.
  template <class Op> Op take(Value value) {
    auto op = state->passed<Op>(value);
    if (op)
      ops.insert(op);
    return op;
  }
  void add(Operation *op) { ops.insert(op); }
  /// The value before reshapes, which keep the order of its elements.
  Value shaped(Value value);
  /// Returns the value that holds one number for each row of a tensor of this shape, before it is broadcast and
  /// reshaped; `dims` are the dimensions of a row. Null if `value` does not have this form.
  Value perRow(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);
  /// Whether nothing else reads the results of the ops before the root, and all that compute have the same config.
  bool isClosed() const;

private:
  const FusionState *state;
  llvm::SetVector<Operation *> ops; // the root first
};

void populateActivationFusions(RewritePatternSet &patterns, FusionState &state);
void populateMatmulFusions(RewritePatternSet &patterns, FusionState &state);
void populateConvolutionFusions(RewritePatternSet &patterns, FusionState &state);
void populateBranchFusions(RewritePatternSet &patterns, FusionState &state);
void populateMovementFusions(RewritePatternSet &patterns, FusionState &state);
void populateNormalizationFusions(RewritePatternSet &patterns, FusionState &state);
void populateAttentionFusions(RewritePatternSet &patterns, FusionState &state);

inline RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }
/// Whether an op changes no value, only the positions of values.
inline bool movesValues(Operation *op) { return op->hasTrait<trait::MovesValues>(); }
/// Whether shape, element type and encoding are equal.
inline bool haveSameType(Value lhs, Value rhs) { return lhs.getType() == rhs.getType(); }

inline bool isFloat(Value value) { return isa<FloatType, ttcore::TileType>(tensorType(value).getElementType()); }
/// The number of a splat tensor, also through broadcasts and reshapes.
std::optional<double> splat(Value value);
/// Whether a permutation only transposes the matrices of the last two dimensions.
bool swapsLastTwo(ArrayRef<int64_t> order);
/// The padding of images as [top, left, bottom, right], from one number for all, [height, width], or these.
std::array<int64_t, 4> imageSides(Attribute padding);

/// The value in another shape, for the op that replaces `root`.
Value reshape(OpBuilder &builder, Operation *root, Value value, ArrayRef<int64_t> shape);

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H
