//===- Convolution.cpp - forms of convolutions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// TTIR convolves over one to three dimensions, with strides or, as a transposed convolution over two or three, with a
// dilated input. Other forms are converted to these.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

using Sizes = SmallVector<int64_t>;

namespace {
/// The positions of the dimensions of an operand or a result. first, second: batch and feature; for kernels, output and
/// input feature.
struct Places {
  int64_t first, second;
  Sizes spatial;

  /// Inserts a new dimension at `at`, which becomes the first spatial one.
  void insertSpatial(int64_t at) {
    forEach([&](int64_t &place) { place += place >= at; });
    spatial.insert(spatial.begin(), at);
  }
  /// Removes the first spatial dimension.
  void eraseSpatial() {
    const int64_t gone = spatial.front();
    spatial.erase(spatial.begin());
    forEach([&](int64_t &place) { place -= place > gone; });
  }
  /// The position of a new dimension: before the spatial ones, or after all.
  int64_t placeOfSpatial() const { return spatial.empty() ? 2 : spatial.front(); }

private:
  template <class F> void forEach(F f) {
    f(first);
    f(second);
    for (int64_t &place : spatial)
      f(place);
  }
};

Sizes orOnes(std::optional<ArrayRef<int64_t>> attr, size_t count) { return attr ? Sizes(*attr) : Sizes(count, 1); }

bool isAbove(int64_t size) { return size > 1; }

/// A convolution to modify and create again.
struct Form {
  Expr input, kernel;
  RankedTensorType type;
  Places of, ofKernel, ofResult;
  size_t rank;
  Sizes stride, spread, dilation, low, high;
  int64_t groups, batchGroups;
  ArrayAttr precision;
  SmallVector<bool> reversal;

  Form(ImplicitLocOpBuilder &builder, stablehlo::ConvolutionOp op)
      : input(builder, op.getLhs()), kernel(builder, op.getRhs()), type(typeOf(op.getResult())),
        rank(op.getDimensionNumbers().getInputSpatialDimensions().size()), stride(orOnes(op.getWindowStrides(), rank)),
        spread(orOnes(op.getLhsDilation(), rank)), dilation(orOnes(op.getRhsDilation(), rank)), low(rank, 0),
        high(rank, 0), groups(static_cast<int64_t>(op.getFeatureGroupCount())),
        batchGroups(static_cast<int64_t>(op.getBatchGroupCount())), precision(op.getPrecisionConfigAttr()),
        reversal(rank, false) {
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    of = {numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
          Sizes(numbers.getInputSpatialDimensions())};
    ofKernel = {numbers.getKernelOutputFeatureDimension(), numbers.getKernelInputFeatureDimension(),
                Sizes(numbers.getKernelSpatialDimensions())};
    ofResult = {numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                Sizes(numbers.getOutputSpatialDimensions())};
    if (op.getPadding()) {
      Sizes padding(op.getPadding()->getValues<int64_t>());
      for (size_t d = 0; d < rank; ++d) {
        low[d] = padding[2 * d];
        high[d] = padding[2 * d + 1];
      }
    }
    if (op.getWindowReversal())
      llvm::copy(*op.getWindowReversal(), reversal.begin());
  }

  int64_t size(size_t d) const { return input.size(of.spatial[d]); }
  int64_t window(size_t d) const { return kernel.size(ofKernel.spatial[d]); }
  int64_t positions(size_t d) const { return type.getDimSize(ofResult.spatial[d]); }
  /// The span of a dilated window in elements, minus one.
  int64_t reach(size_t d) const { return dilation[d] * (window(d) - 1); }
  int64_t spreadSize(size_t d) const { return spread[d] * (size(d) - 1) + 1; }

  Expr zero(Type element) const {
    ImplicitLocOpBuilder &builder = input.build();
    return {builder,
            stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(RankedTensorType::get({}, element),
                                                                          Attribute(builder.getZeroAttr(element))))};
  }

