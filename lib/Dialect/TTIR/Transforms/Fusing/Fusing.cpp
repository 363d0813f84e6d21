//===- Fusing.cpp - fusion of TTIR ops ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/TTIR/IR/DataMovementOps.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatInterleaveOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"

#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRFUSING
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

std::optional<double> ttir::splat(Value value) {
  for (Operation *op = value.getDefiningOp(); op && op->getNumOperands() == 1 && movesOnlyOperands(op);
       op = value.getDefiningOp())
    value = op->getOperand(0);
  Attribute number = folds::splatOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(number))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(number))
    return static_cast<double>(integer.getValue().getSExtValue());
  return std::nullopt;
}

bool ttir::swapsLastTwo(ArrayRef<int64_t> order) {
  const int64_t rank = order.size();
  return rank >= 2 && order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1 &&
         llvm::equal(order.drop_back(2), llvm::seq<int64_t>(rank - 2));
}

void FusionState::notifyOperationReplaced(Operation *root, ValueRange values) {
  ttcore::FusionState::notifyOperationReplaced(root, values);
  if (!ttcore::hasRequests(root) || movesValues(root))
    return;
  for (Value value : values)
    if (Operation *made = value.getDefiningOp(); made && !movesValues(made))
      ttcore::passRequestsOn(root, made);
}

Value Group::shaped(Value value) {
  while (true) {
    Operation *op = take<ReshapeOp>(value);
    op = op ? op : take<SqueezeOp>(value);
    op = op ? op : take<UnsqueezeOp>(value);
    if (!op)
      return value;
    value = op->getOperand(0);
  }
}

Value Group::perRow(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (auto broadcast = take<BroadcastOp>(value))
    value = broadcast.getInput();
  SmallVector<int64_t> kept(shape);
  for (int64_t dim : dims)
    kept[dim] = 1;
  return tensorType(value).getShape() == ArrayRef(kept) ? shaped(value) : Value();
}

bool Group::isClosed() const {
  return llvm::all_of(llvm::drop_begin(ops), [&](Operation *op) {
    return (ttcore::mayFuse(op, root()) || movesValues(op)) &&
           llvm::all_of(op->getUsers(), [&](Operation *user) { return ops.contains(user) || state->isDead(user); });
  });
}

Value ttir::reshape(OpBuilder &builder, Operation *root, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape)
    return value;
  Location loc = ttcore::withoutSourceNumber(root->getLoc());
  RankedTensorType to = type.clone(shape);
  // The values of a constant, shared or small.
  if (auto constant = value.getDefiningOp<ttir::ConstantOp>();
      constant && constant.getValue().getElementType() == type.getElementType()) {
    ElementsAttr values = constant.getValue();
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(values))
      return ttir::ConstantOp::create(builder, loc, to, DenseResourceElementsAttr::get(to, resource.getRawHandle()));
    if (auto dense = dyn_cast<DenseElementsAttr>(values))
      return ttir::ConstantOp::create(builder, loc, to, dense.reshape(to));
  }
  SmallVector<int32_t> sizes(shape.begin(), shape.end());
  return ReshapeOp::create(builder, loc, to, value, builder.getI32ArrayAttr(sizes));
}

namespace {
struct Fusing : ttir::impl::TTIRFusingBase<Fusing> {
  using Base::Base;

  void runOnOperation() override {
    FusionState state(getOperation(),
                      {conv2dWithMultiplyEnabled, permuteMatmulEnabled, permuteSliceAfterMatmulEnabled, openSizes});
    RewritePatternSet patterns(&getContext());
    populateActivationFusions(patterns, state);
    populateMatmulFusions(patterns, state);
    populateConvolutionFusions(patterns, state);
    populateBranchFusions(patterns, state);
    populateMovementFusions(patterns, state);
    populateNormalizationFusions(patterns, state);
    populateAttentionFusions(patterns, state);
    state.apply(getOperation(), std::move(patterns));
    if (!state.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace
