//===- LinearAlgebra.cpp - factorizations of matrices ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

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
  return over<stablehlo::AddOp>(x, dimension, x.build().getZeroAttr(x.element()));
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
  // Factorizations lose more than rounding where their products do.
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

/// Column by column: what a column explains is taken off the rest (the outer product form of Cholesky's method; G.
/// Golub, C. Van Loan, "Matrix Computations", 4.2.5). Only one triangle is read.
struct ExpandCholesky : OpRewritePattern<stablehlo::CholeskyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CholeskyOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given(builder, op.getA());
    if (!given.isFloat())
      return failure();
    if (given.type().getNumElements() == 0) {
      rewriter.replaceOp(op, op.getA());
      return success();
    }
    Expr a = given.convert(builder.getF32Type());
    if (!op.getLower())
      a = transposed(a);
    const int64_t n = a.size(a.rank() - 1), row = a.rank() - 2, column = a.rank() - 1;
    // The factor's columns stand where those of the matrix were; the rest is what is still to be explained.
    Expr factor = repeated(a, n, [&](Expr j, Expr rest) {
      Expr zero = rest.number(0), rows = position(rest, -2), columns = position(rest, -1);
      Expr at = j.spread(rest.shape());
      Expr isColumn = columns == at;
      Expr whole = sum(isColumn.select(rest, zero), column); // [..., n, 1]
      Expr diagonal = sum(((rows == at) & isColumn).select(rest, zero), column);
      Expr pivot = sum(diagonal, row); // [..., 1, 1]
      Expr root = pivot.apply<stablehlo::SqrtOp>();
      Expr below = position(whole, -2) >= j.spread(whole.shape());
      Expr next = below.select(whole / like(root, whole), whole.number(0));
      Expr outer = like(next, rest) * like(transposed(next), rest);
      // Columns before this one are done.
      Expr isLater = columns > at;
      return isColumn.select(like(next, rest), isLater.select(rest - outer, rest));
    });
    Expr isLower = position(factor, -2) >= position(factor, -1);
    factor = isLower.select(factor, factor.number(0));
    if (!op.getLower())
      factor = transposed(factor);
    rewriter.replaceOp(op, factor.convert(given.element()).value());
    return success();
  }
};

constexpr int64_t mostHalved = 128; // rows, each of which takes two ops

/// The solution of a lower or an upper triangular system: one half of the unknowns, and then the other without what the
/// first one gives.
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

/// Forward substitution; every other case is turned into it. Small systems are solved by halves.
struct ExpandTriangularSolve : OpRewritePattern<stablehlo::TriangularSolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TriangularSolveOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given(builder, op.getB());
    if (!given.isFloat())
      return failure();
    if (given.type().getNumElements() == 0) {
      rewriter.replaceOp(op, op.getB());
      return success();
    }
    Expr a = Expr(builder, op.getA()).convert(builder.getF32Type()), b = given.convert(builder.getF32Type());
    bool lower = op.getLower();
    auto flip = [&] {
      a = transposed(a);
      lower = !lower;
    };
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
    rewriter.replaceOp(op, x.convert(given.element()).value());
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

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

namespace {
/// Reflections that make a matrix upper triangular (Golub and Van Loan, as above, 5.2.2), stored as LAPACK's geqrf
/// does: the vectors, whose first element is 1, below the diagonal, and their factors.
struct ExpandQr : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    const StringRef target = op.getCallTargetName(), routine = lapackFunction(target);
    const bool isFactor = (target == "Qr" || routine == "geqrf") && op.getNumOperands() == 1 && op.getNumResults() == 2;
    const bool isProduct = (target == "ProductOfElementaryHouseholderReflectors" || routine == "orgqr") &&
                           op.getNumOperands() == 2 && op.getNumResults() == 1;
    if (!isFactor && !isProduct)
      return failure();
    for (Type type : op->getOperandTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !isa<FloatType>(tensor.getElementType()) ||
                                                          tensor.getRank() < (isFactor ? 2 : 1) ||
                                                          !tensor.hasStaticShape() || tensor.getNumElements() == 0)
        return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Type element = typeOf(op->getOperand(0)).getElementType(), single = builder.getF32Type();
    Expr a = Expr(builder, op->getOperand(0)).convert(single);
    if (isFactor) {
      auto [packed, taus] = factor(a);
      rewriter.replaceOp(op, {packed.convert(element).value(), taus.convert(element).value()});
    } else {
      Expr taus = Expr(builder, op->getOperand(1)).convert(single);
      rewriter.replaceOp(op, product(a, taus).convert(element).value());
    }
    return success();
  }

