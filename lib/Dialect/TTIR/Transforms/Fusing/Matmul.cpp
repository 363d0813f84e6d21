//===- Matmul.cpp - fusion around matrix products -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DotGeneralOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

//===----------------------------------------------------------------------===//
// Transposed operands
//===----------------------------------------------------------------------===//

static bool swapsLastTwo(TransposeOp op) {
  int64_t rank = tensorType(op.getInput()).getRank();
  auto positive = [&](int64_t dim) { return dim < 0 ? dim + rank : dim; };
  int64_t first = positive(op.getDim0()), second = positive(op.getDim1());
  return std::min(first, second) == rank - 2 && std::max(first, second) == rank - 1;
}

static bool swapsLastTwo(PermuteOp op) { return swapsLastTwo(op.getPermutation()); }

/// The matrices of which `value` is the transpose, or null.
static Value transposed(Value value, const FusionState &state) {
  Value source;
  if (auto transpose = state.passed<TransposeOp>(value); transpose && swapsLastTwo(transpose))
    source = transpose.getInput();
  else if (auto permute = state.passed<PermuteOp>(value);
           permute && state.options.permuteMatmulEnabled && swapsLastTwo(permute))
    source = permute.getInput();
  return source && tensorType(source).getElementType() == tensorType(value).getElementType() ? source : Value();
}

namespace {
/// A flag of the product replaces a transposition before it.
template <class Op> struct FuseTransposes : Fusion<Op> {
  using Fusion<Op>::Fusion;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value a = op.getA(), b = op.getB();
    bool transposeA = op.getTransposeA(), transposeB = op.getTransposeB();
    auto pass = [&](Value &value, bool &flag) {
      while (Value source = transposed(value, this->state)) {
        value = source;
        flag = !flag;
      }
    };
    pass(a, transposeA);
    pass(b, transposeB);
    Value beforeA = op.getA(), beforeB = op.getB();
    if (a == beforeA && b == beforeB)
      return rewriter.notifyMatchFailure(op, "no operand is a transposition");
    rewriter.modifyOpInPlace(op, [&] {
      op.getAMutable().assign(a);
      op.getBMutable().assign(b);
      op.setTransposeA(transposeA);
      op.setTransposeB(transposeB);
    });
    this->state.released(beforeA);
    this->state.released(beforeB);
    return success();
  }
};
} // namespace

