//===- Matmul.cpp - lowering of StableHLO products ------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;

namespace {
/// The dimensions of one operand, by what becomes of them.
struct Dimensions {
  SmallVector<int64_t> batch, free, contracting;

  Dimensions(RankedTensorType type, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting)
      : batch(batch), contracting(contracting) {
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (!llvm::is_contained(batch, dimension) && !llvm::is_contained(contracting, dimension))
        free.push_back(dimension);
  }
};
} // namespace

static int64_t product(RankedTensorType type, ArrayRef<int64_t> dimensions) {
  int64_t result = 1;
  for (int64_t dimension : dimensions)
    result *= type.getDimSize(dimension);
  return result;
}

/// The operand as batches of matrices [batch..., rows, columns]; batch dimensions stay apart, the others are joined.
static Value asMatrices(OpLowering &lowering, Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> rows,
                        ArrayRef<int64_t> columns) {
  RankedTensorType type = OpLowering::typeOf(value);
  SmallVector<int64_t> permutation(batch), shape;
  llvm::append_range(permutation, rows);
  llvm::append_range(permutation, columns);
  for (int64_t dimension : batch)
    shape.push_back(type.getDimSize(dimension));
  shape.push_back(product(type, rows));
  shape.push_back(product(type, columns));
  return lowering.reshape(lowering.permute(value, permutation), shape);
}

static LogicalResult lowerProduct(OpLowering &lowering, Value lhs, Value rhs, const Dimensions &left,
                                  const Dimensions &right) {
  RankedTensorType lhsType = OpLowering::typeOf(lhs), rhsType = OpLowering::typeOf(rhs);
  // A transposed operand is a flag of the matmul, if the dimensions are in that order already.
  auto isLast = [](ArrayRef<int64_t> dimensions, RankedTensorType type) {
    return llvm::equal(dimensions, llvm::seq<int64_t>(type.getRank() - dimensions.size(), type.getRank()));
  };
  bool transposeA = !left.free.empty() && isLast(left.free, lhsType);
  bool transposeB = !right.contracting.empty() && isLast(right.contracting, rhsType);
  Value a = transposeA ? asMatrices(lowering, lhs, left.batch, left.contracting, left.free)
                       : asMatrices(lowering, lhs, left.batch, left.free, left.contracting);
  Value b = transposeB ? asMatrices(lowering, rhs, right.batch, right.free, right.contracting)
                       : asMatrices(lowering, rhs, right.batch, right.contracting, right.free);
  RankedTensorType type = lowering.resultType();
  SmallVector<int64_t> shape;
  for (int64_t dimension : left.batch)
    shape.push_back(lhsType.getDimSize(dimension));
  shape.push_back(product(lhsType, left.free));
  shape.push_back(product(rhsType, right.free));
  Value matrices = lowering.make<ttir::MatmulOp>(type.clone(shape), a, b, transposeA, transposeB);
  return lowering.replace(lowering.reshape(matrices, type.getShape()));
}

static LogicalResult lowerDot(OpLowering &lowering, stablehlo::DotOp op) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  return lowerProduct(lowering, op.getLhs(), op.getRhs(), Dimensions(lhs, {}, {lhs.getRank() - 1}),
                      Dimensions(rhs, {}, {0}));
}

static LogicalResult lowerDotGeneral(OpLowering &lowering, stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  return lowerProduct(
      lowering, op.getLhs(), op.getRhs(),
      Dimensions(op.getLhs().getType(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()),
      Dimensions(op.getRhs().getType(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions()));
}

void tt::addMatmulRules(Rules &rules) {
  for (auto &entry : {rule(lowerDot), rule(lowerDotGeneral)})
    rules.insert(entry);
}
