//===- Shape.h - helpers of the shape functions -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_IR_SHAPE_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_IR_SHAPE_H

#include "mlir/IR/TypeUtilities.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

namespace mlir::stablehlo {

/// Shape functions are called with values of any type and attributes of any content: the functions here report errors,
/// with the op's name, and never assert.
using OptionalLoc = std::optional<Location>;
using ResultTypes = SmallVectorImpl<Type>;

/// Equal element types, and sizes that are equal wherever both are known.
bool compatibleTypes(TypeRange inferred, TypeRange declared);
/// Sizes that are equal wherever both are known.
bool compatibleShapes(TypeRange inferred, TypeRange declared);
/// Element types and sizes as for `compatibleTypes`; quantized elements are represented by the stored integers.
bool compatibleConstants(TypeRange inferred, TypeRange declared);

/// Shape functions of the families of elementwise ops. The result has the shape of the operands and their element type,
LogicalResult inferElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types);
/// or the real type of their complex one,
LogicalResult inferRealElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types);
/// or the complex type of their real one,
LogicalResult inferComplexElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types);
/// or the float type that their quantized one represents,
LogicalResult inferExpressedElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types);
/// or i1.
LogicalResult inferPredElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types);

/// The ranked tensor type of operand number `index`.
FailureOr<RankedTensorType> rankedOperand(OptionalLoc loc, StringRef op, ValueRange operands, size_t index);

/// Merges the types of tensors that must agree: a dimension is known if any of them knows it. `first` is the number of
/// `operands[0]`.
FailureOr<RankedTensorType> mergeTypes(OptionalLoc loc, StringRef op, ValueRange operands, size_t first = 0);

/// Dimension numbers of a tensor of `rank`: within its rank, and each at most once.
LogicalResult checkDimensions(OptionalLoc loc, StringRef op, StringRef name, ArrayRef<int64_t> dimensions,
                              int64_t rank);
/// Checks that there is one number for each of `rank` dimensions.
LogicalResult checkLength(OptionalLoc loc, StringRef op, StringRef name, size_t length, int64_t rank);

/// The region of an op that combines elements of `tensors` tensors: it takes two scalars for every tensor (first the
/// old values, then the new ones) and returns one, with the element types of the results.
LogicalResult verifyCombiner(Operation *op, Block &body, size_t tensors);

/// Checks that a result holds numbers of the operand's kind: floating-point, integer or complex. Widths may differ.
/// Quantized elements are not compared.
LogicalResult checkResultKind(Operation *op, Type operand, Type result);

/// A window along one dimension; the defaults are those of absent attributes.
struct Window {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t paddingLow = 0;
  int64_t paddingHigh = 0;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;
};
/// Reads the window attributes of an op, each of which may be absent.
FailureOr<SmallVector<Window>> readWindows(OptionalLoc loc, StringRef op, ArrayRef<int64_t> sizes,
                                           std::optional<ArrayRef<int64_t>> strides,
                                           std::optional<DenseIntElementsAttr> padding,
                                           std::optional<ArrayRef<int64_t>> baseDilations,
                                           std::optional<ArrayRef<int64_t>> windowDilations);
/// Returns the number of positions of the window along a dimension of `size` elements (dynamic: dynamic).
FailureOr<int64_t> countWindows(OptionalLoc loc, StringRef op, size_t dimension, int64_t size, const Window &window);

/// The number of operands that an op's traits require; accessors of an adaptor would otherwise read past the end.
LogicalResult reportOperandCount(Location loc, StringRef op, size_t found, size_t expected, bool atLeast);
template <typename OpT> LogicalResult checkOperandCount(Location loc, size_t found) {
  auto exactly = [&](size_t expected) {
    return found == expected ? success() : reportOperandCount(loc, OpT::getOperationName(), found, expected, false);
  };
  auto atLeast = [&](size_t expected) {
    return found >= expected ? success() : reportOperandCount(loc, OpT::getOperationName(), found, expected, true);
  };
  if constexpr (OpT::template hasTrait<OpTrait::ZeroOperands>())
    return exactly(0);
  else if constexpr (OpT::template hasTrait<OpTrait::OneOperand>())
    return exactly(1);
  else if constexpr (OpT::template hasTrait<OpTrait::NOperands<2>::Impl>())
    return exactly(2);
  else if constexpr (OpT::template hasTrait<OpTrait::NOperands<3>::Impl>())
    return exactly(3);
  else if constexpr (OpT::template hasTrait<OpTrait::NOperands<5>::Impl>())
    return exactly(5);
  else if constexpr (OpT::template hasTrait<OpTrait::AtLeastNOperands<1>::Impl>())
    return atLeast(1);
  else if constexpr (OpT::template hasTrait<OpTrait::AtLeastNOperands<2>::Impl>())
    return atLeast(2);
  else
    static_assert(OpT::template hasTrait<OpTrait::VariadicOperands>(), "an operand count that is not checked");
  return success();
}

} // namespace mlir::stablehlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_IR_SHAPE_H
