//===- Householder.cpp - factorizations by reflections --------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// QR with and without pivots, Hessenberg and tridiagonal forms (G. Golub, C. Van Loan, "Matrix Computations", 5.2,
// 5.4.1, 7.4.2 and 8.3.1), stored as in LAPACK: reflectors, whose first element is 1, below the diagonal or the first
// subdiagonal, and their factors.
//
//===----------------------------------------------------------------------===//

#include "Matrices.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// The reflection I - tau v v*, whose adjoint sets the elements of a column [..., m, 1] after a position to zero.
class Reflector {
public:
  Reflector(Expr x, Expr place) : v(x), tau(x), column(x) {
    const int64_t row = x.rank() - 2;
    Expr rows = position(x, -2), at = place.spread(x.shape());
    Expr first = rowAt(x, place), rest = (rows > at).select(x, x.number(0));
    Expr squares = sum(squaredMagnitude(rest), row), re = realPart(first);
    Expr norm = sqrt(squaredMagnitude(first) + squares);
    Expr isDone = squares == 0;
    if (isComplex(x))
      isDone = isDone & (imaginaryPart(first) == 0);
    Expr beta = isDone.select(re, (re >= re.number(0)).select(-norm, norm));
    Expr after = asElementOf(beta, first);
    tau = isDone.select(first.number(0), divided(after - first, beta));
    Expr scale = isDone.select(first.number(1), first - after);
    v = (rows == at).select(x.number(1), rest / like(scale, rest));
    column = (rows > at).select(v, (rows == at).select(like(after, x), x));
  }

  Expr factor() const { return tau; }
  /// The column after the reflection, with v in place of the zeros.
  Expr stored() const { return column; }

  Expr applied(Expr matrix) const { return fromLeft(matrix, tau); }
  Expr adjointApplied(Expr matrix) const { return fromLeft(matrix, conjugated(tau)); }
  Expr appliedFromRight(Expr matrix) const {
    Expr products = matrixProduct(matrix, v); // [..., m, 1]
    return matrix - like(like(tau, products) * products, matrix) * like(adjoint(v), matrix);
  }

private:
  Expr fromLeft(Expr matrix, Expr factor) const {
    Expr products = matrixProduct(adjoint(v), matrix); // [..., 1, n]
    return matrix - like(v, matrix) * like(like(factor, products) * products, matrix);
  }

  Expr v, tau, column;
};

/// A matrix with reflectors, and their factors as a row.
struct Packed {
  Expr matrix, taus;
};
} // namespace

/// Returns zeros for `count` factors, [..., 1, count].
static Expr noFactors(Expr matrix, int64_t count) {
  SmallVector<int64_t> shape(matrix.shape());
  shape[shape.size() - 2] = 1;
  shape.back() = count;
  ImplicitLocOpBuilder &builder = matrix.build();
  Expr zero(builder, matrix.number(0)
                         .slice(SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape.size(), 1),
                                SmallVector<int64_t>(shape.size(), 1))
                         .value());
  return zero.reshape({}).spread(shape);
}

/// Exchanges a column, whose index is a scalar, with one that each matrix chooses.
static Expr exchanged(Expr x, Expr number, Expr chosen) {
  const int64_t column = x.rank() - 1;
  Expr columns = position(x, -1), isChosen = columns == like(chosen, columns);
  Expr first = columnAt(x, number), second = sum(isChosen.select(x, x.number(0)), column);
  return (columns == number.spread(columns.shape())).select(like(second, x), isChosen.select(like(first, x), x));
}

/// Returns the column with the greatest norm, from an index on, [..., 1, 1]; among the columns that must lead, if there
/// are any.
static Expr choosePivot(Expr a, Expr leads, Expr number) {
  const int64_t row = a.rank() - 2, column = a.rank() - 1;
  Expr rows = position(a, -2), squares = squaredMagnitude(a);
  Expr norms = sum((rows >= number.spread(rows.shape())).select(squares, squares.number(0)), row);
  Expr columns = position(norms, -1), at = number.spread(columns.shape());
  norms = (leads != 0).select(norms.number(std::numeric_limits<double>::infinity()), norms);
  norms = (columns >= at).select(norms, norms.number(-1));
  Expr best = (norms == like(greatest(norms, column), norms)).select(columns, columns.number(columns.size(column)));
  best = least(best, column);
  return (best == best.number(columns.size(column))).select(number.spread(best.shape()), best); // all are NaN
}

