//===- Indexing.cpp - factors of computed places ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace ::ttmlir::shapes;
namespace hlo = mlir::stablehlo;

std::optional<Factors> stablehlo::dynamicSliceFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0), out = factors.result(0);
  factors.pointwise(in, [&](int64_t dim) { return in[dim] == out[dim] ? kPassThrough : kBlockedReplication; });
  return factors.statesSizes("slice_sizes", 0).finish();
}

std::optional<Factors> stablehlo::dynamicUpdateSliceFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  View in = factors.operand(0), update = factors.operand(1);
  const auto result = static_cast<int64_t>(factors.numOperands());
  for (int64_t dim = 0; dim < static_cast<int64_t>(in.size()); ++dim) {
    if (in[dim] == update[dim]) {
      factors.addAt({{0, dim}, {1, dim}, {result, dim}}, in[dim]);
      continue;
    }
    // The start is a position in the whole dimension, like an index of a gather.
    factors.addAt({{0, dim}, {result, dim}}, in[dim], kNeedReplication);
    factors.addAt({{1, dim}}, update[dim], kNeedReplication);
  }
  return factors.finish();
}

namespace {
/// A gather, or a scatter that is read as one: slices of the input, at positions given by indices.
struct SliceAccess {
  SmallVector<int64_t> inputs, slices; // numbers of the tensors
  int64_t indices;
  View inputShape, indicesShape, sliceShape;
  ArrayRef<int64_t> offsetDims, collapsedDims, inputBatchingDims, indicesBatchingDims;
  int64_t indexVectorDim;
  bool isGather;
  FactorType implicitBatch; // of the indices and the slices
  FactorType position;      // of the input alone: a dimension of which each slice takes one element, at an index
  ArrayRef<int64_t> indexedDims;

  FactorType typeOfPosition(int64_t dim) const {
    return llvm::is_contained(indexedDims, dim) ? position : kNeedReplication;
  }

  Factors build(Factors factors) const {
    auto at = [](ArrayRef<int64_t> tensors, int64_t dim) {
      std::vector<Factors::Place> places;
      for (int64_t tensor : tensors)
        places.push_back({tensor, dim});
      return places;
    };
    int64_t nextInput = 0, nextIndex = 0;
    for (int64_t dim = 0; dim < static_cast<int64_t>(sliceShape.size()); ++dim) {
      std::vector<Factors::Place> places = at(slices, dim);
      if (!llvm::is_contained(offsetDims, dim)) {
        nextIndex += nextIndex == indexVectorDim;
        FactorType type = implicitBatch;
        const auto *batch = llvm::find(indicesBatchingDims, nextIndex);
        if (batch != indicesBatchingDims.end()) {
          type = kPassThrough;
          llvm::append_range(places, at(inputs, inputBatchingDims[batch - indicesBatchingDims.begin()]));
        }
        places.push_back({indices, nextIndex++});
        factors.addAt(places, sliceShape[dim], type);
        continue;
      }
      while (llvm::is_contained(collapsedDims, nextInput) || llvm::is_contained(inputBatchingDims, nextInput))
        ++nextInput;
      int64_t size = inputShape[nextInput];
      std::vector<Factors::Place> inputPlaces = at(inputs, nextInput++);
      if (size == sliceShape[dim]) {
        llvm::append_range(places, inputPlaces);
        factors.addAt(places, size);
      } else if (!isGather) {
        factors.addAt(inputPlaces, size, kNeedReplication).addAt(places, sliceShape[dim], kNeedReplication);
      } else if (sliceShape[dim] == 1) {
        // As a collapsed dimension below.
        factors.addAt(inputPlaces, size, typeOfPosition(nextInput - 1)).addAt(places, 1, kNeedReplication);
      } else {
        llvm::append_range(places, inputPlaces);
        factors.addAt(places, size, kBlockedReplication);
      }
    }
    for (int64_t dim : collapsedDims)
      factors.addAt(at(inputs, dim), inputShape[dim], typeOfPosition(dim));
    if (indexVectorDim < static_cast<int64_t>(indicesShape.size()))
      factors.addAt({{indices, indexVectorDim}}, indicesShape[indexVectorDim], kNeedReplication);
    return factors.finish();
  }
};
} // namespace

/// An index is a position in the whole dimension. A device that holds a part of it subtracts the offset of the part,
/// and results that other devices hold are zeros, so that the sum over the devices is the result. This moves each
/// result twice, and pays where the input is larger.
static bool isSumOfParts(hlo::GatherOp op) {
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  const Type element = operand.getElementType();
  auto real = dyn_cast<FloatType>(element);
  const bool hasZero =
      real ? APFloat::semanticsHasZero(real.getFloatSemantics()) : isa<IntegerType, ComplexType>(element);
  return hasZero && 2 * result.getNumElements() <= operand.getNumElements() &&
         llvm::all_of(operand.getShape(), [](int64_t size) { return size <= std::numeric_limits<int32_t>::max(); });
}

std::optional<Factors> stablehlo::gatherFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  auto numbers = cast<hlo::GatherOp>(op).getDimensionNumbers();
  factors.statesSizes("slice_sizes", 0);
  SliceAccess access = {{0},
                        {2},
                        1,
                        factors.operand(0),
                        factors.operand(1),
                        factors.result(0),
                        numbers.getOffsetDims(),
                        numbers.getCollapsedSliceDims(),
                        numbers.getOperandBatchingDims(),
                        numbers.getStartIndicesBatchingDims(),
                        numbers.getIndexVectorDim(),
                        /*isGather=*/true,
                        /*implicitBatch=*/kPassThrough,
                        /*position=*/isSumOfParts(cast<hlo::GatherOp>(op)) ? kReduction : kNeedReplication,
                        numbers.getStartIndexMap()};
  return access.build(std::move(factors));
}

std::optional<Factors> stablehlo::scatterFactors(Operation *op, FactorMode) {
  Factors factors = tensorsOf(op);
  auto scatter = cast<hlo::ScatterOp>(op);
  auto numbers = scatter.getScatterDimensionNumbers();
  int64_t inputs = scatter.getInputs().size();
  SliceAccess access;
  for (int64_t index = 0; index < inputs; ++index) {
    access.inputs.push_back(index);
    access.slices.push_back(inputs + 1 + index);
  }
  for (int64_t index = 0; index < inputs; ++index)
    access.inputs.push_back(static_cast<int64_t>(factors.numOperands()) + index);
  access.indices = inputs;
  access.inputShape = factors.operand(0);
  access.indicesShape = factors.operand(inputs);
  access.sliceShape = factors.operand(inputs + 1);
  access.offsetDims = numbers.getUpdateWindowDims();
  access.collapsedDims = numbers.getInsertedWindowDims();
  access.inputBatchingDims = numbers.getInputBatchingDims();
  access.indicesBatchingDims = numbers.getScatterIndicesBatchingDims();
  access.indexVectorDim = numbers.getIndexVectorDim();
  access.isGather = false;
  // With a part of the updates on each shard, a sum over the shards would count the input once for each.
  access.implicitBatch = access.position = kNeedReplication;
  return access.build(std::move(factors));
}