  Expr make() const {
    ImplicitLocOpBuilder &builder = input.build();
    Sizes padding;
    for (size_t d = 0; d < rank; ++d)
      padding.append({low[d], high[d]});
    auto numbers = stablehlo::ConvDimensionNumbersAttr::get(builder.getContext(), of.first, of.second, of.spatial,
                                                            ofKernel.second, ofKernel.first, ofKernel.spatial,
                                                            ofResult.first, ofResult.second, ofResult.spatial);
    auto paddingType = RankedTensorType::get({static_cast<int64_t>(rank), 2}, builder.getI64Type());
    auto made = stablehlo::ConvolutionOp::create(
        builder, type, input.value(), kernel.value(), builder.getDenseI64ArrayAttr(stride),
        DenseIntElementsAttr::get(paddingType, ArrayRef<int64_t>(padding)), builder.getDenseI64ArrayAttr(spread),
        builder.getDenseI64ArrayAttr(dilation),
        llvm::is_contained(reversal, true) ? builder.getDenseBoolArrayAttr(reversal) : DenseBoolArrayAttr(), numbers,
        builder.getI64IntegerAttr(groups), builder.getI64IntegerAttr(batchGroups), precision);
    return {builder, made.getResult()};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Kernels that are read backwards are turned.
static bool turnKernel(Form &form) {
  Sizes turned;
  for (size_t d = 0; d < form.rank; ++d)
    if (form.reversal[d] && form.window(d) > 1)
      turned.push_back(form.ofKernel.spatial[d]);
  const bool any = llvm::is_contained(form.reversal, true);
  if (!turned.empty())
    form.kernel = reversed(form.kernel, turned);
  form.reversal.assign(form.rank, false);
  return any;
}

/// Steps that are never taken become 1: those between elements of which there is only one.
static bool dropSteps(Form &form) {
  bool any = false;
  auto drop = [&](int64_t &step, int64_t count) {
    if (count != 1 || step == 1)
      return false;
    step = 1;
    return any = true;
  };
  for (size_t d = 0; d < form.rank; ++d) {
    drop(form.spread[d], form.size(d));
    drop(form.dilation[d], form.window(d));
  }
  // Strides matter only under a dilated input. They skip other positions for which there is room.
  if (llvm::any_of(form.spread, isAbove))
    for (size_t d = 0; d < form.rank; ++d)
      if (drop(form.stride[d], form.positions(d)))
        form.high[d] = form.reach(d) + 1 - form.low[d] - form.spreadSize(d);
  return any;
}

/// First cuts negative padding off the input: whole elements, of which a dilated input leaves some zeros.
static bool cutPadding(Form &form) {
  const Sizes shape(form.input.shape());
  Sizes starts(shape.size(), 0), limits(shape), ones(shape.size(), 1);
  bool any = false;
  for (size_t d = 0; d < form.rank; ++d) {
    auto cut = [&](int64_t &edge) -> int64_t {
      if (edge >= 0)
        return 0;
      any = true;
      const int64_t elements = (-edge + form.spread[d] - 1) / form.spread[d];
      edge += elements * form.spread[d];
      return elements;
    };
    const int64_t at = form.of.spatial[d], before = cut(form.low[d]), after = cut(form.high[d]);
    starts[at] = std::min(before, shape[at]);
    limits[at] = std::max(shape[at] - after, starts[at]);
  }
  if (any)
    form.input = form.input.slice(starts, limits, ones);
  return any;
}

/// Groups of the batch become groups of features: [batch = groups * n, ..., features] -> [n, ..., groups * features]
static bool moveBatchGroups(Form &form) {
  const int64_t groups = form.batchGroups, batch = form.of.first, feature = form.of.second;
  if (groups == 1)
    return false;
  Sizes split(form.input.shape()), order, merged(form.input.shape());
  split[batch] /= groups;
  merged[batch] /= groups;
  merged[feature] *= groups;
  split.insert(split.begin() + batch, groups);
  for (int64_t d = 0; d < form.input.rank(); ++d) {
    if (d == feature)
      order.push_back(batch);
    order.push_back(d < batch ? d : d + 1);
  }
  form.input = form.input.reshape(split).transpose(order).reshape(merged);
  form.groups *= groups;
  form.batchGroups = 1;
  return true;
}

//===----------------------------------------------------------------------===//
// Dilated inputs
//===----------------------------------------------------------------------===//

/// An input that is dilated under a strided window has its zeros in memory.
static bool fillSpread(Form &form) {
  if (llvm::none_of(form.spread, isAbove) || llvm::none_of(form.stride, isAbove))
    return false;
  Sizes none(form.input.rank(), 0), between(none);
  for (size_t d = 0; d < form.rank; ++d)
    between[form.of.spatial[d]] = form.spread[d] - 1;
  form.input = form.input.pad(form.zero(form.input.element()), none, none, between);
  form.spread.assign(form.rank, 1);
  return true;
}

/// Where the windows of a dilated input begin further before it than they reach, the results are zeros.
static std::optional<Expr> zerosBefore(Form &form) {
  if (llvm::none_of(form.spread, isAbove))
    return std::nullopt;
  Sizes before(form.type.getRank(), 0), none(before), shape(form.type.getShape());
  bool any = false;
  for (size_t d = 0; d < form.rank; ++d)
    if (const int64_t more = form.low[d] - form.reach(d); more > 0) {
      const int64_t at = form.ofResult.spatial[d];
      before[at] = std::min(more, shape[at]);
      shape[at] -= before[at];
      form.low[d] -= more;
      any = true;
    }
  if (!any)
    return std::nullopt;
  Expr zero = form.zero(form.type.getElementType());
  if (llvm::is_contained(shape, 0))
    return zero.spread(form.type.getShape());
  form.type = form.type.clone(shape);
  return form.make().pad(zero, before, none, none);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// One more dimension of size 1, if there is none, or if a sequence is dilated.
static std::optional<Expr> withSpatial(Form &form) {
  if (form.rank > 1 || (form.rank == 1 && llvm::none_of(form.spread, isAbove)))
    return std::nullopt;
  const Sizes shape(form.type.getShape());
  auto insert = [](Places &places, ArrayRef<int64_t> from) {
    Sizes to(from);
    const int64_t at = places.placeOfSpatial();
    to.insert(to.begin() + at, 1);
    places.insertSpatial(at);
    return to;
  };
  form.input = form.input.reshape(insert(form.of, form.input.shape()));
  form.kernel = form.kernel.reshape(insert(form.ofKernel, form.kernel.shape()));
  form.type = form.type.clone(insert(form.ofResult, shape));
  ++form.rank;
  for (Sizes *steps : {&form.stride, &form.spread, &form.dilation})
    steps->insert(steps->begin(), 1);
  for (Sizes *edges : {&form.low, &form.high})
    edges->insert(edges->begin(), 0);
  form.reversal.insert(form.reversal.begin(), false);
  return form.make().reshape(shape);
}

/// Unrolls the first of more than three dimensions: for each position of the window, a convolution over the other
/// dimensions of the slices that it meets, which are images of the batch.
static std::optional<Expr> writtenOut(Form &form) {
  if (form.rank <= 3)
    return std::nullopt;
  const int64_t at = form.of.spatial.front(), kernelAt = form.ofKernel.spatial.front(), positions = form.positions(0),
                window = form.window(0), step = form.stride[0], gap = form.dilation[0];
  Sizes before(form.input.rank(), 0), after(before), between(before);
  before[at] = form.low[0];
  after[at] = form.high[0];
  between[at] = form.spread[0] - 1;
  Expr input = form.input.pad(form.zero(form.input.element()), before, after, between), kernel = form.kernel;

  // The dimension moves before the batch, [..., positions, batch, ...], and is merged with it.
  const RankedTensorType whole = form.type;
  const int64_t batch = form.of.first, resultAt = form.ofResult.spatial.front(), resultBatch = form.ofResult.first;
  auto nextToBatch = [](int64_t rank, int64_t moved, int64_t batch) {
    Sizes order;
    for (int64_t d = 0; d < rank; ++d) {
      if (d == batch)
        order.push_back(moved);
      if (d != moved)
        order.push_back(d);
    }
    return order;
  };
  auto merged = [](ArrayRef<int64_t> shape, int64_t gone, int64_t batch) {
    Sizes to(shape);
    to[batch] *= to[gone];
    to.erase(to.begin() + gone);
    return to;
  };
  for (Places *places : {&form.of, &form.ofKernel, &form.ofResult})
    places->eraseSpatial();
  for (Sizes *numbers : {&form.stride, &form.spread, &form.dilation, &form.low, &form.high})
    numbers->erase(numbers->begin());
  form.reversal.erase(form.reversal.begin());
  --form.rank;
  // Sums of bf16 are rounded once.
  Type element = whole.getElementType();
  if (auto narrow = dyn_cast<FloatType>(element); narrow && narrow.getWidth() < 32)
    element = input.build().getF32Type();
  form.type = RankedTensorType::get(merged(whole.getShape(), resultAt, resultBatch), element);

  std::optional<Expr> sum;
  for (int64_t tap = 0; tap < window; ++tap) {
    Expr seen = input.slice(at, tap * gap, tap * gap + (positions - 1) * step + 1, step);
    const Sizes shape(seen.shape());
    form.input = seen.transpose(nextToBatch(seen.rank(), at, batch)).reshape(merged(shape, at, batch));
    Sizes rest(kernel.shape());
    rest.erase(rest.begin() + kernelAt);
    form.kernel = kernel.slice(kernelAt, tap, tap + 1).reshape(rest);
    Expr each = form.make();
    sum = sum ? *sum + each : each;
  }
  const Sizes order = nextToBatch(whole.getRank(), resultAt, resultBatch);
  Sizes apart, back(order.size());
  for (auto [place, d] : llvm::enumerate(order)) {
    apart.push_back(whole.getDimSize(d));
    back[d] = static_cast<int64_t>(place);
  }
  return sum->reshape(apart).transpose(back).convert(whole.getElementType());
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {
/// Takes one step at a time; the created ops are matched again.
struct ExpandConvolution : OpRewritePattern<stablehlo::ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (auto type = typeOf(op.getResult()); llvm::any_of(op.getOperandTypes(), isEmpty) || isEmpty(type)) {
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, cast<ElementsAttr>(builder.getZeroAttr(type)));
      return success();
    }
    Form form(builder, op);
    auto replaceWith = [&](Expr result) {
      rewriter.replaceOp(op, result.value());
      return success();
    };
    bool changed = turnKernel(form);
    changed |= dropSteps(form);
    changed |= cutPadding(form);
    changed |= !isEmpty(form.input.type()) && moveBatchGroups(form);
    changed |= !isEmpty(form.input.type()) && fillSpread(form);
    if (changed)
      return replaceWith(form.make());
    for (auto change : {withSpatial, writtenOut, zerosBefore})
      if (std::optional<Expr> result = change(form))
        return replaceWith(*result);
    return failure();
  }

private:
  static bool isEmpty(Type type) { return cast<RankedTensorType>(type).getNumElements() == 0; }
};
} // namespace

void hlo::addConvolutionExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandConvolution>(patterns.getContext());
}