/// Returns R, with the reflectors below it. `order`, [..., 1, n], has 1 for columns that must come first, and
/// afterwards states which column, counted from 1, moved to each position.
static Packed factor(Expr a, Expr *order) {
  const int64_t row = a.rank() - 2, column = a.rank() - 1, count = std::min(a.size(row), a.size(column));
  SmallVector<Expr> start = {a, noFactors(a, count)};
  if (order)
    start.append({*order, position(*order, -1) + 1});
  SmallVector<Expr> found = repeated(start, count, [&](Expr j, ArrayRef<Expr> state) {
    SmallVector<Expr> next(state);
    if (order) {
      Expr chosen = choosePivot(state[0], state[2], j);
      for (unsigned index : {0U, 2U, 3U})
        next[index] = exchanged(state[index], j, chosen);
    }
    Expr matrix = next[0], columns = position(matrix, -1);
    Reflector reflector(columnAt(matrix, j), j);
    matrix = (columns > j.spread(columns.shape())).select(reflector.adjointApplied(matrix), matrix);
    next[0] = withPart(matrix, reflector.stored(), column, j);
    next[1] = withPart(state[1], reflector.factor(), column, j);
    return next;
  });
  if (order)
    *order = found[3];
  return {found[0], found[1]};
}

/// Returns the first columns of the product of the reflections.
static Expr product(Packed packed) {
  Expr a = packed.matrix, isDiagonal = position(a, -2) == position(a, -1);
  const int64_t count = packed.taus.size(packed.taus.rank() - 1);
  Expr eye = isDiagonal.select(a.number(1), a.number(0));
  return count == 0 ? eye : repeated(eye, count, [&](Expr turn, Expr q) {
    Expr j = static_cast<double>(count - 1) - turn, x = columnAt(a, j), rows = position(x, -2);
    Expr at = j.spread(x.shape()), tau = columnAt(packed.taus, j);
    Expr v = (rows == at).select(x.number(1), (rows > at).select(x, x.number(0)));
    Expr products = matrixProduct(adjoint(v), q);
    return q - like(v, q) * like(like(tau, products) * products, q);
  });
}

/// Returns a similar matrix whose elements below the first subdiagonal are zero, with the reflectors in their place.
static Packed hessenberg(Expr a) {
  const int64_t column = a.rank() - 1, count = a.size(column) - 1;
  Expr none = noFactors(a, count);
  if (count == 0)
    return {a, none};
  SmallVector<Expr> found = repeated({a, none}, count, [&](Expr k, ArrayRef<Expr> state) {
    Expr matrix = state[0], columns = position(matrix, -1);
    Reflector reflector(columnAt(matrix, k), k + 1);
    Expr reflected = reflector.appliedFromRight(reflector.adjointApplied(matrix));
    matrix = (columns > k.spread(columns.shape())).select(reflected, matrix);
    return SmallVector<Expr>{withPart(matrix, reflector.stored(), column, k),
                             withPart(state[1], reflector.factor(), column, k)};
  });
  return {found[0], found[1]};
}

namespace {
/// The form of a Hermitian matrix: the diagonals, as rows, are real.
struct Tridiagonal {
  Packed packed;
  Expr diagonal, below;
};
} // namespace

