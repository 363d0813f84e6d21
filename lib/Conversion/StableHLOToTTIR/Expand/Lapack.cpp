//===- Lapack.cpp - functions of LAPACK that JAX calls on the CPU ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// When JAX lowers for the CPU, it writes `lapack_spotrf_ffi` and similar calls where it writes ops for other platforms.
// Calls that reflect columns are in Householder.cpp, and tridiagonal systems in Tridiagonal.cpp.
//
//===----------------------------------------------------------------------===//

#include "Matrices.h"

#include <array>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

StringRef hlo::lapackFunction(StringRef target) {
  if (!target.consume_front("lapack_") || !target.consume_back("_ffi") || target.empty())
    return {};
  return StringRef("sdcz").contains(target.front()) ? target.drop_front() : StringRef();
}

std::string hlo::lapackRefusal(StringRef target) {
  return ("'" + target +
          "' is a function of LAPACK, which JAX calls where it lowers for the CPU; lower the program for the platform "
          "tt")
      .str();
}

namespace {
struct ExpandLapack : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() == "tt.permutation_of_pivots")
      return expandPermutation(op, rewriter);
    StringRef function = lapackFunction(op.getCallTargetName());
    if (!givesNumbers(op))
      return failure();
    if (function == "potrf")
      return expandCholesky(op, rewriter);
    if (function == "getrf")
      return expandLu(op, rewriter);
    if (function == "syevd" || function == "heevd" || op.getCallTargetName() == "Eigh")
      return expandEigenvalues(op, rewriter);
    if (function == "gesdd")
      return expandSingularValues(op, rewriter);
    if (function == "trsm")
      return expandTriangularSolve(op, rewriter);
    return failure();
  }

