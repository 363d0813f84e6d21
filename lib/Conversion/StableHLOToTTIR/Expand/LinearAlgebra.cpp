//===- LinearAlgebra.cpp - factorizations of matrices ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Matrices.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Loops and sums
//===----------------------------------------------------------------------===//

template <class OpT> static Expr over(Expr x, int64_t dimension, Attribute start) {
  ImplicitLocOpBuilder &builder = x.build();
  SmallVector<int64_t> kept(x.shape()), shape(x.shape());
  kept.erase(kept.begin() + dimension);
  shape[dimension] = 1;
  auto scalar = RankedTensorType::get({}, x.element());
  Value init = stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(scalar, start));
  auto reduce = stablehlo::ReduceOp::create(builder, TypeRange(x.type().clone(kept)), ValueRange(x.value()),
                                            ValueRange(init), builder.getDenseI64ArrayAttr({dimension}));
  {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = builder.getLoc();
    Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
    Value both = OpT::create(builder, scalar, body->getArgument(0), body->getArgument(1));
    stablehlo::ReturnOp::create(builder, both);
  }
  return Expr(builder, reduce->getResult(0)).reshape(shape);
}

Expr hlo::sum(Expr x, int64_t dimension) {
  Builder &builder = x.build();
  if (auto complex = dyn_cast<ComplexType>(x.element())) {
    Attribute zero = builder.getZeroAttr(complex.getElementType());
    return over<stablehlo::AddOp>(x, dimension, builder.getArrayAttr({zero, zero}));
  }
  return over<stablehlo::AddOp>(x, dimension, builder.getZeroAttr(x.element()));
}

Expr hlo::greatest(Expr x, int64_t dimension) {
  const auto &semantics = cast<FloatType>(x.element()).getFloatSemantics();
  return over<stablehlo::MaxOp>(x, dimension, FloatAttr::get(x.element(), APFloat::getInf(semantics, true)));
}

Expr hlo::least(Expr x, int64_t dimension) {
  return over<stablehlo::MinOp>(x, dimension, x.build().getI32IntegerAttr(std::numeric_limits<int32_t>::max()));
}

Expr hlo::matrixProduct(Expr a, Expr b) {
  ImplicitLocOpBuilder &builder = a.build();
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq(a.rank() - 2)), shape(a.shape());
  shape.back() = b.shape().back();
  auto numbers =
      stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), batch, batch, {a.rank() - 1}, {b.rank() - 2});
  // Factorizations lose more than rounding if their products do.
  SmallVector<Attribute> precision(2,
                                   stablehlo::PrecisionAttr::get(builder.getContext(), stablehlo::Precision::HIGHEST));
  return {builder, stablehlo::DotGeneralOp::create(builder, a.type().clone(shape), a.value(), b.value(), numbers,
                                                   builder.getArrayAttr(precision), stablehlo::DotAlgorithmAttr())};
}

Expr hlo::reversed(Expr x, ArrayRef<int64_t> dimensions) {
  ImplicitLocOpBuilder &builder = x.build();
  return {builder, stablehlo::ReverseOp::create(builder, x.type(), x.value(), dimensions)};
}

namespace {
//===----------------------------------------------------------------------===//
// Triangular matrices
//===----------------------------------------------------------------------===//

/// Column by column: the contribution of a column is subtracted from the rest (the outer product form of Cholesky's
/// method; G. Golub, C. Van Loan, "Matrix Computations", 4.2.5). Only one triangle is read.
struct ExpandCholesky : OpRewritePattern<stablehlo::CholeskyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CholeskyOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given(builder, op.getA());
    if (!isNumeric(op.getA(), 2))
      return failure();
    if (given.type().getNumElements() == 0) {
      rewriter.replaceOp(op, op.getA());
      return success();
    }
    Expr a = inSinglePrecision(given);
    if (!op.getLower())
      a = adjoint(a);
    if (isComplex(a)) // the imaginary part of the diagonal is not read
      a = (position(a, -2) == position(a, -1)).select(asElementOf(realPart(a), a), a);
    const int64_t n = a.size(a.rank() - 1), row = a.rank() - 2, column = a.rank() - 1;
    // The factor's columns replace those of the matrix; the rest is the remaining matrix.
    Expr factor = repeated(a, n, [&](Expr j, Expr rest) {
      Expr zero = rest.number(0), rows = position(rest, -2), columns = position(rest, -1);
      Expr at = j.spread(rest.shape());
      Expr isColumn = columns == at;
      Expr whole = sum(isColumn.select(rest, zero), column); // [..., n, 1]
      Expr diagonal = sum(((rows == at) & isColumn).select(rest, zero), column);
      Expr pivot = realPart(sum(diagonal, row)), root = sqrt(pivot); // [..., 1, 1]
      Expr below = position(whole, -2) >= j.spread(whole.shape());
      Expr next = below.select(divided(whole, like(root, whole)), whole.number(0));
      Expr outer = like(next, rest) * like(adjoint(next), rest);
      // Columns before this one are done.
      Expr isLater = columns > at;
      return isColumn.select(like(next, rest), isLater.select(rest - outer, rest));
    });
    Expr isLower = position(factor, -2) >= position(factor, -1);
    factor = isLower.select(factor, factor.number(0));
    if (!op.getLower())
      factor = adjoint(factor);
    rewriter.replaceOp(op, withElements(factor, given.element()).value());
    return success();
  }
};

