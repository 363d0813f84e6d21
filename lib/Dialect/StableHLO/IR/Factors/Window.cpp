//===- Window.cpp - factors of sliding windows ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/StableHLO/IR/Windows.h"

using namespace mlir;
using namespace mlir::tt;
using namespace ::ttmlir::shapes;
namespace hlo = mlir::stablehlo;

FactorType stablehlo::windowFactor(Operation *op, int64_t dim, FactorMode mode) {
  const bool passes = mode == FactorMode::Full || (mode == FactorMode::Edges && mayExchangeEdges(op, dim));
  return {FactorKind::Permutation, /*isBlocked=*/!passes};
}

std::optional<Factors> stablehlo::convolutionFactors(Operation *op, FactorMode mode) {
  Factors factors = tensorsOf(op);
  auto convolution = cast<hlo::ConvolutionOp>(op);
  auto numbers = convolution.getDimensionNumbers();
  View lhs = factors.operand(0), kernel = factors.operand(1), out = factors.result(0);
  int64_t lhsBatch = numbers.getInputBatchDimension(), lhsFeature = numbers.getInputFeatureDimension();
  int64_t kernelIn = numbers.getKernelInputFeatureDimension(), kernelOut = numbers.getKernelOutputFeatureDimension();
  int64_t outBatch = numbers.getOutputBatchDimension(), outFeature = numbers.getOutputFeatureDimension();
  auto batchGroups = static_cast<int64_t>(convolution.getBatchGroupCount());
  auto featureGroups = static_cast<int64_t>(convolution.getFeatureGroupCount());
  if (batchGroups > 1)
    factors.add({lhsBatch, kernelOut, outFeature}, batchGroups);
  factors.add({lhsBatch, kNone, outBatch}, out[outBatch]);
  // An input position is a window and a position in it.
  for (auto [lhsDim, kernelDim, outDim] :
       llvm::zip(numbers.getInputSpatialDimensions(), numbers.getKernelSpatialDimensions(),
                 numbers.getOutputSpatialDimensions())) {
    if (mode == FactorMode::Conservative || (mode == FactorMode::Edges && !mayExchangeEdges(op, lhsDim)))
      continue;
    int64_t rest = lhs[lhsDim];
    auto add = [&, lhsDim = lhsDim](int64_t size, int64_t inKernel, int64_t inOut, FactorType type) {
      size = std::min(rest, size);
      if (size <= 1)
        return;
      factors.add({lhsDim, inKernel, inOut}, size, type);
      rest /= size;
    };
    if (out[outDim] >= kernel[kernelDim])
      add(out[outDim], kNone, outDim, kPermutation);
    const bool isContraction = out[outDim] < kernel[kernelDim];
    if (mode == FactorMode::Full || isContraction)
      add(kernel[kernelDim], kernelDim, kNone, kReduction);
    if (mode == FactorMode::Full && isContraction)
      add(out[outDim], kNone, outDim, kPermutation);
  }
  if (featureGroups > 1)
    factors.add({lhsFeature, kernelOut, outFeature}, featureGroups);
  factors.add({lhsFeature, kernelIn, kNone}, kernel[kernelIn], kReduction);
  if (int64_t size = out[outFeature] / (batchGroups * featureGroups); size > 1)
    factors.add({kNone, kernelOut, outFeature}, size);
  return factors.finish();
}

/// Consecutive windows of one element: the dimension is not changed.
template <typename OpT> static bool isTrivialWindow(OpT op, int64_t dim) {
  auto entry = [&](std::optional<View> values) { return values ? (*values)[dim] : 1; };
  if (entry(op.getWindowDimensions()) != 1 || entry(op.getWindowStrides()) != 1)
    return false;
  if (!op.getPadding())
    return true;
  auto padding = llvm::to_vector(op.getPadding()->template getValues<int64_t>());
  return padding[2 * dim] == 0 && padding[2 * dim + 1] == 0;
}

std::optional<Factors> stablehlo::reduceWindowFactors(Operation *op, FactorMode mode) {
  Factors factors = tensorsOf(op);
  auto reduce = cast<hlo::ReduceWindowOp>(op);
  auto dilation = [&](int64_t dim) { return reduce.getBaseDilations() ? (*reduce.getBaseDilations())[dim] : 1; };
  return factors
      .pointwise(factors.result(0),
                 [&](int64_t dim) {
                   return isTrivialWindow(reduce, dim) && dilation(dim) == 1 ? kPassThrough
                                                                             : windowFactor(op, dim, mode);
                 })
      .finish();
}

std::optional<Factors> stablehlo::selectAndScatterFactors(Operation *op, FactorMode mode) {
  Factors factors = tensorsOf(op);
  auto select = cast<hlo::SelectAndScatterOp>(op);
  View operand = factors.operand(0), source = factors.operand(1);
  for (int64_t dim = 0; dim < static_cast<int64_t>(operand.size()); ++dim) {
    if (isTrivialWindow(select, dim)) {
      factors.add({dim, dim, kNone, dim}, operand[dim]);
      continue;
    }
    if (isCutByWindows(select, dim)) {
      // Each window scatters to elements of its own.
      factors.add({dim, dim, kNone, dim}, source[dim])
          .add({dim, kNone, kNone, dim}, operand[dim] / source[dim], kBlockedReplication);
      continue;
    }
    factors.add({kNone, dim, kNone, kNone}, source[dim], {FactorKind::NeedReplication, mode != FactorMode::Full});
    factors.add({dim, kNone, kNone, dim}, operand[dim], {FactorKind::Permutation, mode != FactorMode::Full});
  }
  return factors.finish();
}
