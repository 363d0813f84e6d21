//===- Shape.cpp - helpers of the shape functions -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::stablehlo;

bool stablehlo::agreeingElements(Type a, Type b) {
  if (a == b)
    return true;
  auto first = dyn_cast<quant::QuantizedType>(a), second = dyn_cast<quant::QuantizedType>(b);
  return first && second && first.getStorageType() == second.getStorageType() &&
         first.isSigned() == second.isSigned() && first.getExpressedType() == second.getExpressedType();
}

bool stablehlo::hasQuantizedDimension(RankedTensorType type) {
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  if (!quantized)
    return true;
  const int64_t dimension = quantized.getQuantizedDimension();
  return dimension >= 0 && dimension < type.getRank() &&
         (type.isDynamicDim(dimension) ||
          type.getDimSize(dimension) == static_cast<int64_t>(quantized.getScales().size()));
}

bool stablehlo::compatibleShapes(TypeRange inferred, TypeRange declared) {
  return inferred.size() == declared.size() && succeeded(verifyCompatibleShapes(inferred, declared));
}

bool stablehlo::compatibleTypes(TypeRange inferred, TypeRange declared) {
  return compatibleShapes(inferred, declared) && llvm::all_of(llvm::zip_equal(inferred, declared), [](auto pair) {
           return agreeingElements(getElementTypeOrSelf(std::get<0>(pair)), getElementTypeOrSelf(std::get<1>(pair)));
         });
}

bool stablehlo::compatibleConstants(TypeRange inferred, TypeRange declared) {
  if (compatibleTypes(inferred, declared))
    return true;
  if (!compatibleShapes(inferred, declared))
    return false;
  auto quantized = dyn_cast<quant::QuantizedType>(getElementTypeOrSelf(declared.front()));
  auto stored = dyn_cast<IntegerType>(getElementTypeOrSelf(inferred.front()));
  return quantized && stored && stored.getWidth() == quantized.getStorageTypeIntegralWidth() &&
         stored.isUnsigned() != quantized.isSigned();
}

LogicalResult stablehlo::reportOperandCount(Location loc, StringRef op, size_t found, size_t expected, bool atLeast) {
  return emitError(loc) << op << ": has " << found << " operands; expected " << (atLeast ? "at least " : "")
                        << expected;
}

FailureOr<RankedTensorType> stablehlo::rankedOperand(OptionalLoc loc, StringRef op, ValueRange operands, size_t index) {
  if (index >= operands.size())
    return emitOptionalError(loc, op, ": has ", operands.size(), " operands; expected operand ", index);
  Type type = operands[index].getType();
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    return ranked;
  return emitOptionalError(loc, op, ": operand ", index, " is ", type, "; expected a ranked tensor");
}

FailureOr<RankedTensorType> stablehlo::mergeTypes(OptionalLoc loc, StringRef op, ValueRange operands, size_t first) {
  FailureOr<RankedTensorType> merged = rankedOperand(loc, op, operands, 0);
  if (failed(merged))
    return failure();
  SmallVector<int64_t> shape(merged->getShape());
  for (size_t index = 1; index < operands.size(); ++index) {
    FailureOr<RankedTensorType> type = rankedOperand(loc, op, operands, index);
    if (failed(type))
      return failure();
    if (!agreeingElements(type->getElementType(), merged->getElementType()))
      return emitOptionalError(loc, op, ": operand ", first + index, " is ", *type, "; expected the element type of ",
                               *merged, ", which operand ", first, " has");
    if (failed(verifyCompatibleShape(shape, type->getShape())))
      return emitOptionalError(loc, op, ": operand ", first + index, " is ", *type, "; expected the shape of ", *merged,
                               ", which operand ", first, " has");
    for (auto [size, other] : llvm::zip_equal(shape, type->getShape()))
      if (ShapedType::isDynamic(size))
        size = other;
  }
  return RankedTensorType::get(shape, merged->getElementType(), merged->getEncoding());
}

/// The merged type of the operands, with the element type that `convert` derives from theirs.
static LogicalResult inferConverted(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types,
                                    function_ref<Type(Type)> convert) {
  FailureOr<RankedTensorType> merged = mergeTypes(loc, op, operands);
  if (failed(merged))
    return failure();
  types.push_back(merged->clone(convert(merged->getElementType())));
  return success();
}

LogicalResult stablehlo::inferElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types) {
  return inferConverted(loc, op, operands, types, [](Type element) { return element; });
}

LogicalResult stablehlo::inferRealElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types) {
  return inferConverted(loc, op, operands, types, [](Type element) {
    auto complex = dyn_cast<ComplexType>(element);
    return complex ? complex.getElementType() : element;
  });
}

LogicalResult stablehlo::inferComplexElementwise(OptionalLoc loc, StringRef op, ValueRange operands,
                                                 ResultTypes &types) {
  FailureOr<RankedTensorType> first = rankedOperand(loc, op, operands, 0);
  if (failed(first))
    return failure();
  if (!isa<FloatType>(first->getElementType()))
    return emitOptionalError(loc, op, ": operand 0 is ", *first, "; expected a tensor of floats");
  return inferConverted(loc, op, operands, types, [](Type element) -> Type { return ComplexType::get(element); });
}