constexpr int64_t mostHalved = 128; // rows, each of which takes two ops

/// The solution of a lower or an upper triangular system: one half of the unknowns, then the other half after
/// subtracting the contribution of the first.
Expr solveByHalves(Expr a, Expr b, bool lower, bool isUnit) {
  const int64_t row = a.rank() - 2, column = a.rank() - 1, n = a.size(column), half = n / 2;
  if (n == 1)
    return isUnit ? b : b / like(a, b);
  auto part = [&](Expr x, int64_t dimension, bool isFirst) {
    return (isFirst == lower) ? x.slice(dimension, 0, half) : x.slice(dimension, half, n);
  };
  auto solve = [&](bool isFirst, Expr right) {
    return solveByHalves(part(part(a, row, isFirst), column, isFirst), right, lower, isUnit);
  };
  Expr one = solve(true, part(b, row, true));
  Expr factors = part(part(a, row, false), column, true);
  Expr other = solve(false, part(b, row, false) - matrixProduct(factors, one));
  return lower ? one.concat({other}, row) : other.concat({one}, row);
}

/// Forward substitution; every other case is reduced to it. Small systems are solved by halves.
struct ExpandTriangularSolve : OpRewritePattern<stablehlo::TriangularSolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TriangularSolveOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given(builder, op.getB());
    if (!isNumeric(op.getB(), 2))
      return failure();
    if (given.type().getNumElements() == 0) {
      rewriter.replaceOp(op, op.getB());
      return success();
    }
    Expr a = inSinglePrecision(Expr(builder, op.getA())), b = inSinglePrecision(given);
    bool lower = op.getLower();
    auto flip = [&] {
      a = transposed(a);
      lower = !lower;
    };
    if (op.getTransposeA() == stablehlo::Transpose::ADJOINT)
      a = conjugated(a);
    if (op.getTransposeA() != stablehlo::Transpose::NO_TRANSPOSE)
      flip();
    if (!op.getLeftSide()) { // x a = b is a' x' = b'
      flip();
      b = transposed(b);
    }
    const bool isUnit = op.getUnitDiagonal();
    Expr x = a.size(a.rank() - 1) <= mostHalved ? solveByHalves(a, b, lower, isUnit) : substitute(a, b, lower, isUnit);
    if (!op.getLeftSide())
      x = transposed(x);
    rewriter.replaceOp(op, withElements(x, given.element()).value());
    return success();
  }

private:
  static Expr substitute(Expr a, Expr b, bool lower, bool isUnit) {
    const int64_t row = a.rank() - 2, column = a.rank() - 1;
    if (!lower) {
      a = reversed(a, {row, column});
      b = reversed(b, {row});
    }
    Expr x = repeated(b, a.size(column), [&](Expr j, Expr rest) {
      Expr zero = a.number(0), at = j.spread(a.shape());
      Expr isColumn = position(a, -1) == at;
      Expr factors = sum(isColumn.select(a, zero), column); // [..., n, 1]
      Expr rows = position(rest, -2), here = j.spread(rest.shape());
      Expr solved = sum((rows == here).select(rest, rest.number(0)), row); // [..., 1, m]
      if (!isUnit) {
        Expr pivot = sum((position(factors, -2) == j.spread(factors.shape())).select(factors, factors.number(0)), row);
        solved = solved / like(pivot, solved);
      }
      Expr taken = like(factors, rest) * like(solved, rest);
      return (rows == here).select(like(solved, rest), (rows > here).select(rest - taken, rest));
    });
    return lower ? x : reversed(x, {row});
  }
};

} // namespace

void hlo::addLinearAlgebraExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandCholesky, ExpandTriangularSolve>(patterns.getContext());
}
