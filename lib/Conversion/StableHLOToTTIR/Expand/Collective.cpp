//===- Collective.cpp - what devices combine, by what they gather ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// TTIR combines by a few operations, along an axis of the mesh. For any other computation, and for groups that are not
// an axis, each device gathers the values of its group and combines them itself, in the order of the group.
//
//===----------------------------------------------------------------------===//

#include "../Mesh/Collective.h"
#include "Expressions.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// Whether this op is to be expressed by others: its channel and groups are valid, and TTIR has no op for it.
template <class OpT> FailureOr<DeviceGroups> groupsToExpand(OpT op, bool ordered) {
  std::string ignored;
  FailureOr<DeviceGroups> groups = deviceGroups(op, op.getReplicaGroups(), ignored);
  if (failed(groups) || !checkChannel(op.getChannelHandle()).empty() || !isElementwise(op.getComputation()))
    return failure();
  if (reduceTypeOf(op.getComputation()) && (ordered ? groups->axes() : groups->unorderedAxes()))
    return failure();
  return groups;
}

/// Slices 0, 1, ... of the first dimension, combined.
Expr combined(Expr stacked, Region &computation) {
  SmallVector<int64_t> shape(stacked.shape().drop_front());
  auto part = [&](int64_t index) { return stacked.slice(0, index, index + 1).reshape(shape); };
  Expr result = part(0);
  for (int64_t index = 1; index < stacked.size(0); ++index)
    result = applyRegion(computation.front(), {result, part(index)}).front();
  return result;
}

bool keepsTypes(Operation *op, Region &computation) {
  Type scalar = cast<RankedTensorType>(computation.front().getArgument(0).getType()).getElementType();
  return llvm::all_of(llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())),
                      [&](Type type) { return cast<RankedTensorType>(type).getElementType() == scalar; });
}

struct ExpandAllReduce : OpRewritePattern<stablehlo::AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::AllReduceOp op, PatternRewriter &rewriter) const override {
    FailureOr<DeviceGroups> groups = groupsToExpand(op, /*ordered=*/false);
    if (failed(groups) || !keepsTypes(op, op.getComputation()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<Value> results;
    for (Value operand : op.getOperands()) {
      Expr value(builder, operand);
      SmallVector<int64_t> shape = {1};
      llvm::append_range(shape, value.shape());
      Value one = value.reshape(shape).value();
      shape[0] = groups->size();
      auto gathered = stablehlo::AllGatherOp::create(builder, TypeRange(value.type().clone(shape)), ValueRange(one),
                                                     /*all_gather_dim=*/0, op.getReplicaGroups(),
                                                     op.getChannelHandleAttr(), op.getUseGlobalDeviceIds());
      results.push_back(combined(Expr(builder, gathered->getResult(0)), op.getComputation()).value());
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ExpandReduceScatter : OpRewritePattern<stablehlo::ReduceScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceScatterOp op, PatternRewriter &rewriter) const override {
    FailureOr<DeviceGroups> groups = groupsToExpand(op, /*ordered=*/true);
    if (failed(groups) || !keepsTypes(op, op.getComputation()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    // Device i of a group gets part i of every device of the group, one after another.
    Expr value(builder, op.getOperand());
    const int64_t parts = groups->size(), dimension = static_cast<int64_t>(op.getScatterDimension());
    SmallVector<int64_t> shape(value.shape());
    shape[dimension] /= parts;
    shape.insert(shape.begin() + dimension, parts);
    Expr split = value.reshape(shape);
    auto exchanged =
        stablehlo::AllToAllOp::create(builder, TypeRange(split.type()), ValueRange(split.value()), dimension, dimension,
                                      static_cast<uint64_t>(parts), op.getReplicaGroups(), op.getChannelHandleAttr());
    SmallVector<int64_t> order = {dimension};
    for (int64_t d = 0; d < split.rank(); ++d)
      if (d != dimension)
        order.push_back(d);
    Expr stacked = Expr(builder, exchanged->getResult(0)).transpose(order);
    rewriter.replaceOp(op, combined(stacked, op.getComputation()).value());
    return success();
  }
};

} // namespace

void hlo::addCollectiveExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandAllReduce, ExpandReduceScatter>(patterns.getContext());
}
