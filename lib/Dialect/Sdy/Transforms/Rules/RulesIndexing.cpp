//===- RulesIndexing.cpp - sharding rules of computed places --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

OpShardingRuleAttr sdy::dynamicSliceRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), out = builder.result(0);
  return builder.pointwise(in, [&](int64_t dim) { return in[dim] == out[dim] ? kPassThrough : kBlockedReplication; })
      .build();
}

OpShardingRuleAttr sdy::dynamicUpdateSliceRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  ArrayRef<int64_t> in = builder.operand(0), update = builder.operand(1);
  int64_t result = builder.numOperands();
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim) {
    if (in[dim] == update[dim]) {
      builder.addAt({{0, dim}, {1, dim}, {result, dim}}, in[dim]);
      continue;
    }
    // The start is a place of the whole dimension, as an index of a gather is.
    builder.addAt({{0, dim}, {result, dim}}, in[dim], kNeedReplication);
    builder.addAt({{1, dim}}, update[dim], kNeedReplication);
  }
  return builder.build();
}

namespace {
/// A gather, or a scatter that is read as one: slices of the input, at places that the indices name.
struct SliceAccess {
  SmallVector<int64_t> inputs, slices; // numbers of the tensors
  int64_t indices;
  ArrayRef<int64_t> inputShape, indicesShape, sliceShape;
  ArrayRef<int64_t> offsetDims, collapsedDims, inputBatchingDims, indicesBatchingDims;
  int64_t indexVectorDim;
  bool isGather;
  FactorType implicitBatch; // of the indices and the slices

  OpShardingRuleAttr build(RuleBuilder &builder) const {
    auto at = [](ArrayRef<int64_t> tensors, int64_t dim) {
      return llvm::map_to_vector<6>(tensors, [&](int64_t tensor) { return std::pair(tensor, dim); });
    };
    int64_t nextInput = 0, nextIndex = 0;
    for (int64_t dim = 0; dim < static_cast<int64_t>(sliceShape.size()); ++dim) {
      SmallVector<std::pair<int64_t, int64_t>, 6> places = at(slices, dim);
      if (!llvm::is_contained(offsetDims, dim)) {
        nextIndex += nextIndex == indexVectorDim;
        FactorType type = implicitBatch;
        const auto *batch = llvm::find(indicesBatchingDims, nextIndex);
        if (batch != indicesBatchingDims.end()) {
          type = kPassThrough;
          llvm::append_range(places, at(inputs, inputBatchingDims[batch - indicesBatchingDims.begin()]));
        }
        places.emplace_back(indices, nextIndex++);
        builder.addAt(places, sliceShape[dim], type);
        continue;
      }
      while (llvm::is_contained(collapsedDims, nextInput) || llvm::is_contained(inputBatchingDims, nextInput))
        ++nextInput;
      int64_t size = inputShape[nextInput];
      SmallVector<std::pair<int64_t, int64_t>, 6> inputPlaces = at(inputs, nextInput++);
      if (size == sliceShape[dim]) {
        llvm::append_range(places, inputPlaces);
        builder.addAt(places, size);
      } else if (!isGather) {
        builder.addAt(inputPlaces, size, kNeedReplication).addAt(places, sliceShape[dim], kNeedReplication);
      } else if (sliceShape[dim] == 1) {
        // As a collapsed dimension below.
        builder.addAt(inputPlaces, size, kNeedReplication).addAt(places, 1, kNeedReplication);
      } else {
        llvm::append_range(places, inputPlaces);
        builder.addAt(places, size, kBlockedReplication);
      }
    }
    // An index names a place of the whole dimension. On shards it would need an offset and a mask, and a gather a sum
    // over the shards; gathering the input before it needs neither.
    for (int64_t dim : collapsedDims)
      builder.addAt(at(inputs, dim), inputShape[dim], kNeedReplication);
    if (indexVectorDim < static_cast<int64_t>(indicesShape.size()))
      builder.addAt({{indices, indexVectorDim}}, indicesShape[indexVectorDim], kNeedReplication);
    return builder.build();
  }
};
} // namespace

OpShardingRuleAttr sdy::gatherRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  auto numbers = cast<hlo::GatherOp>(op).getDimensionNumbers();
  SliceAccess access = {{0},
                        {2},
                        1,
                        builder.operand(0),
                        builder.operand(1),
                        builder.result(0),
                        numbers.getOffsetDims(),
                        numbers.getCollapsedSliceDims(),
                        numbers.getOperandBatchingDims(),
                        numbers.getStartIndicesBatchingDims(),
                        numbers.getIndexVectorDim(),
                        /*isGather=*/true,
                        kPassThrough};
  return access.build(builder);
}

OpShardingRuleAttr sdy::scatterRule(Operation *op, RuleMode) {
  RuleBuilder builder(op);
  auto scatter = cast<hlo::ScatterOp>(op);
  auto numbers = scatter.getScatterDimensionNumbers();
  int64_t inputs = scatter.getInputs().size();
  SliceAccess access;
  for (int64_t index = 0; index < inputs; ++index) {
    access.inputs.push_back(index);
    access.slices.push_back(inputs + 1 + index);
  }
  for (int64_t index = 0; index < inputs; ++index)
    access.inputs.push_back(builder.numOperands() + index);
  access.indices = inputs;
  access.inputShape = builder.operand(0);
  access.indicesShape = builder.operand(inputs);
  access.sliceShape = builder.operand(inputs + 1);
  access.offsetDims = numbers.getUpdateWindowDims();
  access.collapsedDims = numbers.getInsertedWindowDims();
  access.inputBatchingDims = numbers.getInputBatchingDims();
  access.indicesBatchingDims = numbers.getScatterIndicesBatchingDims();
  access.indexVectorDim = numbers.getIndexVectorDim();
  access.isGather = false;
  // With a part of the updates on each shard, a sum over the shards would count the input once for each.
  access.implicitBatch = kNeedReplication;
  return access.build(builder);
}