namespace {
/// The transpose of a product is the product of the transposes in the other order: (AB)^T = B^T A^T.
template <class Op> struct FuseTransposeOfProduct : Fusion<Op> {
  using Fusion<Op>::Fusion;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto product = this->state.template only<MatmulOp>(op.getInput());
    if (!product || !swapsLastTwo(op) || tensorType(op.getInput()).getElementType() != op.getType().getElementType())
      return rewriter.notifyMatchFailure(op, "does not transpose a product that nothing else uses");
    // One matrix multiplied with a stack of matrices keeps its side: as the left operand it would be read once for
    // each.
    ArrayRef<int64_t> a = tensorType(product.getA()).getShape(), b = tensorType(product.getB()).getShape();
    if (a.size() < 2 || b.size() < 2 || a.drop_back(2) != b.drop_back(2))
      return rewriter.notifyMatchFailure(op, "the operands' batch dimensions differ");
    auto turned = MatmulOp::create(rewriter, op.getLoc(), op.getType(), product.getB(), product.getA(),
                                   !product.getTransposeB(), !product.getTransposeA());
    ttcore::passRequestsOn(product, turned);
    rewriter.replaceOp(op, turned);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

/// Whether an operand of a product is one matrix for each index of leading batch dimensions; `contracted` is then the
/// reduction dimension, counted from the first dimension of the matrices.
static bool areMatrices(ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting, int64_t rank, int64_t &contracted) {
  if (contracting.size() != 1 || rank != static_cast<int64_t>(batch.size()) + 2 ||
      !llvm::equal(batch, llvm::seq<int64_t>(batch.size())))
    return false;
  contracted = contracting[0] - batch.size();
  return true;
}

namespace {
/// A product of matrices, or of rows of any rank with one matrix, is a matmul.
struct FuseDotGeneral : Fusion<DotGeneralOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    int64_t lhsRank = tensorType(op.getLhs()).getRank(), rhsRank = tensorType(op.getRhs()).getRank();
    int64_t fromA = 0, fromB = 0;
    if (!areMatrices(op.getBatchDimsRhs(), op.getContractDimsRhs(), rhsRank, fromB))
      return rewriter.notifyMatchFailure(op, "the right side is no stack of matrices");
    if (!areMatrices(op.getBatchDimsLhs(), op.getContractDimsLhs(), lhsRank, fromA)) {
      ArrayRef<int64_t> contracting = op.getContractDimsLhs();
      if (!op.getBatchDimsLhs().empty() || lhsRank < 2 || contracting.size() != 1 || contracting[0] != lhsRank - 1)
        return rewriter.notifyMatchFailure(op, "the left side is neither matrices nor rows");
      fromA = 1;
    }
    auto product = MatmulOp::create(rewriter, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(),
                                    /*transpose_a=*/fromA == 0, /*transpose_b=*/fromB == 1);
    ttcore::passAnnotationsOn(op, product);
    rewriter.replaceOp(op, product);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

/// The same row added to every row of a result.
static bool isRow(Value value, RankedTensorType result) {
  RankedTensorType type = tensorType(value);
  return type.getRank() >= 1 && type.getRank() <= result.getRank() &&
         type.getShape().back() == result.getShape().back() && !type.getEncoding() &&
         llvm::all_of(type.getShape().drop_back(), [](int64_t size) { return size == 1; });
}

namespace {
struct FuseBias : Fusion<AddOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value product = add->getOperand(i), bias = add->getOperand(1 - i);
      if (!haveSameType(product, add.getResult()) || !isRow(bias, tensorType(product)))
        continue;
      if (auto matmul = state.only<MatmulOp>(product))
        if (succeeded(replace(add, matmul, bias, rewriter)))
          return success();
      if (auto linear = state.only<LinearOp>(product); linear && !linear.getBias())
        if (succeeded(replace(add, linear, bias, rewriter)))
          return success();
    }
    return rewriter.notifyMatchFailure(add, "adds no row to a product that nothing else uses");
  }

private:
  template <class Op> static LogicalResult replace(AddOp add, Op product, Value bias, PatternRewriter &rewriter) {
    if (tensorType(product.getB()).getRank() < 2 || !ttcore::mayJoin(add, product))
      return failure();
    auto linear = LinearOp::create(rewriter, add.getLoc(), add.getType(), product.getA(), product.getB(), bias,
                                   product.getTransposeA(), product.getTransposeB());
    ttcore::passAnnotationsOn(product, linear);
    rewriter.replaceOp(add, linear);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Merged dimensions
//===----------------------------------------------------------------------===//

namespace {
/// reshape(reshape(x) @ w) with one matrix, where the reshapes merge all dimensions but the last and split them again:
/// x @ w.
struct FuseMergedRows : Fusion<ReshapeOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (auto product = state.only<MatmulOp>(op.getInput()))
      return splitRows(op, product, Value(), rewriter);
    if (auto product = state.only<LinearOp>(op.getInput()))
      return splitRows(op, product, product.getBias(), rewriter);
    return rewriter.notifyMatchFailure(op, "splits no rows of a product that nothing else uses");
  }

private:
  template <class Op> LogicalResult splitRows(ReshapeOp op, Op product, Value bias, PatternRewriter &rewriter) const {
    auto merged = state.passed<ReshapeOp>(product.getA());
    RankedTensorType result = op.getType(), matrix = product.getType();
    if (!merged || product.getTransposeA() || matrix.getRank() != 2 || tensorType(merged).getRank() != 2 ||
        tensorType(product.getB()).getRank() != 2 || matrix.getEncoding() || (bias && !isRow(bias, matrix)))
      return rewriter.notifyMatchFailure(op, "is of no product of merged rows with one matrix");
    RankedTensorType rows = tensorType(merged.getInput());
    if (rows.getRank() < 3 || rows.getEncoding() || result.getElementType() != matrix.getElementType() ||
        rows.getElementType() != tensorType(merged).getElementType() ||
        rows.getShape().back() != tensorType(merged).getShape().back() ||
        result.getShape().back() != matrix.getShape().back() ||
        rows.getShape().drop_back() != result.getShape().drop_back())
      return rewriter.notifyMatchFailure(op, "does not restore the dimensions that were merged");
    SmallVector<Value> operands = {merged.getInput(), product.getB()};
    if (bias)
      operands.push_back(bias);
    rewriter.replaceOpWithNewOp<Op>(op, TypeRange(result), ValueRange(operands), llvm::to_vector(product->getAttrs()));
    return success();
  }
};
} // namespace

void ttir::populateMatmulFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseTransposes<MatmulOp>, FuseTransposes<LinearOp>, FuseTransposeOfProduct<TransposeOp>,
               FuseTransposeOfProduct<PermuteOp>, FuseDotGeneral, FuseBias, FuseMergedRows>(patterns.getContext(),
                                                                                            state);
}
