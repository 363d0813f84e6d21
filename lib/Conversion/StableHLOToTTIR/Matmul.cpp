//===- Matmul.cpp - lowering of StableHLO products ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// One operand; its dimensions are grouped by their role in the product.
struct Side {
  Side(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting)
      : value(value), type(typeOf(value)), batch(batch), contracting(contracting) {
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (!llvm::is_contained(batch, dimension) && !llvm::is_contained(contracting, dimension))
        free.push_back(dimension);
  }

  int64_t size(ArrayRef<int64_t> dimensions) const {
    int64_t result = 1;
    for (int64_t dimension : dimensions)
      result *= type.getDimSize(dimension);
    return result;
  }

  /// Whether the dimensions are the last ones, in order.
  bool isLast(ArrayRef<int64_t> dimensions) const {
    return !dimensions.empty() &&
           llvm::equal(dimensions, llvm::seq<int64_t>(type.getRank() - dimensions.size(), type.getRank()));
  }

  /// The operand as batches of matrices [batch..., rows, columns]; batch dimensions stay separate, the others are
  /// joined.
  Value matrices(ImplicitLocOpBuilder &builder, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) const {
    SmallVector<int64_t> permutation(batch);
    llvm::append_range(permutation, rows);
    llvm::append_range(permutation, columns);
    return reshape(builder, permute(builder, value, permutation), matrixShape(size(rows), size(columns)));
  }
  SmallVector<int64_t> matrixShape(int64_t rows, int64_t columns) const {
    SmallVector<int64_t> shape;
    for (int64_t dimension : batch)
      shape.push_back(type.getDimSize(dimension));
    shape.append({rows, columns});
    return shape;
  }

  Value value;
  RankedTensorType type;
  SmallVector<int64_t> batch, contracting, free;
};
} // namespace

static LogicalResult lowerProduct(ConversionPatternRewriter &rewriter, Operation *op, const Side &left,
                                  const Side &right) {
  if (failed(checkNarrow(rewriter, op, {left.size(left.free), left.size(left.contracting), right.size(right.free)})))
    return failure();
  ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
  // A transposed operand is a flag of the matmul if its dimensions already have that order.
  bool transposeA = left.isLast(left.free), transposeB = right.isLast(right.contracting);
  Value a = transposeA ? left.matrices(builder, left.contracting, left.free)
                       : left.matrices(builder, left.free, left.contracting);
  Value b = transposeB ? right.matrices(builder, right.free, right.contracting)
                       : right.matrices(builder, right.contracting, right.free);
  RankedTensorType type = typeOf(op->getResult(0));
  SmallVector<int64_t> shape = left.matrixShape(left.size(left.free), right.size(right.free));
  Value matrices = ttir::MatmulOp::create(builder, type.clone(shape), a, b, transposeA, transposeB);
  return replace(rewriter, op, reshape(builder, matrices, type.getShape()));
}

namespace {
struct LowerDotGeneral : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    return lowerProduct(
        rewriter, op, Side(adaptor.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()),
        Side(adaptor.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions()));
  }
};
} // namespace

void hlo::addMatmulPatterns(RewritePatternSet &patterns) { patterns.add<LowerDotGeneral>(patterns.getContext()); }