private:
  /// The matrix and a row for the factors of the reflections below it are one value, [..., m + 1, n].
  static std::pair<Expr, Expr> factor(Expr a) {
    const int64_t row = a.rank() - 2, column = a.rank() - 1, m = a.size(row), n = a.size(column), k = std::min(m, n);
    SmallVector<int64_t> low(a.rank(), 0), high(low), none(low);
    high[row] = 1;
    SmallVector<int64_t> ones(a.rank(), 1);
    Expr zeroScalar = a.number(0).slice(none, ones, ones).reshape({});
    Expr start = a.pad(zeroScalar, low, high, none);
    Expr result = repeated(start, k, [&](Expr j, Expr all) {
      Expr matrix = all.slice(row, 0, m), zero = matrix.number(0);
      Expr rows = position(matrix, -2), columns = position(matrix, -1), at = j.spread(matrix.shape());
      Expr x = sum((columns == at).select(matrix, zero), column); // [..., m, 1]
      Expr places = position(x, -2), here = j.spread(x.shape());
      Expr first = sum((places == here).select(x, x.number(0)), row); // [..., 1, 1]
      Expr rest = (places > here).select(x, x.number(0));
      Expr squares = sum(rest * rest, row);
      Expr norm = (first * first + squares).apply<stablehlo::SqrtOp>();
      Expr isDone = squares == 0;
      Expr beta = isDone.select(first, (first >= first.number(0)).select(-norm, norm));
      Expr tau = isDone.select(first.number(0), (beta - first) / beta);
      Expr scale = isDone.select(first.number(1), first - beta);
      Expr v = (places == here).select(x.number(1), rest / like(scale, rest));
      Expr products = sum(like(v, matrix) * matrix, row); // [..., 1, n]
      Expr reflected = matrix - like(v, matrix) * like(like(tau, products) * products, matrix);
      // The columns behind this one are reflected; its own holds the vector.
      Expr stored = (rows == at).select(like(beta, matrix), (rows > at).select(like(v, matrix), matrix));
      Expr next = (columns == at).select(stored, (columns > at).select(reflected, matrix));
      Expr taus = all.slice(row, m, m + 1);
      taus = (position(taus, -1) == j.spread(taus.shape())).select(like(tau, taus), taus);
      return next.concat({taus}, row);
    });
    SmallVector<int64_t> shape(a.shape());
    shape.pop_back();
    shape.back() = k;
    return {result.slice(row, 0, m), result.slice(row, m, m + 1).slice(column, 0, k).reshape(shape)};
  }

  /// The first columns of the product of the reflections.
  static Expr product(Expr packed, Expr taus) {
    const int64_t row = packed.rank() - 2, column = packed.rank() - 1, k = taus.size(taus.rank() - 1);
    Expr eye = (position(packed, -2) == position(packed, -1)).select(packed.number(1), packed.number(0));
    SmallVector<int64_t> asRow(taus.shape());
    asRow.insert(asRow.end() - 1, 1);
    Expr factors = taus.reshape(asRow); // [..., 1, k]
    return repeated(eye, k, [&](Expr turn, Expr q) {
      Expr j = static_cast<double>(k - 1) - turn;
      Expr zero = packed.number(0), at = j.spread(packed.shape());
      Expr x = sum((position(packed, -1) == at).select(packed, zero), column);
      Expr places = position(x, -2), here = j.spread(x.shape());
      Expr v = (places == here).select(x.number(1), (places > here).select(x, x.number(0)));
      Expr tau = sum((position(factors, -1) == j.spread(factors.shape())).select(factors, factors.number(0)), column);
      Expr products = sum(like(v, q) * q, row);
      return q - like(v, q) * like(like(tau, products) * products, q);
    });
  }
};
} // namespace

void hlo::addLinearAlgebraExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandQr>(patterns.getContext());
  patterns.add<ExpandCholesky, ExpandTriangularSolve>(patterns.getContext());
}
