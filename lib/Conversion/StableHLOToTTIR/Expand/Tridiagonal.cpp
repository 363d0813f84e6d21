//===- Tridiagonal.cpp - systems of three diagonals -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Matrices.h"

#include <array>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

/// Returns whether operands are three diagonals with as many elements as the right sides have rows, [..., n, k].
static bool areSystems(stablehlo::CustomCallOp op) {
  if (op.getNumOperands() != 4 || !isNumeric(op->getOperand(3), 2) || typeOf(op->getOperand(3)).getNumElements() == 0)
    return false;
  RankedTensorType sides = typeOf(op->getOperand(3));
  return llvm::all_of(op->getOperands().drop_back(),
                      [&](Value diagonal) { return diagonal.getType() == sides.clone(sides.getShape().drop_back()); });
}

//===----------------------------------------------------------------------===//
// Regular systems
//===----------------------------------------------------------------------===//

/// (below, diagonal, above, right sides) -> (the same, solutions, 0). Uses a QR factorization of the whole matrix,
/// which needs no exchange of rows.
static LogicalResult expandRegular(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
  if (op.getNumResults() != 5 || !areSystems(op))
    return rewriter.notifyMatchFailure(op, "expected three diagonals and right sides with elements, and five results");
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
  Expr b = inSinglePrecision(Expr(builder, op->getOperand(3)));
  const int64_t rank = b.rank(), row = rank - 2, n = b.size(row);
  if (n > (1 << 10))
    return rewriter.notifyMatchFailure(op, "expected at most 1024 equations");
  SmallVector<int64_t> square(b.shape()), upright(b.shape());
  square.back() = n, upright.back() = 1;
  auto words = RankedTensorType::get(square, builder.getI32Type());
  Expr rows = Expr::iota(builder, words, row), columns = Expr::iota(builder, words, row + 1);
  auto diagonal = [&](unsigned index) {
    return inSinglePrecision(Expr(builder, op->getOperand(index)))
        .reshape(upright)
        .broadcast(square, llvm::to_vector(llvm::seq(rank)));
  };
  Expr main = diagonal(1), zero = main.number(0);
  Expr matrix = (columns == rows).select(main, zero);
  matrix = (columns + 1 == rows).select(diagonal(0), (columns == rows + 1).select(diagonal(2), matrix));
  SmallVector<int64_t> count(ArrayRef(square).drop_back());
  Operation *factors =
      createCall(builder, "Qr", {matrix.type(), matrix.type().clone(count)}, ValueRange{matrix.value()});
  Expr q(builder, createCall(builder, "ProductOfElementaryHouseholderReflectors", matrix.type(), factors->getResults())
                      ->getResult(0));
  Value x = stablehlo::TriangularSolveOp::create(
      builder, b.type(), factors->getResult(0), matrixProduct(adjoint(q), b).value(), /*left_side=*/true,
      /*lower=*/false, /*unit_diagonal=*/false, stablehlo::Transpose::NO_TRANSPOSE);
  rewriter.replaceOp(op, {op->getOperand(0), op->getOperand(1), op->getOperand(2),
                          withElements(Expr(builder, x), typeOf(op->getResult(3)).getElementType()).value(),
                          zerosLike(builder, op->getResult(4))});
  return success();
}

//===----------------------------------------------------------------------===//
// Systems that may be singular
//===----------------------------------------------------------------------===//

/// Returns whether a condition holds for any element, as a scalar.
static Expr any(Expr condition) {
  Expr x = condition.convert(condition.build().getF32Type());
  for (int64_t dimension = 0; dimension < x.rank(); ++dimension)
    x = greatest(x, dimension);
  return x.reshape({}) > 0;
}

/// Eliminates the subdiagonal, as LAPACK's `lagtf` does: with pivots, for rows scaled by their size. Returns the three
/// diagonals of the upper factor, [..., n, 1], and the right sides after the same steps.
static std::array<Expr, 4> eliminate(Expr below, Expr main, Expr above, Expr b) {
  const int64_t row = b.rank() - 2, n = b.size(row);
  Expr rows = position(above, -2);
  above = (rows < static_cast<double>(n - 1)).select(above, above.number(0));
  auto first = [&](Expr x) { return x.slice(row, 0, 1); };
  Expr size = magnitude(first(main)) + magnitude(first(above)), zero = main.number(0);
  SmallVector<Expr> state = {first(main), first(above), first(b), size, zero, zero, zero, b.number(0)};
  state = repeated(state, n - 1, [&](Expr number, ArrayRef<Expr> values) {
    Expr i = number + 1, pivot = values[0], next = values[1], right = values[2], size = values[3];
    Expr a = partAt(below, row, i), d = partAt(main, row, i), c = partAt(above, row, i), sides = partAt(b, row, i);
    Expr nextSize = magnitude(a) + magnitude(d) + magnitude(c);
    Expr swaps = (a != 0) & (magnitude(a) * size > magnitude(pivot) * nextSize);
    Expr factor = swaps.select(pivot, a) / swaps.select(a, (pivot == 0).select(pivot.number(1), pivot));
    Expr wide = like(factor, sides), swapsSides = like(swaps, sides);
    std::array<Expr, 4> upper = {swaps.select(a, pivot), swaps.select(d, next), swaps.select(c, c.number(0)),
                                 swapsSides.select(sides, right)};
    Expr rest = swaps.select(next - factor * d, d - factor * next), left = swaps.select(-(factor * c), c);
    SmallVector<Expr> changed = {rest, left, swapsSides.select(right - wide * sides, sides - wide * right),
                                 swaps.select(magnitude(rest) + magnitude(left), nextSize)};
    for (auto [index, part] : llvm::enumerate(upper))
      changed.push_back(withPart(values[4 + index], part, row, number));
    return changed;
  });
  ImplicitLocOpBuilder &builder = b.build();
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Expr last(builder,
            stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(scalar, static_cast<int32_t>(n - 1))));
  return {withPart(state[4], state[0], row, last), state[5], state[6], withPart(state[7], state[2], row, last)};
}