static Tridiagonal tridiagonal(Expr a, bool lower) {
  const int64_t row = a.rank() - 2, column = a.rank() - 1;
  if (!lower) { // the rows and columns in reverse order, whose lower triangle is this upper one
    Tridiagonal form = tridiagonal(reversed(a, {row, column}), true);
    return {{reversed(form.packed.matrix, {row, column}), reversed(form.packed.taus, {column})},
            reversed(form.diagonal, {column}),
            reversed(form.below, {column})};
  }
  Packed form = hessenberg(hermitian(a, true));
  Expr rows = position(a, -2), columns = position(a, -1), re = realPart(form.matrix), zero = re.number(0);
  Expr diagonal = sum((rows == columns).select(re, zero), row),
       below = sum((rows == columns + 1).select(re, zero), row);
  return {{(rows >= columns).select(form.matrix, a), form.taus}, diagonal, below.slice(column, 0, a.size(column) - 1)};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns the value with the type of a result.
static Value asResult(Expr x, Value result) {
  RankedTensorType type = typeOf(result);
  return withElements(x, type.getElementType()).reshape(type.getShape()).value();
}

/// Returns a vector of each matrix as a row, [..., 1, n].
static Expr asRow(ImplicitLocOpBuilder &builder, Value vector) {
  SmallVector<int64_t> shape(typeOf(vector).getShape());
  shape.insert(shape.end() - 1, 1);
  return Expr(builder, vector).reshape(shape);
}

/// Returns whether a result is a vector of `size` elements for each matrix.
static bool isVector(Value result, Value matrix, int64_t size) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  return type && !type.getShape().empty() && type.getShape().drop_back() == typeOf(matrix).getShape().drop_back(2) &&
         type.getShape().back() == size;
}

namespace {
struct ExpandReflections : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    using Expansion = LogicalResult (*)(stablehlo::CustomCallOp, PatternRewriter &);
    const StringRef target = op.getCallTargetName();
    const auto expansion =
        llvm::StringSwitch<Expansion>(lapackFunction(target).empty() ? target : lapackFunction(target))
            .Cases({"Qr", "geqrf"}, &expandQr)
            .Case("geqp3", &expandPivotedQr)
            .Cases({"ProductOfElementaryHouseholderReflectors", "orgqr", "ungqr"}, &expandProduct)
            .Case("gehrd", &expandHessenberg)
            .Cases({"sytrd", "hetrd"}, &expandTridiagonal)
            .Default(nullptr);
    return expansion && givesNumbers(op) ? expansion(op, rewriter) : failure();
  }

