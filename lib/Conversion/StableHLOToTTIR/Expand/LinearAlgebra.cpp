//===- LinearAlgebra.cpp - factorizations, products by letters ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Loops and sums
//===----------------------------------------------------------------------===//

/// The sum over a dimension, which stays with size 1.
static Expr sum(Expr x, int64_t dimension) {
  ImplicitLocOpBuilder &builder = x.build();
  SmallVector<int64_t> kept(x.shape()), shape(x.shape());
  kept.erase(kept.begin() + dimension);
  shape[dimension] = 1;
  auto scalar = RankedTensorType::get({}, x.element());
  Value zero = stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(scalar, builder.getZeroAttr(x.element())));
  auto reduce = stablehlo::ReduceOp::create(builder, TypeRange(x.type().clone(kept)), ValueRange(x.value()),
                                            ValueRange(zero), builder.getDenseI64ArrayAttr({dimension}));
  {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = builder.getLoc();
    Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
    Value added = stablehlo::AddOp::create(builder, body->getArgument(0), body->getArgument(1));
    stablehlo::ReturnOp::create(builder, added);
  }
  return Expr(builder, reduce->getResult(0)).reshape(shape);
}

/// `start`, changed `turns` times by `step(number, value)`.
template <class F> static Expr repeated(Expr start, int64_t turns, F step) {
  ImplicitLocOpBuilder &builder = start.build();
  auto counter = RankedTensorType::get({}, builder.getI32Type());
  Location loc = builder.getLoc();
  Value zero = stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(counter, int32_t(0)));
  SmallVector<Type> types = {counter, start.type()};
  auto loop = stablehlo::WhileOp::create(builder, types, ValueRange{zero, start.value()});
  OpBuilder::InsertionGuard guard(builder);
  Block *cond = builder.createBlock(&loop.getCond(), {}, types, {loc, loc});
  Expr before(builder, cond->getArgument(0));
  stablehlo::ReturnOp::create(builder, (before < static_cast<double>(turns)).value());
  Block *body = builder.createBlock(&loop.getBody(), {}, types, {loc, loc});
  Expr number(builder, body->getArgument(0)), value(builder, body->getArgument(1));
  Expr next = step(number, value);
  stablehlo::ReturnOp::create(builder, ValueRange{(number + 1).value(), next.value()});
  return {builder, loop->getResult(1)};
}

/// The number of each element's row (-2) or column (-1).
static Expr position(Expr x, int64_t fromEnd) {
  ImplicitLocOpBuilder &builder = x.build();
  return Expr::iota(builder, x.type().clone(builder.getI32Type()), x.rank() + fromEnd);
}

static Expr like(Expr x, Expr other) {
  SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq(x.rank()));
  return x.shape() == other.shape() ? x : x.broadcast(other.shape(), dimensions);
}

static Expr transposed(Expr x) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq(x.rank()));
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return x.transpose(order);
}

