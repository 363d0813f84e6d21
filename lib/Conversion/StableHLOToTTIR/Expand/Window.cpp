//===- Window.cpp - reductions and windows by slices ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The combination of a region need not have a name in TTIR: halves of a tensor are combined element by element until
// one is left, and the elements of a window are slices of the tensor.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

using Exprs = SmallVector<Expr>;

/// The region of two tuples, element by element.
static Exprs combine(Block &body, ArrayRef<Expr> a, ArrayRef<Expr> b) {
  Exprs arguments(a);
  llvm::append_range(arguments, b);
  return applyRegion(body, arguments);
}

template <class F> static Exprs mapped(ArrayRef<Expr> values, F f) {
  Exprs results;
  for (Expr value : values)
    results.push_back(f(value));
  return results;
}

static Exprs exprsOf(ImplicitLocOpBuilder &builder, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return Expr(builder, value); });
}

static void replaceWith(PatternRewriter &rewriter, Operation *op, ArrayRef<Expr> results) {
  SmallVector<Value> values;
  for (auto [result, type] : llvm::zip_equal(results, op->getResultTypes()))
    values.push_back(result.convert(cast<RankedTensorType>(type).getElementType()).value());
  rewriter.replaceOp(op, values);
}

/// Regions of this op work on the elements directly, without a wider type.
static bool keepsTypes(ValueRange inputs, Block &body) {
  return llvm::all_of(llvm::zip(inputs, body.getArguments()), [](auto pair) {
    return typeOf(std::get<0>(pair)).getElementType() == typeOf(std::get<1>(pair)).getElementType();
  });
}

namespace {
struct ExpandReduce : OpRewritePattern<stablehlo::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    RankedTensorType type = typeOf(op.getInputs().front());
    // A reduction of no elements returns its initial values.
    const bool ofNothing = llvm::any_of(op.getDimensions(), [&](int64_t d) { return type.getDimSize(d) == 0; });
    if (!ofNothing && (isKnownReduction(op) || isArgReduction(op) || !isElementwise(op.getBody()) ||
                       !keepsTypes(op.getInputs(), body)))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<int64_t> order, kept;
    int64_t count = 1;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (!llvm::is_contained(op.getDimensions(), dimension)) {
        order.push_back(dimension);
        kept.push_back(type.getDimSize(dimension));
      }
    for (int64_t dimension : llvm::seq(type.getRank()))
      if (llvm::is_contained(op.getDimensions(), dimension)) {
        order.push_back(dimension);
        count *= type.getDimSize(dimension);
      }
    SmallVector<int64_t> flat(kept);
    flat.push_back(count);
    const int64_t last = static_cast<int64_t>(kept.size());
    Exprs inits = mapped(exprsOf(builder, op.getInitValues()), [&](Expr init) { return init.spread(kept); });
    if (ofNothing) {
      replaceWith(rewriter, op, inits);
      return success();
    }
    Exprs values =
        mapped(exprsOf(builder, op.getInputs()), [&](Expr input) { return input.transpose(order).reshape(flat); });
    // Neighbors stay neighbors: the region need not be commutative.
    while (count > 1) {
      auto half = [&](Expr value, int64_t from) { return value.slice(last, from, count / 2 * 2, 2); };
      Exprs both = combine(body, mapped(values, [&](Expr v) { return half(v, 0); }),
                           mapped(values, [&](Expr v) { return half(v, 1); }));
      if (count % 2)
        for (auto [result, value] : llvm::zip_equal(both, values))
          result = result.concat({value.slice(last, count - 1, count)}, last);
      values = both;
      count = (count + 1) / 2;
    }
    values = combine(body, inits, mapped(values, [&](Expr value) { return value.reshape(kept); }));
    replaceWith(rewriter, op, values);
    return success();
  }
};

SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> attr, size_t count) {
  return attr ? SmallVector<int64_t>(*attr) : SmallVector<int64_t>(count, 1);
}