/// Returns a pivot by which right sides [..., 1, k] can be divided without overflow, as LAPACK's `lagts` does, and the
/// quotient.
static Expr dividedByPivot(Expr right, Expr pivot, Expr by) {
  // The chip computes in 32 bits.
  constexpr double small = 0x1p-126;
  Expr largest = greatest(magnitude(right), right.rank() - 1);
  Expr change = by.apply<stablehlo::MaxOp>(by.number(small));
  change = (realPart(pivot) < 0).select(-change, change);
  auto isTooSmall = [&](Expr pivot) {
    Expr size = magnitude(pivot), isTiny = size < small;
    Expr limit = isTiny.select(largest * small, largest);
    Expr bound = isTiny.select(size, size.apply<stablehlo::MinOp>(size.number(1)) / small);
    return (size < 1) & ((size == 0) | (limit > bound));
  };
  pivot = repeatedWhile(
              {pivot, change}, [&](ArrayRef<Expr> values) { return any(isTooSmall(values[0])); },
              [&](ArrayRef<Expr> values) {
                Expr grows = isTooSmall(values[0]);
                return SmallVector<Expr>{grows.select(values[0] + asElementOf(values[1], values[0]), values[0]),
                                         grows.select(values[1] * 2, values[1])};
              })
              .front();
  Expr size = magnitude(pivot), scale = (size < small).select(size.number(1 / small), size.number(1));
  Expr inverse = pivot.number(1) / scaled(pivot, scale);
  return scaled(right, like(scale, right)) * like(inverse, right);
}

/// (below, diagonal, above, right sides) -> (solutions). Tiny pivots are increased to the order of the rounding error.
static LogicalResult expandSingular(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
  if (op.getNumResults() == 1 && op.getNumOperands() == 4 && isNumeric(op->getOperand(3), 2) &&
      typeOf(op->getOperand(3)).getNumElements() == 0) {
    rewriter.replaceOp(op, op->getOperand(3));
    return success();
  }
  if (op.getNumResults() != 1 || !areSystems(op))
    return rewriter.notifyMatchFailure(op, "expected three diagonals and right sides, and one result");
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
  Expr b = inSinglePrecision(Expr(builder, op->getOperand(3)));
  const int64_t row = b.rank() - 2, n = b.size(row);
  SmallVector<int64_t> upright(b.shape());
  upright.back() = 1;
  auto diagonal = [&](unsigned index) {
    return inSinglePrecision(Expr(builder, op->getOperand(index)).reshape(upright));
  };
  auto [pivots, nexts, beyonds, rights] = eliminate(diagonal(0), diagonal(1), diagonal(2), b);
  auto largest = [&](Expr x) { return greatest(magnitude(x), row); };
  Expr by = largest(pivots).apply<stablehlo::MaxOp>(largest(nexts)).apply<stablehlo::MaxOp>(largest(beyonds)) * 0x1p-23;
  Expr none = rights.number(0).slice(row, 0, 1);
  SmallVector<Expr> found = repeated({none, none, rights}, n, [&](Expr turn, ArrayRef<Expr> state) {
    Expr i = static_cast<double>(n - 1) - turn, right = partAt(rights, row, i);
    Expr next = partAt(nexts, row, i), beyond = partAt(beyonds, row, i);
    right = right - like(next, right) * state[0] - like(beyond, right) * state[1];
    Expr solved = dividedByPivot(right, partAt(pivots, row, i), by);
    return SmallVector<Expr>{solved, state[0], withPart(state[2], solved, row, i)};
  });
  rewriter.replaceOp(op, withElements(found[2], typeOf(op->getResult(0)).getElementType()).value());
  return success();
}

namespace {
struct ExpandTridiagonal : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() == "tridiagonal_solve_perturbed_ffi")
      return expandSingular(op, rewriter);
    return lapackFunction(op.getCallTargetName()) == "gtsv" ? expandRegular(op, rewriter) : failure();
  }
};
} // namespace

void hlo::addTridiagonalExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandTridiagonal>(patterns.getContext());
}