static Expr reversed(Expr x, ArrayRef<int64_t> dimensions) {
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
    if (!given.isFloat() || given.type().getNumElements() == 0)
      return failure();
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

/// Forward substitution; every other case is turned into it.
struct ExpandTriangularSolve : OpRewritePattern<stablehlo::TriangularSolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TriangularSolveOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given(builder, op.getB());
    if (!given.isFloat() || given.type().getNumElements() == 0)
      return failure();
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
    const int64_t row = a.rank() - 2, column = a.rank() - 1;
    const bool isUpper = !lower;
    if (isUpper) {
      a = reversed(a, {row, column});
      b = reversed(b, {row});
    }
    const bool isUnit = op.getUnitDiagonal();
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
    if (isUpper)
      x = reversed(x, {row});
    if (!op.getLeftSide())
      x = transposed(x);
    rewriter.replaceOp(op, x.convert(given.element()).value());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products by letters
//===----------------------------------------------------------------------===//

/// A tensor and a letter for each of its dimensions.
struct Lettered {
  Expr value;
  std::string letters;

  bool isPlain() const { return llvm::SmallSet<char, 8>(letters.begin(), letters.end()).size() == letters.size(); }
  void sumWithout(StringRef kept) {
    for (size_t i = letters.size(); i-- > 0;)
      if (!kept.contains(letters[i])) {
        SmallVector<int64_t> shape(value.shape());
        shape.erase(shape.begin() + static_cast<ptrdiff_t>(i));
        value = sum(value, static_cast<int64_t>(i)).reshape(shape);
        letters.erase(i, 1);
      }
  }
  void reorder(StringRef to) {
    SmallVector<int64_t> permutation;
    for (char letter : to)
      permutation.push_back(static_cast<int64_t>(letters.find(letter)));
    value = value.transpose(permutation);
    letters = to.str();
  }
};

bool isPermuted(StringRef a, StringRef b) {
  return a.size() == b.size() && llvm::all_of(a, [&](char letter) { return b.contains(letter); });
}

struct ExpandEinsum : OpRewritePattern<stablehlo::EinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::EinsumOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto [inputs, to] = op.getEinsumConfig().split("->");
    auto [left, right] = inputs.split(',');
    Lettered a{{builder, op.getLhs()}, left.str()}, b{{builder, op.getRhs()}, right.str()};
    if (op.getEinsumConfig().contains("...") || !a.isPlain() || !b.isPlain() ||
        llvm::any_of(to, [&](char letter) { return !left.contains(letter) && !right.contains(letter); }))
      return rewriter.notifyMatchFailure(op, "letters repeat, or stand for several dimensions");
    a.sumWithout((right + to).str());
    b.sumWithout((StringRef(a.letters) + to).str());
    SmallVector<int64_t> batchA, batchB, contractA, contractB;
    std::string batch, rest;
    SmallVector<int64_t> shape;
    for (auto [i, letter] : llvm::enumerate(a.letters)) {
      const size_t j = b.letters.find(letter);
      if (j == std::string::npos)
        continue;
      (to.contains(letter) ? batchA : contractA).push_back(static_cast<int64_t>(i));
      (to.contains(letter) ? batchB : contractB).push_back(static_cast<int64_t>(j));
      if (to.contains(letter)) {
        batch += letter;
        shape.push_back(a.value.size(static_cast<int64_t>(i)));
      }
    }
    for (const Lettered *operand : {&a, &b})
      for (auto [i, letter] : llvm::enumerate(operand->letters)) {
        const Lettered &other = operand == &a ? b : a;
        if (other.letters.find(letter) != std::string::npos)
          continue;
        rest += letter;
        shape.push_back(operand->value.size(static_cast<int64_t>(i)));
      }
    if (!isPermuted(batch + rest, to))
      return failure();
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(getContext(), batchA, batchB, contractA, contractB);
    Type element = typeOf(op.getResult()).getElementType();
    Value product =
        stablehlo::DotGeneralOp::create(builder, RankedTensorType::get(shape, element), a.value.value(),
                                        b.value.value(), numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
    Lettered result{{builder, product}, batch + rest};
    result.reorder(to);
    rewriter.replaceOp(op, result.value.value());
    return success();
  }
};

struct ExpandUnaryEinsum : OpRewritePattern<stablehlo::UnaryEinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::UnaryEinsumOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto [from, to] = op.getEinsumConfig().split("->");
    Lettered value{{builder, op.getOperand()}, from.str()};
    if (op.getEinsumConfig().contains("...") || !value.isPlain())
      return rewriter.notifyMatchFailure(op, "letters repeat, or stand for several dimensions");
    if (!llvm::all_of(to, [from = from](char letter) { return from.contains(letter); }))
      return failure();
    value.sumWithout(to);
    if (!isPermuted(value.letters, to))
      return failure();
    value.reorder(to);
    rewriter.replaceOp(op, value.value.value());
    return success();
  }
};