SmallVector<std::pair<int64_t, int64_t>> paddingOf(std::optional<DenseIntElementsAttr> attr, size_t rank) {
  SmallVector<std::pair<int64_t, int64_t>> padding(rank, {0, 0});
  if (attr) {
    SmallVector<int64_t> numbers(attr->getValues<int64_t>());
    for (size_t i = 0; i < rank; ++i)
      padding[i] = {numbers[2 * i], numbers[2 * i + 1]};
  }
  return padding;
}

struct ExpandReduceWindow : OpRewritePattern<stablehlo::ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    RankedTensorType type = typeOf(op.getInputs().front());
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (typeOf(op->getResult(0)).getNumElements() == 0) {
      SmallVector<Value> none;
      for (Type result : op->getResultTypes())
        none.push_back(stablehlo::ConstantOp::create(
            builder, DenseElementsAttr::get(cast<ShapedType>(result), ArrayRef<Attribute>())));
      rewriter.replaceOp(op, none);
      return success();
    }
    if (isKnownReduction(op) || !isElementwise(op.getBody()) || !keepsTypes(op.getInputs(), body))
      return failure();
    const size_t rank = type.getRank();
    SmallVector<int64_t> strides = orOnes(op.getWindowStrides(), rank), bases = orOnes(op.getBaseDilations(), rank),
                         dilations = orOnes(op.getWindowDilations(), rank), low, high, interior;
    for (auto [before, after] : paddingOf(op.getPadding(), rank)) {
      low.push_back(before);
      high.push_back(after);
    }
    for (int64_t base : bases)
      interior.push_back(base - 1);
    Exprs inits = exprsOf(builder, op.getInitValues()), values;
    for (auto [input, init] : llvm::zip_equal(op.getInputs(), inits))
      values.push_back(Expr(builder, input).pad(init, low, high, interior));
    for (size_t dimension = 0; dimension < rank; ++dimension)
      values = reduceDimension(body, values, static_cast<int64_t>(dimension), op.getWindowDimensions()[dimension],
                               dilations[dimension], strides[dimension]);
    ArrayRef<int64_t> shape = values.front().shape();
    values = combine(body, mapped(inits, [&](Expr init) { return init.spread(shape); }), values);
    replaceWith(rewriter, op, values);
    return success();
  }

private:
  /// Windows of `size` elements, `dilation` apart: windows of 1, 2, 4, ... are combined to that size.
  static Exprs reduceDimension(Block &body, Exprs values, int64_t dimension, int64_t size, int64_t dilation,
                               int64_t stride) {
    const int64_t extent = values.front().size(dimension);
    const int64_t positions = extent - (size - 1) * dilation;
    // `some`: windows of `done` elements that begin at the positions; `powers`: windows of `power` elements, wherever
    // they fit.
    std::optional<Exprs> some;
    Exprs powers = values;
    for (int64_t done = 0, power = 1; power <= size; power *= 2) {
      if (size & power) {
        Exprs next = mapped(
            powers, [&](Expr value) { return value.slice(dimension, done * dilation, done * dilation + positions); });
        some = some ? combine(body, *some, next) : next;
        done += power;
      }
      if (2 * power > size)
        break;
      const int64_t left = powers.front().size(dimension) - power * dilation;
      powers = combine(body, mapped(powers, [&](Expr value) { return value.slice(dimension, 0, left); }),
                       mapped(powers, [&](Expr value) {
                         return value.slice(dimension, power * dilation, power * dilation + left);
                       }));
    }
    return mapped(*some, [&](Expr value) { return value.slice(dimension, 0, positions, stride); });
  }
};

