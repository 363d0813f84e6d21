//===- Convolution.cpp - StableHLO convolutions ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult ConvolutionOp::verify() {
  std::optional<ArrayAttr> precision = getPrecisionConfig();
  if (precision && !precision->empty() && precision->size() != 2)
    return emitOpError() << "has " << precision->size() << " precisions; expected one for each of 2 operands";
  size_t spatial = getDimensionNumbers().getInputSpatialDimensions().size();
  if (getWindowReversal() && getWindowReversal()->size() != spatial)
    return emitOpError() << "has " << getWindowReversal()->size() << " values in reverse; expected one for each of "
                         << spatial << " spatial dimensions";
  return checkResultKind(*this, getLhs().getType(), getType());
}

/// The size of a dimension divided by a group count, which must divide it.
static FailureOr<int64_t> divide(OptionalLoc loc, StringRef op, StringRef dimension, int64_t size, int64_t groups) {
  if (ShapedType::isDynamic(size))
    return size;
  if (size % groups != 0)
    return emitOptionalError(loc, op, ": ", dimension, " has size ", size, ", which ", groups, " groups do not divide");
  return size / groups;
}

LogicalResult ConvolutionOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> input = rankedOperand(loc, op, adaptor.getOperands(), 0);
  FailureOr<RankedTensorType> kernel = rankedOperand(loc, op, adaptor.getOperands(), 1);
  if (failed(input) || failed(kernel))
    return failure();
  ConvDimensionNumbersAttr numbers = adaptor.getDimensionNumbers();
  int64_t rank = numbers.getInputSpatialDimensions().size() + 2;
  if (input->getRank() != rank || kernel->getRank() != rank)
    return emitOptionalError(loc, op, ": operands are ", *input, " and ", *kernel, "; dim_numbers expects rank ", rank);

  int64_t featureGroups = adaptor.getFeatureGroupCount(), batchGroups = adaptor.getBatchGroupCount();
  if (featureGroups > 1 && batchGroups > 1)
    return emitOptionalError(loc, op, ": has ", featureGroups, " feature groups and ", batchGroups,
                             " batch groups; only one of them may be more than 1");
  FailureOr<int64_t> features = divide(loc, op, "the input feature dimension",
                                       input->getDimSize(numbers.getInputFeatureDimension()), featureGroups);
  FailureOr<int64_t> batch =
      divide(loc, op, "the input batch dimension", input->getDimSize(numbers.getInputBatchDimension()), batchGroups);
  int64_t outputs = kernel->getDimSize(numbers.getKernelOutputFeatureDimension());
  if (failed(features) || failed(batch) ||
      failed(divide(loc, op, "the kernel output feature dimension", outputs, std::max(featureGroups, batchGroups))))
    return failure();
  int64_t kernelFeatures = kernel->getDimSize(numbers.getKernelInputFeatureDimension());
  if (*features != kernelFeatures && !ShapedType::isDynamic(*features) && !ShapedType::isDynamic(kernelFeatures))
    return emitOptionalError(loc, op, ": the input has ", *features, " features in each of ", featureGroups,
                             " groups, the kernel takes ", kernelFeatures);

  SmallVector<int64_t> windowSizes;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    windowSizes.push_back(kernel->getDimSize(dimension));
  FailureOr<SmallVector<Window>> windows =
      readWindows(loc, op, windowSizes, adaptor.getWindowStrides(), adaptor.getPadding(), adaptor.getLhsDilation(),
                  adaptor.getRhsDilation());
  if (failed(windows))
    return failure();

  SmallVector<int64_t> shape(rank);
  shape[numbers.getOutputBatchDimension()] = *batch;
  shape[numbers.getOutputFeatureDimension()] = outputs;
  for (auto [window, from, to] :
       llvm::zip_equal(*windows, numbers.getInputSpatialDimensions(), numbers.getOutputSpatialDimensions())) {
    FailureOr<int64_t> count = countWindows(loc, op, from, input->getDimSize(from), window);
    if (failed(count))
      return failure();
    shape[to] = *count;
  }
  types.push_back(RankedTensorType::get(shape, input->getElementType()));
  return success();
}
