//===- Gather.cpp - positions in dimensions of which devices hold parts ---===//
// SPDX-License-Identifier: Apache-2.0
//
// A device subtracts the first position of its part from the indices, reads at the nearest position of the part, and
// keeps what it read if the position is in the part. The sum over the devices follows.
//
//===----------------------------------------------------------------------===//

#include "Collective.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

/// Zeros that leave any number unchanged in a sum, also -0.
static Value neutral(ImplicitLocOpBuilder &builder, RankedTensorType type) {
  Type element = type.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  Type part = complex ? complex.getElementType() : element;
  Attribute zero = builder.getZeroAttr(part);
  if (auto real = dyn_cast<FloatType>(part))
    zero = FloatAttr::get(real, APFloat::getZero(real.getFloatSemantics(), /*Negative=*/true));
  if (complex)
    zero = builder.getArrayAttr({zero, zero});
  return stablehlo::ConstantOp::create(builder, type, DenseElementsAttr::get(type, zero));
}

static Value splat(ImplicitLocOpBuilder &builder, RankedTensorType type, int64_t value) {
  const auto integer = cast<IntegerType>(type.getElementType());
  return stablehlo::ConstantOp::create(
      builder, type,
      DenseElementsAttr::get(type, APInt(integer.getWidth(), static_cast<uint64_t>(value), /*isSigned=*/true)));
}

/// The largest number of an integer type, or the limit if the type has larger ones.
static int64_t bounded(Type type, int64_t limit) {
  const auto integer = cast<IntegerType>(type);
  const unsigned bits = integer.getWidth() - (integer.isUnsigned() ? 0 : 1);
  return bits >= 62 ? limit : std::min(limit, (int64_t(1) << bits) - 1);
}

Value CollectiveLowering::gatherFromPart(stablehlo::GatherOp gather, ArrayRef<int64_t> slices,
                                         sdy::TensorShardingAttr operand) {
  const stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  const ArrayRef<int64_t> local = typeOf(gather.getOperand()).getShape();
  Value indices = gather.getStartIndices();
  const int64_t vectorDim = numbers.getIndexVectorDim(), rank = typeOf(indices).getRank();
  ImplicitLocOpBuilder builder(gather.getLoc(), gather);
  const Type i32 = builder.getI32Type(), i1 = builder.getI1Type();

  auto partsAlong = [&](int64_t dim) { return operand ? partsOf(operand, dim, mesh) : 1; };
  // A dimension of which slices are whole starts at 0 in each part.
  auto isPosition = [&](int64_t dim) { return partsAlong(dim) > 1 && slices[dim] == 1; };
  if (llvm::none_of(numbers.getStartIndexMap(), isPosition))
    return gather.getResult();

  SmallVector<Value> columns;
  Value isHere;
  for (auto [column, dim] : llvm::enumerate(numbers.getStartIndexMap())) {
    Value own = indices;
    if (vectorDim < rank) {
      SmallVector<int64_t> shape(typeOf(indices).getShape()), starts(rank, 0), strides(rank, 1);
      SmallVector<int64_t> limits = shape;
      starts[vectorDim] = static_cast<int64_t>(column);
      limits[vectorDim] = starts[vectorDim] + 1;
      shape[vectorDim] = 1;
      own = stablehlo::SliceOp::create(builder, typeOf(indices).clone(shape), indices, starts, limits, strides);
    }
    RankedTensorType type = typeOf(own), numberType = type.clone(i32);
    const RankedTensorType scalar = RankedTensorType::get({}, type.getElementType());
    // StableHLO moves indices that are outside of the operand to its ends.
    const int64_t last = local[dim] * partsAlong(dim) - slices[dim];
    own = stablehlo::ClampOp::create(builder, type, splat(builder, scalar, 0), own,
                                     splat(builder, scalar, bounded(type.getElementType(), last)));
    if (type.getElementType() != i32)
      own = stablehlo::ConvertOp::create(builder, numberType, own);
    if (isPosition(dim)) {
      ArrayRef<sdy::AxisRefAttr> axes = operand.getDimShardings()[dim].getAxes();
      Value first = perDevice(builder, [&](int64_t device) { return indexAlong(mesh, axes, device) * local[dim]; });
      first = stablehlo::BroadcastInDimOp::create(builder, numberType, first, ArrayRef<int64_t>());
      Value shifted = stablehlo::SubtractOp::create(builder, numberType, own, first);
      const auto number = RankedTensorType::get({}, i32);
      own = stablehlo::ClampOp::create(builder, numberType, splat(builder, number, 0), shifted,
                                       splat(builder, number, local[dim] - 1));
      Value isInside =
          stablehlo::CompareOp::create(builder, numberType.clone(i1), shifted, own, stablehlo::ComparisonDirection::EQ,
                                       stablehlo::ComparisonTypeAttr());
      isHere = isHere ? stablehlo::AndOp::create(builder, isInside.getType(), isHere, isInside).getResult() : isInside;
    }
    columns.push_back(own);
  }
  Value changed = columns.front();
  if (columns.size() > 1)
    changed = stablehlo::ConcatenateOp::create(builder, typeOf(indices).clone(i32), columns,
                                               static_cast<uint64_t>(vectorDim));
  gather.getStartIndicesMutable().assign(changed);

  // One entry for each slice, along the dimensions of the result that are not of slices.
  SmallVector<int64_t> batch(typeOf(isHere).getShape()), dims;
  if (vectorDim < rank) {
    batch.erase(batch.begin() + vectorDim);
    isHere = stablehlo::ReshapeOp::create(builder, typeOf(isHere).clone(batch), isHere);
  }
  builder.setInsertionPointAfter(gather);
  RankedTensorType result = typeOf(gather.getResult());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getOffsetDims(), dim))
      dims.push_back(dim);
  Value isRead = stablehlo::BroadcastInDimOp::create(builder, result.clone(i1), isHere, dims);
  Value masked = stablehlo::SelectOp::create(builder, result, isRead, gather.getResult(), neutral(builder, result));
  gather.getResult().replaceAllUsesExcept(masked, masked.getDefiningOp());
  return masked;
}