LogicalResult stablehlo::inferExpressedElementwise(OptionalLoc loc, StringRef op, ValueRange operands,
                                                   ResultTypes &types) {
  return inferConverted(loc, op, operands, types, [](Type element) {
    auto quantized = dyn_cast<quant::QuantizedType>(element);
    return quantized ? quantized.getExpressedType() : element;
  });
}

LogicalResult stablehlo::inferPredElementwise(OptionalLoc loc, StringRef op, ValueRange operands, ResultTypes &types) {
  return inferConverted(loc, op, operands, types,
                        [](Type element) -> Type { return IntegerType::get(element.getContext(), 1); });
}

LogicalResult stablehlo::checkDimensions(OptionalLoc loc, StringRef op, StringRef name, ArrayRef<int64_t> dimensions,
                                         int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank)
      return emitOptionalError(loc, op, ": ", name, " names dimension ", dimension, " of a tensor of rank ", rank);
    if (seen.test(dimension))
      return emitOptionalError(loc, op, ": ", name, " names dimension ", dimension, " twice");
    seen.set(dimension);
  }
  return success();
}

LogicalResult stablehlo::checkResultKind(Operation *op, Type operand, Type result) {
  auto kindOf = [](Type type) -> StringRef {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element)     ? "floating-point numbers"
           : isa<IntegerType>(element) ? "integers"
           : isa<ComplexType>(element) ? "complex numbers"
                                       : "";
  };
  const StringRef expected = kindOf(operand), found = kindOf(result);
  if (expected == found || expected.empty() || found.empty())
    return success();
  return op->emitOpError() << "has a result of type " << result << "; expected " << expected << ", as in the operand "
                           << operand;
}

LogicalResult stablehlo::checkLength(OptionalLoc loc, StringRef op, StringRef name, size_t length, int64_t rank) {
  if (length == static_cast<size_t>(rank))
    return success();
  return emitOptionalError(loc, op, ": ", name, " has ", length, " values; expected one for each of ", rank,
                           " dimensions");
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Window>> stablehlo::readWindows(OptionalLoc loc, StringRef op, ArrayRef<int64_t> sizes,
                                                      std::optional<ArrayRef<int64_t>> strides,
                                                      std::optional<DenseIntElementsAttr> padding,
                                                      std::optional<ArrayRef<int64_t>> baseDilations,
                                                      std::optional<ArrayRef<int64_t>> windowDilations) {
  int64_t rank = sizes.size();
  SmallVector<Window> windows(rank);
  auto read = [&](StringRef name, std::optional<ArrayRef<int64_t>> values, int64_t Window::*field) -> LogicalResult {
    if (!values)
      return success();
    if (failed(checkLength(loc, op, name, values->size(), rank)))
      return failure();
    for (auto [window, value] : llvm::zip_equal(windows, *values)) {
      // The size of a window comes from a tensor and may be unknown.
      if (value <= 0 && !(field == &Window::size && ShapedType::isDynamic(value)))
        return emitOptionalError(loc, op, ": ", name, " contains ", value, "; expected positive numbers");
      window.*field = value;
    }
    return success();
  };
  if (failed(read("window size", sizes, &Window::size)) || failed(read("window strides", strides, &Window::stride)) ||
      failed(read("base dilation", baseDilations, &Window::baseDilation)) ||
      failed(read("window dilation", windowDilations, &Window::windowDilation)))
    return failure();
  if (padding) {
    if (padding->getType().getShape() != ArrayRef<int64_t>{rank, 2})
      return emitOptionalError(loc, op, ": padding is ", padding->getType(), "; expected a low and a high value for ",
                               rank, " dimensions");
    SmallVector<int64_t> values(padding->getValues<int64_t>());
    for (auto [index, window] : llvm::enumerate(windows)) {
      window.paddingLow = values[2 * index];
      window.paddingHigh = values[2 * index + 1];
    }
  }
  return windows;
}

FailureOr<int64_t> stablehlo::countWindows(OptionalLoc loc, StringRef op, size_t dimension, int64_t size,
                                           const Window &window) {
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  auto dilated = [](int64_t count, int64_t dilation) -> std::optional<int64_t> {
    return count == 0 ? std::optional<int64_t>(0) : llvm::checkedMulAdd<int64_t>(count - 1, dilation, 1);
  };
  std::optional<int64_t> extent = dilated(window.size, window.windowDilation);
  std::optional<int64_t> base = dilated(size, window.baseDilation);
  std::optional<int64_t> padded = base ? llvm::checkedAdd(*base, window.paddingLow) : std::nullopt;
  padded = padded ? llvm::checkedAdd(*padded, window.paddingHigh) : std::nullopt;
  if (!extent || !padded)
    return emitOptionalError(loc, op, ": the padded size of dimension ", dimension, " overflows");
  if (*padded < 0)
    return emitOptionalError(loc, op, ": padding ", window.paddingLow, " and ", window.paddingHigh,
                             " removes more than the ", size, " elements of dimension ", dimension);
  return *padded == 0 || *extent > *padded ? 0 : (*padded - *extent) / window.stride + 1;
}