private:
  static bool areMatrices(stablehlo::CustomCallOp op, unsigned operands, unsigned results) {
    return op.getNumOperands() == operands && op.getNumResults() == results &&
           llvm::all_of(op->getOperands(), [](Value x) { return isNumeric(x, 2); }) && isNumeric(op->getResult(0), 2);
  }
  static bool areFloats(stablehlo::CustomCallOp op, unsigned operands, unsigned results) {
    auto isFloats = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() >= 2 && isa<FloatType>(tensor.getElementType());
    };
    return op.getNumOperands() == operands && op.getNumResults() == results &&
           llvm::all_of(op->getOperandTypes(), isFloats) && isFloats(op->getResult(0).getType());
  }

  /// (matrix) -> (factor, 0 or an error code). A factor that does not exist is NaN.
  static LogicalResult expandCholesky(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const char triangle = letterOf(op, "uplo");
    if (!areMatrices(op, 1, 2) || (triangle != 'L' && triangle != 'U'))
      return rewriter.notifyMatchFailure(op, "expected a matrix, two results and uplo");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op->getResult(0)), info = typeOf(op->getResult(1));
    Expr factor(builder, stablehlo::CholeskyOp::create(builder, type, op->getOperand(0), triangle == 'L'));
    // The first pivot that is not positive makes NaN.
    rewriter.replaceOp(op, {factor.value(), firstOnDiagonal(factor, factor != factor, info)});
    return success();
  }

  /// The index, from 1, of the first row where a condition of [..., m, n] holds on the diagonal; 0 if it holds nowhere.
  static Value firstOnDiagonal(Expr matrix, Expr condition, RankedTensorType type) {
    ImplicitLocOpBuilder &builder = matrix.build();
    if (matrix.type().getNumElements() == 0)
      return stablehlo::ConstantOp::create(builder, cast<ElementsAttr>(builder.getZeroAttr(type)));
    const int64_t row = matrix.rank() - 2, column = matrix.rank() - 1;
    const auto most = static_cast<double>(matrix.size(row));
    Expr rows = position(matrix, -2), isHere = (rows == position(matrix, -1)) & condition;
    Expr first = least(least(isHere.select(rows + 1, rows.number(most + 1)), column), row).reshape(type.getShape());
    return (first > most).select(first.number(0), first).convert(type.getElementType()).value();
  }

  /// (matrix) -> (both factors in one, the exchanged rows, the index of the first pivot that is 0). Rows with the
  /// largest pivot come first (Golub and Van Loan, 3.4.1).
  static LogicalResult expandLu(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    if (!areFloats(op, 1, 3) || typeOf(op->getOperand(0)).getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "expected a matrix with elements, and three results");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr a = Expr(builder, op->getOperand(0)).convert(builder.getF32Type());
    RankedTensorType pivotsType = typeOf(op->getResult(1)), info = typeOf(op->getResult(2));
    const int64_t row = a.rank() - 2, column = a.rank() - 1, m = a.size(row), n = a.size(column);
    auto words = RankedTensorType::get(pivotsType.getShape(), builder.getI32Type());
    Expr none(builder, stablehlo::ConstantOp::create(builder, cast<ElementsAttr>(builder.getZeroAttr(words))));
    SmallVector<Expr> all = repeated({a, none}, std::min(m, n), [&](Expr j, ArrayRef<Expr> state) {
      Expr matrix = state[0], x = partAt(matrix, column, j), others = partAt(matrix, row, j);
      Expr places = position(x, -2), here = j.spread(x.shape()); // [..., m, 1]
      Expr sizes = (places >= here).select(abs(x), x.number(-1));
      Expr best = least((sizes == like(greatest(sizes, row), sizes)).select(places, places.number(m)), row);
      best = (best == best.number(m)).select(j.spread(best.shape()), best); // nothing is the largest of NaN
      Expr isPivot = places == like(best, places), isHere = places == here, isBelow = places > here;
      Expr pivots = sum(like(isPivot, matrix).select(matrix, matrix.number(0)), row); // [..., 1, n]
      auto exchange = [&](Expr of, Expr pivot, Expr other) {
        return like(isHere, of).select(like(pivot, of), like(isPivot, of).select(like(other, of), of));
      };
      Expr pivot = like(partAt(pivots, column, j), x), under = exchange(x, pivot, partAt(others, column, j));
      Expr factors = (pivot == 0).select(under, under / pivot);
      // Finished columns keep the elements that are to be divided by their pivot.
      Expr rest = (position(pivots, -1) > j.spread(pivots.shape())).select(pivots, pivots.number(0));
      Expr swapped = exchange(matrix, pivots, others), left = swapped - like(factors, matrix) * like(rest, matrix);
      SmallVector<int64_t> one(words.getShape());
      one.back() = 1;
      return SmallVector<Expr>{like(isBelow, matrix).select(left, swapped),
                               withPart(state[1], best.reshape(one) + 1, words.getRank() - 1, j)};
    });
    Expr both = all[0], rows = position(both, -2), columns = position(both, -1);
    Expr diagonal = like(sum((rows == columns).select(both, both.number(0)), row), both);
    both = ((rows > columns) & (diagonal != 0)).select(both / diagonal, both);
    rewriter.replaceOp(op,
                       {both.convert(typeOf(op->getResult(0)).getElementType()).value(),
                        all[1].convert(pivotsType.getElementType()).value(), firstOnDiagonal(both, both == 0, info)});
    return success();
  }

  /// (rows that getrf exchanged, [..., k]) -> [..., m, m]: the matrix whose product with both factors is the original
  /// matrix.
  static LogicalResult expandPermutation(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    RankedTensorType from = op.getNumOperands() == 1 ? typeOf(op->getOperand(0)) : RankedTensorType(),
                     type = op.getNumResults() == 1 ? typeOf(op->getResult(0)) : RankedTensorType();
    if (!from || !type || !from.getElementType().isInteger(32) || type.getRank() != from.getRank() + 1 ||
        type.getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "expected exchanged rows in i32 and one result, of one dimension more");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const int64_t last = from.getRank() - 1;
    Expr pivots(builder, op->getOperand(0)), places = Expr::iota(builder, type.clone(from.getElementType()), last + 1);
    Expr start = Expr::iota(builder, from.clone(type.getShape().drop_back()), last);
    Expr order = repeated(start, pivots.size(last), [&](Expr j, Expr rows) {
      auto at = [](Expr of, Expr place) {
        return sum((position(of, -1) == place).select(of, of.number(0)), of.rank() - 1); // [..., 1]
      };
      Expr here = j.spread(rows.shape()), other = like(at(pivots, j.spread(pivots.shape())) - 1, rows);
      Expr numbers = position(rows, -1);
      Expr second = (numbers == other).select(like(at(rows, here), rows), rows);
      return (numbers == here).select(like(at(rows, other), rows), second);
    });
    SmallVector<int64_t> row(order.shape());
    row.insert(row.end() - 1, 1);
    Expr isOne = Expr::iota(builder, places.type(), last) == like(order.reshape(row), places);
    rewriter.replaceOp(op, isOne.convert(type.getElementType()).value());
    return success();
  }

  /// Jacobi's method: row i of the upper half of a matrix is rotated with row i of the lower half, all pairs at once.
  /// Then rows move to the seats of the next round of a tournament, in which every row meets every other one (Brent and
  /// Luk, 1985).
  class Rotation {
  public:
    static constexpr double tiny = 0x1p-25;  // of what it is added to
    static constexpr double mostSweeps = 20; // convergence is quadratic: 6 to 10 suffice

    /// [..., half, 1]: the diagonal elements of each of two rows, and the element of both, which becomes 0 where it
    /// matters.
    Rotation(Expr p, Expr q, Expr both, Expr matters) : row(p.rank() - 2) {
      Expr length = magnitude(both), divisor = matters.select(length, length.number(1));
      Expr ratio = (q - p) / (divisor * 2), one = ratio.number(1);
      Expr tangent = (ratio >= ratio.number(0)).select(one, -one) / (abs(ratio) + sqrt(ratio * ratio + 1));
      tangent = matters.select(tangent, tangent.number(0));
      Expr cosine = (tangent * tangent + 1).apply<stablehlo::RsqrtOp>(), turn = tangent * cosine;
      Expr sine = scaled(both, turn / divisor);
      // The cosine minus 1: the rounding error in a small angle's change is smaller than in the product with a cosine.
      Expr less = -(turn * turn) / (cosine + 1);
      parts = {less.concat({less}, row), (-sine).concat({conjugated(sine)}, row), tangent * length};
    }
    /// Returns the amount by which the first of two diagonal numbers decreases and the second one increases.
    Expr change() const { return parts[2]; }
    Expr turned(Expr rows) const {
      Expr others = lower(rows).concat({upper(rows)}, row);
      return seated(rows + (scaled(rows, like(parts[0], rows)) + like(parts[1], rows) * others));
    }

    static Expr upper(Expr rows) { return rows.slice(rows.rank() - 2, 0, rows.size(rows.rank() - 2) / 2); }
    static Expr lower(Expr rows) {
      const int64_t row = rows.rank() - 2, size = rows.size(row);
      return rows.slice(row, size / 2, size);
    }
    /// The seats of the next round: the first row stays, the others rotate.
    static Expr seated(Expr rows) {
      const int64_t row = rows.rank() - 2, size = rows.size(row), half = size / 2;
      auto part = [&](int64_t from, int64_t to) { return rows.slice(row, from, to); };
      if (half == 1)
        return rows;
      SmallVector<Expr> rest = {part(half, half + 1)};
      if (half > 2)
        rest.push_back(part(1, half - 1));
      rest.append({part(half + 1, size), part(half - 1, half)});
      return part(0, 1).concat(rest, row);
    }

  private:
    int64_t row;
    SmallVector<Expr, 3> parts;
  };

  /// Sweeps of rounds `step(state)`, as many as every pair needs to meet, while an element of `left(state)` is above 0.
  template <class F, class G> static SmallVector<Expr> sweeps(SmallVector<Expr> state, int64_t rounds, F step, G left) {
    const size_t count = state.size();
    auto largest = [&](ArrayRef<Expr> all) {
      Expr x = left(all);
      for (int64_t dimension = 0; dimension < x.rank(); ++dimension)
        x = greatest(x, dimension);
      return x.reshape({});
    };
    state.push_back(largest(state));
    state.push_back(state.back().number(0)); // how many sweeps there were
    state = repeatedWhile(
        state,
        [&](ArrayRef<Expr> all) {
          return (all[count] > all[count].number(0)) & (all[count + 1] < all[count + 1].number(Rotation::mostSweeps));
        },
        [&](ArrayRef<Expr> all) {
          SmallVector<Expr> next =
              repeated(all.take_front(count), rounds, [&](Expr, ArrayRef<Expr> x) { return step(x); });
          next.push_back(largest(next));
          next.push_back(all[count + 1] + 1);
          return next;
        });
    state.truncate(count);
    return state;
  }

  /// The triangle that XLA's call names by the first of its numbers: "lower, sort, iterations, tolerance".
  static char triangleOfEigh(stablehlo::CustomCallOp op) {
    auto config = op->getAttrOfType<StringAttr>("backend_config");
    const StringRef first = config ? config.getValue().split(',').first.trim() : StringRef();
    return first == "1" ? 'L' : first == "0" ? 'U' : 0;
  }

  /// (Hermitian matrix, of which one triangle is read) -> (vectors, values in ascending order, 0, or 1 if one is NaN).
  /// The diagonal is stored separately: it changes by less than a product would round off.
  static LogicalResult expandEigenvalues(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const bool isXla = op.getCallTargetName() == "Eigh";
    const char triangle = isXla ? triangleOfEigh(op) : letterOf(op, "uplo");
    if (!areMatrices(op, 1, isXla ? 2 : 3) || (triangle != 'L' && triangle != 'U'))
      return rewriter.notifyMatchFailure(op, isXla ? "expected a matrix, two results and a backend_config that begins "
                                                     "with 1 (lower triangle) or 0"
                                                   : "expected a matrix, three results and uplo");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (typeOf(op->getOperand(0)).getNumElements() == 0) {
      rewriter.replaceOp(op, llvm::map_to_vector(op->getResults(), [&](Value x) { return zerosLike(builder, x); }));
      return success();
    }
    Expr given = inSinglePrecision(Expr(builder, op->getOperand(0)));
    const int64_t row = given.rank() - 2, column = given.rank() - 1, n = given.size(column);
    if (given.size(row) != n)
      return rewriter.notifyMatchFailure(op, "expected a square matrix");
    Expr matrix = hermitian(given, triangle == 'L');
    // Products of large and small numbers stay in range.
    Expr scale = greatest(greatest(magnitude(matrix), column), row);
    scale = (scale == 0).select(scale.number(1), scale);
    const int64_t half = std::max<int64_t>((n + 1) / 2, 1), size = 2 * half;
    Expr full = padded(divided(matrix, like(scale, matrix)), size, size); // a row of zeros does not turn
    Expr start = realPart(full), isDiagonal = position(full, -2) == position(full, -1);
    Expr eye = isDiagonal.select(start.number(1), start.number(0)), pairs = Rotation::upper(eye).slice(column, 0, half);
    // A mask that is 0, after a round, where rows and columns meet that were paired in it: those of one seat.
    SmallVector<int64_t> line(full.shape());
    line.back() = 1;
    Expr seats = Expr::iota(builder, full.type().clone(line, builder.getI32Type()), row);
    seats = Rotation::seated(seats.apply<stablehlo::RemOp>(seats.number(static_cast<double>(half))));
    Expr others = (like(seats, full) != like(transposed(seats), full)).convert(eye.element());
    auto length = [&](Expr x) { return sqrt(sum(sum(squaredMagnitude(x), column), row)); };
    Expr limit = length(full) * Rotation::tiny;
    SmallVector<Expr> found = sweeps(
        {sum(start * eye, column), isDiagonal.select(full.number(0), full), asElementOf(eye, full)}, size - 1,
        [&](ArrayRef<Expr> state) {
          Expr p = Rotation::upper(state[0]), q = Rotation::lower(state[0]);
          Expr both = sum(scaled(Rotation::upper(state[1]).slice(column, half, size), pairs), column);
          Expr smaller = abs(p).apply<stablehlo::MinOp>(abs(q));
          Rotation rotation(p, q, both, magnitude(both) > smaller * Rotation::tiny); // what rounding hides is zero
          Expr diagonal = (p - rotation.change()).concat({q + rotation.change()}, row);
          Expr outside = scaled(rotation.turned(adjoint(rotation.turned(state[1]))), others);
          return SmallVector<Expr>{Rotation::seated(diagonal), outside, rotation.turned(state[2])};
        },
        [&](ArrayRef<Expr> state) { return length(state[1]) - limit; });
    Expr values = transposed(found[0].slice(row, 0, n)); // [..., 1, n]
    Expr v = adjoint(found[2].slice(row, 0, n).slice(column, 0, n));
    values = values * like(scale, values);
    auto [sorted, order] = ascending(values);
    // One column for each position.
    Expr isHere = (position(v, -2) == like(order, v)).convert(values.element());
    v = isComplex(v) ? complexNumber(matrixProduct(realPart(v), isHere), matrixProduct(imaginaryPart(v), isHere))
                     : matrixProduct(v, isHere);
    RankedTensorType kept = typeOf(op->getResult(1));
    SmallVector<Value> results = {withElements(v, typeOf(op->getResult(0)).getElementType()).value(),
                                  sorted.reshape(kept.getShape()).convert(kept.getElementType()).value()};
    if (!isXla) {
      RankedTensorType info = typeOf(op->getResult(2));
      Expr isBad = greatest((sorted != sorted).convert(sorted.element()), column).reshape(info.getShape());
      results.push_back(isBad.convert(info.getElementType()).value());
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  /// (matrix) -> (itself, values in descending order, left vectors, right ones as rows, 0). One-sided Jacobi: columns
  /// rotate until they are orthogonal (Golub and Van Loan, 8.6.3). The left vectors are those of a QR factorization,
  /// which exist even if a value is 0, and as many as are requested.
  static LogicalResult expandSingularValues(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const char mode = letterOf(op, "mode");
    if (!areFloats(op, 1, 5) || (mode != 'S' && mode != 'A' && mode != 'N') ||
        typeOf(op->getOperand(0)).getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "expected a matrix with elements, five results and mode");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given = Expr(builder, op->getOperand(0)).convert(builder.getF32Type());
    const int64_t row = given.rank() - 2, column = given.rank() - 1;
    const bool isWide = given.size(row) < given.size(column);
    Expr a = isWide ? transposed(given) : given;
    const int64_t m = a.size(row), n = a.size(column);
    Expr scale = greatest(greatest(abs(a), column), row);
    scale = (scale == 0).select(scale.number(1), scale);
    a = a / like(scale, a);
    const int64_t half = std::max<int64_t>((n + 1) / 2, 1), size = 2 * half;
    Expr start = padded(transposed(a), size, m);
    SmallVector<int64_t> square(start.shape());
    square.back() = size;
    Expr eye = Expr::iota(builder, start.type().clone(square, builder.getI32Type()), row);
    eye = (eye == position(eye, -1)).convert(start.element());
    SmallVector<Expr> found = sweeps(
        {start, eye}, size - 1,
        [&](ArrayRef<Expr> state) {
          Expr x = Rotation::upper(state[0]), y = Rotation::lower(state[0]);
          Expr p = sum(x * x, column), q = sum(y * y, column), both = sum(x * y, column);
          Rotation rotation(p, q, both, abs(both) > sqrt(p * q) * Rotation::tiny);
          return SmallVector<Expr>{rotation.turned(state[0]), rotation.turned(state[1])};
        },
        [&](ArrayRef<Expr> state) {
          Expr products = matrixProduct(state[0], transposed(state[0])), lengths = sqrt(sum(products * eye, column));
          Expr limit = like(lengths, products) * like(transposed(lengths), products) * (16 * Rotation::tiny);
          return abs(products) * (eye.number(1) - eye) - limit;
        });
    Expr both = transposed(found[0].slice(row, 0, n));
    both = both.concat({transposed(found[1].slice(row, 0, n).slice(column, 0, n))}, row);
    Expr columns = both.slice(row, 0, m);
    Expr sizes = sqrt(sum(columns * columns, row)); // [..., 1, n]
    auto [sorted, order] = ascending(-sizes);
    Expr places = both.slice(row, m, m + n), isHere = position(places, -2) == like(order, places);
    both = matrixProduct(both, isHere.convert(places.element()));
    RankedTensorType values = typeOf(op->getResult(1));
    Expr ordered = -sorted;
    SmallVector<Value> results = {
        op->getOperand(0),
        (ordered * like(scale, ordered)).reshape(values.getShape()).convert(values.getElementType()).value()};
    auto finish = [&](Expr left, Expr right) {
      for (auto [i, vectors] :
           llvm::enumerate(isWide ? std::array{right, transposed(left)} : std::array{left, transposed(right)}))
        results.push_back(vectors.convert(typeOf(op->getResult(2 + i)).getElementType()).value());
    };
    auto zeros = [&](Value like) -> Value {
      return stablehlo::ConstantOp::create(builder, cast<ElementsAttr>(builder.getZeroAttr(like.getType())));
    };
    if (mode == 'N') {
      results.append({zeros(op->getResult(2)), zeros(op->getResult(3))});
    } else {
      columns = both.slice(row, 0, m);
      SmallVector<int64_t> count(columns.shape());
      count.pop_back();
      count.back() = n;
      Operation *factors =
          createCall(builder, "Qr", {columns.type(), columns.type().clone(count)}, ValueRange{columns.value()});
      Expr packed(builder, factors->getResult(0));
      // The diagonal has the values, some with a sign.
      Expr isDiagonal = position(packed, -2) == position(packed, -1);
      Expr diagonal = sum(isDiagonal.select(packed, packed.number(0)), row);
      const int64_t requested = mode == 'A' ? m : n;
      SmallVector<int64_t> none(packed.rank(), 0), more(none), ones(packed.rank(), 1);
      more.back() = requested - n;
      Expr nothing = packed.number(0).slice(none, ones, ones).reshape({});
      packed = packed.pad(nothing, none, more, none);
      Expr signs = (diagonal < 0).select(diagonal.number(-1), diagonal.number(1));
      signs = signs.pad((nothing + 1), none, more, none);
      Expr left(builder, createCall(builder, "ProductOfElementaryHouseholderReflectors", packed.type(),
                                    {packed.value(), factors->getResult(1)})
                             ->getResult(0));
      finish(left * like(signs, left), both.slice(row, m, m + n));
    }
    results.push_back(zeros(op->getResult(4)));
    rewriter.replaceOp(op, results);
    return success();
  }

  /// (triangle, right sides) -> solutions
  static LogicalResult expandTriangularSolve(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    const char side = letterOf(op, "side"), triangle = letterOf(op, "uplo"), transposes = letterOf(op, "trans_x"),
               diagonal = letterOf(op, "diag");
    if (!areMatrices(op, 2, 1) || !side || !triangle || !transposes || !diagonal)
      return rewriter.notifyMatchFailure(op, "expected two operands, one result, side, uplo, trans_x and diag");
    const auto how = transposes == 'N'   ? stablehlo::Transpose::NO_TRANSPOSE
                     : transposes == 'C' ? stablehlo::Transpose::ADJOINT
                                         : stablehlo::Transpose::TRANSPOSE;
    rewriter.replaceOpWithNewOp<stablehlo::TriangularSolveOp>(op, op->getResultTypes()[0], op->getOperand(0),
                                                              op->getOperand(1), side == 'L', triangle == 'L',
                                                              diagonal == 'U', how);
    return success();
  }
};
} // namespace

void hlo::addLapackExpansions(RewritePatternSet &patterns) { patterns.add<ExpandLapack>(patterns.getContext()); }