private:
  /// Whether the first operand is a matrix and the first result its factorization.
  static bool fits(stablehlo::CustomCallOp op, unsigned operands, unsigned results) {
    return op.getNumOperands() == operands && op.getNumResults() == results && isNumeric(op->getOperand(0), 2) &&
           op->getResult(0).getType() == op->getOperand(0).getType();
  }
  static int64_t sizeOf(stablehlo::CustomCallOp op, int64_t fromEnd) {
    ArrayRef<int64_t> shape = typeOf(op->getOperand(0)).getShape();
    return shape[shape.size() - static_cast<size_t>(fromEnd)];
  }
  static int64_t countOf(stablehlo::CustomCallOp op) { return std::min(sizeOf(op, 2), sizeOf(op, 1)); }
  static bool isEmpty(stablehlo::CustomCallOp op) { return typeOf(op->getOperand(0)).getNumElements() == 0; }
  static LogicalResult replaceByZeros(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, llvm::map_to_vector(op->getResults(), [&](Value x) { return zerosLike(builder, x); }));
    return success();
  }
  static Expr matrixOf(ImplicitLocOpBuilder &builder, stablehlo::CustomCallOp op) {
    return inSinglePrecision(Expr(builder, op->getOperand(0)));
  }

  /// (matrix) -> (R with reflectors, factors)
  static LogicalResult expandQr(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    if (!fits(op, 1, 2) || !isVector(op->getResult(1), op->getOperand(0), countOf(op)))
      return rewriter.notifyMatchFailure(op, "expected a matrix, and two results");
    if (isEmpty(op))
      return replaceByZeros(op, rewriter);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Packed packed = factor(matrixOf(builder, op), nullptr);
    rewriter.replaceOp(op, {asResult(packed.matrix, op->getResult(0)), asResult(packed.taus, op->getResult(1))});
    return success();
  }

  /// (matrix, columns that must lead) -> (R with reflectors, the order of columns, factors)
  static LogicalResult expandPivotedQr(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    if (!fits(op, 2, 3) || !isVector(op->getOperand(1), op->getOperand(0), sizeOf(op, 1)) ||
        op->getOperand(1).getType() != op->getResult(1).getType() ||
        !isVector(op->getResult(2), op->getOperand(0), countOf(op)))
      return rewriter.notifyMatchFailure(op, "expected a matrix, a number for each column, and three results");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr leads = asRow(builder, op->getOperand(1));
    if (isEmpty(op)) {
      Value order = asResult(position(leads, -1) + 1, op->getResult(1));
      rewriter.replaceOp(op, {op->getOperand(0), order, zerosLike(builder, op->getResult(2))});
      return success();
    }
    Expr order = (leads != 0).convert(builder.getI32Type());
    Packed packed = factor(matrixOf(builder, op), &order);
    rewriter.replaceOp(op, {asResult(packed.matrix, op->getResult(0)), asResult(order, op->getResult(1)),
                            asResult(packed.taus, op->getResult(2))});
    return success();
  }

  /// (reflectors, factors) -> (orthonormal columns)
  static LogicalResult expandProduct(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    if (!fits(op, 2, 1) || !isNumeric(op->getOperand(1), 1) ||
        typeOf(op->getOperand(1)).getShape().back() > countOf(op) ||
        !isVector(op->getOperand(1), op->getOperand(0), typeOf(op->getOperand(1)).getShape().back()))
      return rewriter.notifyMatchFailure(op, "expected a matrix, factors, and one result");
    if (isEmpty(op))
      return replaceByZeros(op, rewriter);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr taus = inSinglePrecision(asRow(builder, op->getOperand(1)));
    rewriter.replaceOp(op, asResult(product({matrixOf(builder, op), taus}), op->getResult(0)));
    return success();
  }

  /// (matrix) -> (the form with reflectors, factors, 0)
  static LogicalResult expandHessenberg(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const int64_t size = fits(op, 1, 3) ? sizeOf(op, 1) : -1;
    if (size < 0 || sizeOf(op, 2) != size ||
        !isVector(op->getResult(1), op->getOperand(0), std::max<int64_t>(size - 1, 0)))
      return rewriter.notifyMatchFailure(op, "expected a square matrix, and three results");
    auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    auto numberOf = [&](StringRef name) { return config ? config.getAs<IntegerAttr>(name) : IntegerAttr(); };
    IntegerAttr low = numberOf("low"), high = numberOf("high");
    if (!low || low.getValue() != 1 || !high || high.getValue() != size)
      return rewriter.notifyMatchFailure(op, "expected rows from 1 to the last one");
    if (isEmpty(op))
      return replaceByZeros(op, rewriter);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Packed packed = hessenberg(matrixOf(builder, op));
    rewriter.replaceOp(op, {asResult(packed.matrix, op->getResult(0)), asResult(packed.taus, op->getResult(1)),
                            zerosLike(builder, op->getResult(2))});
    return success();
  }

  /// (Hermitian matrix, of which one triangle is read) -> (reflectors, diagonal, subdiagonal, factors, 0)
  static LogicalResult expandTridiagonal(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const char triangle = letterOf(op, "uplo");
    const int64_t size = fits(op, 1, 5) ? sizeOf(op, 1) : -1, edges = std::max<int64_t>(size - 1, 0);
    if (size < 0 || sizeOf(op, 2) != size || (triangle != 'L' && triangle != 'U') ||
        !isVector(op->getResult(1), op->getOperand(0), size) || !isVector(op->getResult(2), op->getOperand(0), edges) ||
        !isVector(op->getResult(3), op->getOperand(0), edges))
      return rewriter.notifyMatchFailure(op, "expected a square matrix, five results and uplo");
    if (isEmpty(op))
      return replaceByZeros(op, rewriter);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Tridiagonal form = tridiagonal(matrixOf(builder, op), triangle == 'L');
    rewriter.replaceOp(op, {asResult(form.packed.matrix, op->getResult(0)), asResult(form.diagonal, op->getResult(1)),
                            asResult(form.below, op->getResult(2)), asResult(form.packed.taus, op->getResult(3)),
                            zerosLike(builder, op->getResult(4))});
    return success();
  }
};
} // namespace

void hlo::addReflectionExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandReflections>(patterns.getContext());
}