/// Batches of both tensors are batching dimensions of a gather.
struct ExpandTorchIndexSelect : OpRewritePattern<stablehlo::TorchIndexSelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TorchIndexSelectOp op, PatternRewriter &rewriter) const override {
    RankedTensorType operand = typeOf(op.getOperand()), index = typeOf(op.getIndex());
    const auto dim = static_cast<int64_t>(op.getDim()), batch = static_cast<int64_t>(op.getBatchDims());
    SmallVector<int64_t> batches = llvm::to_vector(llvm::seq(batch)), offsets, sizes(operand.getShape());
    for (int64_t d = 0, rank = typeOf(op.getResult()).getRank(); d < rank; ++d) {
      const bool ofIndex = d < batch || (d >= dim && d < dim + index.getRank() - batch);
      if (!ofIndex)
        offsets.push_back(d);
    }
    sizes[dim] = 1;
    for (int64_t d : batches)
      sizes[d] = 1;
    auto numbers = stablehlo::GatherDimensionNumbersAttr::get(getContext(), offsets, {dim}, batches, batches, {dim},
                                                              index.getRank());
    rewriter.replaceOpWithNewOp<stablehlo::GatherOp>(op, op.getType(), op.getOperand(), op.getIndex(), numbers, sizes,
                                                     /*indices_are_sorted=*/false);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// What ttir's convolutions do not do: groups of the batch become groups of features, kernels that are read backwards
/// are turned, and what negative padding cuts off is cut off before.
struct ExpandConvolution : OpRewritePattern<stablehlo::ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp op, PatternRewriter &rewriter) const override {
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    const auto groups = static_cast<int64_t>(op.getBatchGroupCount());
    const bool isReversed = op.getWindowReversal() && llvm::is_contained(*op.getWindowReversal(), true);
    SmallVector<int64_t> padding;
    if (op.getPadding())
      llvm::append_range(padding, op.getPadding()->getValues<int64_t>());
    const bool isCut = llvm::any_of(padding, [](int64_t n) { return n < 0; });
    if (groups == 1 && !isReversed && !isCut)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr input(builder, op.getLhs()), kernel(builder, op.getRhs());
    DenseI64ArrayAttr dilation = op.getLhsDilationAttr();
    DenseIntElementsAttr edges = op.getPadding().value_or(DenseIntElementsAttr());
    if (isReversed) {
      SmallVector<int64_t> turned;
      for (auto [dimension, reversal] : llvm::zip_equal(numbers.getKernelSpatialDimensions(), *op.getWindowReversal()))
        if (reversal)
          turned.push_back(dimension);
      kernel = reversed(kernel, turned);
    }
    if (isCut) {
      SmallVector<int64_t> low(input.rank(), 0), high(low), interior(low), ones;
      for (auto [i, dimension] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
        low[dimension] = std::min<int64_t>(padding[2 * i], 0);
        high[dimension] = std::min<int64_t>(padding[2 * i + 1], 0);
        interior[dimension] = dilation ? dilation[i] - 1 : 0;
        ones.push_back(1);
      }
      Value zero = stablehlo::ConstantOp::create(
          builder, DenseElementsAttr::get(RankedTensorType::get({}, input.element()),
                                          Attribute(builder.getZeroAttr(input.element()))));
      input = input.pad({builder, zero}, low, high, interior);
      dilation = dilation ? builder.getDenseI64ArrayAttr(ones) : dilation;
      for (int64_t &edge : padding)
        edge = std::max<int64_t>(edge, 0);
      edges = DenseIntElementsAttr::get(edges.getType(), padding);
    }
    if (groups != 1) {
      // [batch = groups * n, ..., features] -> [n, ..., groups * features]
      const int64_t batch = numbers.getInputBatchDimension(), feature = numbers.getInputFeatureDimension();
      SmallVector<int64_t> split(input.shape()), order, merged(input.shape());
      split[batch] /= groups;
      merged[batch] /= groups;
      merged[feature] *= groups;
      split.insert(split.begin() + batch, groups);
      for (int64_t d = 0; d < input.rank(); ++d) {
        if (d == feature)
          order.push_back(batch);
        order.push_back(d < batch ? d : d + 1);
      }
      input = input.reshape(split).transpose(order).reshape(merged);
    }
    rewriter.replaceOpWithNewOp<stablehlo::ConvolutionOp>(
        op, op.getType(), input.value(), kernel.value(), op.getWindowStridesAttr(), edges, dilation,
        op.getRhsDilationAttr(), DenseBoolArrayAttr(), numbers,
        builder.getI64IntegerAttr(static_cast<int64_t>(op.getFeatureGroupCount()) * groups),
        builder.getI64IntegerAttr(1), op.getPrecisionConfigAttr());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// Reflections that make a matrix upper triangular (Golub and Van Loan, as above, 5.2.2), stored as LAPACK's geqrf
/// does: the vectors, whose first element is 1, below the diagonal, and their factors.
struct ExpandQr : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    const bool isFactor = op.getCallTargetName() == "Qr" && op.getNumOperands() == 1 && op.getNumResults() == 2;
    const bool isProduct = op.getCallTargetName() == "ProductOfElementaryHouseholderReflectors" &&
                           op.getNumOperands() == 2 && op.getNumResults() == 1;
    if (!isFactor && !isProduct)
      return failure();
    for (Type type : op->getOperandTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.getElementType().isF32() ||
                                                          tensor.getRank() < (isFactor ? 2 : 1) ||
                                                          !tensor.hasStaticShape() || tensor.getNumElements() == 0)
        return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr a(builder, op->getOperand(0));
    if (isFactor) {
      auto [packed, taus] = factor(a);
      rewriter.replaceOp(op, {packed.value(), taus.value()});
    } else {
      rewriter.replaceOp(op, product(a, {builder, op->getOperand(1)}).value());
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
  patterns.add<ExpandConvolution, ExpandQr>(patterns.getContext());
  patterns.add<ExpandCholesky, ExpandEinsum, ExpandTorchIndexSelect, ExpandTriangularSolve, ExpandUnaryEinsum>(
      patterns.getContext());
}