/// The elements of windows are slices of the operand; the selection is computed for all windows at once. The source is
/// added back at the positions of the slices.
struct ExpandSelectAndScatter : OpRewritePattern<stablehlo::SelectAndScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr int64_t maxElements = 1024;

  LogicalResult matchAndRewrite(stablehlo::SelectAndScatterOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getOperand());
    const size_t rank = type.getRank();
    SmallVector<int64_t> window = orOnes(op.getWindowDimensions(), rank), strides = orOnes(op.getWindowStrides(), rank);
    int64_t elements = 1;
    for (int64_t size : window)
      elements *= size;
    if (!isElementwise(op.getSelect()) || !isElementwise(op.getScatter()) || elements > maxElements ||
        typeOf(op.getSource()).getNumElements() == 0)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr operand(builder, op.getOperand()), source(builder, op.getSource()), init(builder, op.getInitValue());
    SmallVector<int64_t> low, high, none(rank, 0), ones(rank, 1);
    for (auto [before, after] : paddingOf(op.getPadding(), rank)) {
      low.push_back(before);
      high.push_back(after);
    }
    Type index = builder.getI32Type();
    Expr zero = operand.number(0).slice(none, ones, ones).reshape({});
    Expr padded = operand.pad(zero, low, high, none);
    // Elements that were added at the edges are never selected.
    const bool hasEdges =
        llvm::any_of(low, [](int64_t n) { return n > 0; }) || llvm::any_of(high, [](int64_t n) { return n > 0; });
    Expr inside = operand.number(0).convert(index);
    inside = inside.number(1).pad(inside.slice(none, ones, ones).reshape({}), low, high, none);
    ArrayRef<int64_t> windows = source.shape();

    auto placed = [&](int64_t number, SmallVector<int64_t> &starts, SmallVector<int64_t> &limits) {
      starts.assign(rank, 0);
      limits.assign(rank, 0);
      for (size_t d = rank; d-- > 0; number /= window[d]) {
        starts[d] = number % window[d];
        limits[d] = starts[d] + (windows[d] - 1) * strides[d] + 1;
      }
    };
    SmallVector<int64_t> starts, limits;
    std::optional<Expr> best, where;
    for (int64_t k = 0; k < elements; ++k) {
      placed(k, starts, limits);
      Expr value = padded.slice(starts, limits, strides);
      Expr isInside = inside.slice(starts, limits, strides) != inside.slice(starts, limits, strides).number(0);
      Expr number = value.convert(index).number(static_cast<double>(k));
      if (!best) {
        best = value;
        where = hasEdges ? isInside.select(number, number.number(-1)) : number;
        continue;
      }
      Expr keep = applyRegion(op.getSelect().front(), {*best, value}).front();
      if (hasEdges) // keep what was found, unless nothing was
        keep = (keep & (*where >= 0)) | ~isInside;
      best = keep.select(*best, value);
      where = keep.select(*where, number);
    }

    // Moves elements back to their origin, in the padded shape.
    Expr result = init.spread(padded.shape());
    const bool adds = isa_and_present<stablehlo::AddOp>(onlyOp(op.getScatter()));
    for (int64_t k = 0; k < elements; ++k) {
      placed(k, starts, limits);
      Expr selected = *where == where->number(static_cast<double>(k));
      SmallVector<int64_t> after, between;
      for (auto [limit, size, stride] : llvm::zip_equal(limits, padded.shape(), strides)) {
        after.push_back(size - limit);
        between.push_back(stride - 1);
      }
      Expr value = selected.select(source, source.number(0)).pad(zero, starts, after, between);
      if (adds) {
        result = applyRegion(op.getScatter().front(), {result, value}).front();
        continue;
      }
      Expr mark = selected.convert(index);
      Expr marks = mark.pad(mark.number(0).slice(none, ones, ones).reshape({}), starts, after, between);
      Expr combined = applyRegion(op.getScatter().front(), {result, value}).front();
      result = (marks != marks.number(0)).select(combined, result);
    }
    for (int64_t &edge : low)
      edge = -edge;
    for (int64_t &edge : high)
      edge = -edge;
    result = result.pad(zero, low, high, none);
    rewriter.replaceOp(op, result.convert(typeOf(op.getResult()).getElementType()).value());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Expands the kinds of padding that ttir.pad lacks: interior padding, cut edges, and a computed value.
