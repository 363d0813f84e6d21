//===- LinearAlgebra.cpp - StableHLO linear algebra and transforms --------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// A batch of square matrices.
static LogicalResult checkSquare(Operation *op, StringRef name, RankedTensorType type) {
  const int64_t rank = type.getRank();
  if (rank < 2)
    return op->emitOpError() << name << " is " << type << "; expected a matrix, or a batch of them";
  const int64_t rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  if (rows != columns && !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(columns))
    return op->emitOpError() << name << " is " << type << "; expected square matrices";
  return success();
}

LogicalResult CholeskyOp::verify() { return checkSquare(*this, "a", cast<RankedTensorType>(getA().getType())); }

LogicalResult TriangularSolveOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  if (failed(checkSquare(*this, "a", a)))
    return failure();
  if (a.getElementType() != b.getElementType() || a.getRank() != b.getRank() ||
      failed(verifyCompatibleShape(a.getShape().drop_back(2), b.getShape().drop_back(2))))
    return emitOpError() << "a is " << a << " and b " << b << "; expected the same elements, rank and batches";
  const int64_t size = a.getDimSize(a.getRank() - 1), other = b.getDimSize(b.getRank() - (getLeftSide() ? 2 : 1));
  if (size != other && !ShapedType::isDynamic(size) && !ShapedType::isDynamic(other))
    return emitOpError() << "a is " << a << " and b " << b << "; expected " << size
                         << (getLeftSide() ? " rows of b" : " columns of b");
  if (getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOpError("transpose_a is TRANSPOSE_INVALID; expected NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  if (!compatibleTypes(getB().getType(), getType()))
    return emitOpError() << "has a result of type " << getType() << "; expected " << b;
  return success();
}

LogicalResult FftOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  ArrayRef<int64_t> length = getFftLength();
  const bool real = getFftType() == FftType::RFFT, inverseReal = getFftType() == FftType::IRFFT;
  if (length.empty() || length.size() > 3 || static_cast<int64_t>(length.size()) > from.getRank())
    return emitOpError() << "has " << length.size() << " lengths; expected 1 to 3, at most the rank of " << from;
  if (isa<ComplexType>(from.getElementType()) == real)
    return emitOpError() << "takes " << from << "; expected " << (real ? "real" : "complex") << " elements for "
                         << stringifyFftType(getFftType());
  SmallVector<int64_t> expected(from.getShape());
  for (auto [index, size] : llvm::enumerate(length)) {
    const size_t dimension = expected.size() - length.size() + index;
    const bool last = index + 1 == length.size();
    const int64_t needed = last && inverseReal ? size / 2 + 1 : size;
    if (size < 0 || (!ShapedType::isDynamic(expected[dimension]) && expected[dimension] != needed &&
                     !(last && inverseReal && size == 0)))
      return emitOpError() << "fft_length[" << index << "] is " << size << ", which needs " << needed
                           << " elements in dimension " << dimension << " of " << from;
    if (last && (real || inverseReal))
      expected[dimension] = real ? size / 2 + 1 : size;
  }
  if (isa<ComplexType>(to.getElementType()) == inverseReal || failed(verifyCompatibleShape(expected, to.getShape())))
    return emitOpError() << "has a result of type " << to << "; expected " << (inverseReal ? "real" : "complex")
                         << " elements in the shape [" << expected << "]";
  return success();
}

/// Letters of a config such as `ab,bc->ac`, one for each dimension.
static LogicalResult checkEinsum(Operation *op, StringRef config) {
  auto [inputs, output] = config.split("->");
  SmallVector<StringRef> parts;
  inputs.split(parts, ',');
  if (!config.contains("->") || parts.size() != op->getNumOperands())
    return op->emitOpError() << "einsum_config is '" << config << "'; expected the letters of " << op->getNumOperands()
                             << " operands, '->' and those of the result";
  auto check = [&](StringRef letters, Type type) -> LogicalResult {
    if (!letters.contains("...") && static_cast<int64_t>(letters.size()) != cast<RankedTensorType>(type).getRank())
      return op->emitOpError() << "einsum_config has '" << letters << "' for " << type
                               << "; expected one letter for each dimension";
    return success();
  };
  Type result = op->getResult(0).getType();
  for (auto [part, type] : llvm::zip_equal(parts, op->getOperandTypes()))
    if (failed(check(part, type)))
      return failure();
  if (failed(check(output, result)) || failed(checkResultKind(op, op->getOperand(0).getType(), result)))
    return failure();
  if (config.contains("..."))
    return success();
  // A letter has one size, and the result has no letters of its own.
  DenseMap<char, int64_t> sizes;
  auto merge = [&](StringRef letters, Type type) -> LogicalResult {
    for (auto [letter, size] : llvm::zip_equal(letters, cast<RankedTensorType>(type).getShape())) {
      auto [known, isNew] = sizes.try_emplace(letter, size);
      if (isNew || ShapedType::isDynamic(size) || known->second == size)
        continue;
      if (!ShapedType::isDynamic(known->second))
        return op->emitOpError() << "einsum_config has '" << StringRef(&letter, 1) << "' for sizes " << known->second
                                 << " and " << size << "; expected one size";
      known->second = size;
    }
    return success();
  };
  for (auto [part, type] : llvm::zip_equal(parts, op->getOperandTypes()))
    if (failed(merge(part, type)))
      return failure();
  for (size_t i = 0; i < output.size(); ++i)
    if (!sizes.contains(output[i]) || output.take_front(i).contains(output[i]))
      return op->emitOpError() << "einsum_config has '" << output.substr(i, 1)
                               << "' in the result; expected letters of operands, each once";
  return merge(output, result);
}

LogicalResult EinsumOp::verify() { return checkEinsum(*this, getEinsumConfig()); }
LogicalResult UnaryEinsumOp::verify() { return checkEinsum(*this, getEinsumConfig()); }

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

LogicalResult RngOp::verify() {
  auto shape = cast<RankedTensorType>(getShape().getType());
  auto result = cast<RankedTensorType>(getType());
  if (!shape.isDynamicDim(0) && shape.getDimSize(0) != result.getRank())
    return emitOpError() << "shape is " << shape << "; expected one size for each of the " << result.getRank()
                         << " dimensions of the result";
  if (getRngDistribution() == RngDistribution::NORMAL && !isa<FloatType>(result.getElementType()))
    return emitOpError() << "has a result of " << result.getElementType() << " elements; expected floats for NORMAL";
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  auto state = cast<RankedTensorType>(getInitialState().getType());
  if (!compatibleTypes(getInitialState().getType(), getOutputState().getType()))
    return emitOpError() << "has the state " << state << " and the output state " << getOutputState().getType()
                         << "; expected the same type";
  auto words = [&](int64_t size) {
    return state.getElementType().isUnsignedInteger(64) && state.getDimSize(0) == size;
  };
  if (state.getRank() != 1)
    return emitOpError() << "initial_state is " << state << "; expected a tensor of rank 1";
  if (getRngAlgorithm() == RngAlgorithm::THREE_FRY && !words(2))
    return emitOpError() << "initial_state is " << state << "; expected tensor<2xui64> for THREE_FRY";
  if (getRngAlgorithm() == RngAlgorithm::PHILOX && !words(2) && !words(3))
    return emitOpError() << "initial_state is " << state << "; expected tensor<2xui64> or tensor<3xui64> for PHILOX";
  return success();
}