struct ExpandPad : OpRewritePattern<stablehlo::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::PadOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr result(builder, op.getOperand()), with(builder, op.getPaddingValue());
    SmallVector<int64_t> low(op.getEdgePaddingLow()), high(op.getEdgePaddingHigh()), interior(op.getInteriorPadding());
    auto isNegative = [](int64_t n) { return n < 0; };
    auto isPositive = [](int64_t n) { return n > 0; };
    const bool isConstant = isPadValue(op.getPaddingValue());
    if (isConstant && llvm::none_of(interior, isPositive) && llvm::none_of(low, isNegative) &&
        llvm::none_of(high, isNegative))
      return failure();
    if (RankedTensorType type = typeOf(op.getResult()); type.getNumElements() == 0) {
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
      return success();
    }
    if (result.type().getNumElements() == 0) {
      rewriter.replaceOp(op, with.spread(typeOf(op.getResult()).getShape()).value());
      return success();
    }
    for (int64_t d = 0; d < result.rank(); ++d) {
      if (interior[d] == 0 || result.size(d) == 1)
        continue;
      // [n] -> [n, 1] -> [n, 1 + interior] -> [n * (1 + interior)], without the elements after the last one
      SmallVector<int64_t> split(result.shape()), between;
      split.insert(split.begin() + d + 1, 1);
      between = split;
      between[d + 1] = interior[d];
      const int64_t size = result.size(d);
      SmallVector<int64_t> merged(result.shape());
      merged[d] = size * (1 + interior[d]);
      result = result.reshape(split).concat({with.spread(between)}, d + 1).reshape(merged);
      result = result.slice(d, 0, merged[d] - interior[d]);
    }
    for (int64_t d = 0; d < result.rank(); ++d) {
      if (low[d] < 0 || high[d] < 0) {
        const int64_t start = std::max<int64_t>(-low[d], 0), limit = result.size(d) - std::max<int64_t>(-high[d], 0);
        if (start >= limit) { // nothing is left but edges
          rewriter.replaceOp(op, with.spread(typeOf(op.getResult()).getShape()).value());
          return success();
        }
        result = result.slice(d, start, limit);
      }
      low[d] = std::max<int64_t>(low[d], 0);
      high[d] = std::max<int64_t>(high[d], 0);
    }
    if (isConstant) {
      SmallVector<int64_t> none(low.size(), 0);
      rewriter.replaceOp(op, result.pad(with, low, high, none).value());
      return success();
    }
    for (int64_t d = 0; d < result.rank(); ++d) {
      auto edge = [&](int64_t size) {
        SmallVector<int64_t> shape(result.shape());
        shape[d] = size;
        return with.spread(shape);
      };
      if (low[d] > 0)
        result = edge(low[d]).concat({result}, d);
      if (high[d] > 0)
        result = result.concat({edge(high[d])}, d);
    }
    rewriter.replaceOp(op, result.value());
    return success();
  }

private:
  /// A constant that the f32 of ttir.pad holds.
  static bool isPadValue(Value value) {
    Attribute constant = splatValue(value);
    if (isa_and_present<FloatAttr>(constant))
      return true;
    auto integer = dyn_cast_if_present<IntegerAttr>(constant);
    return integer && integer.getValue().getSignificantBits() <= 24;
  }
};

struct ExpandMap : OpRewritePattern<stablehlo::MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::MapOp op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op.getComputation()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    replaceWith(rewriter, op, applyRegion(op.getComputation().front(), exprsOf(builder, op.getInputs())));
    return success();
  }
};
} // namespace

void hlo::addWindowExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandMap, ExpandPad, ExpandReduce, ExpandReduceWindow, ExpandSelectAndScatter>(patterns.getContext());
}
