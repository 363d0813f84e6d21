//===- Scatters.cpp - scatters of formulas, and gathers of one slice ------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expressions.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

/// The larger one of two, over all elements; a scalar.
static Expr largest(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  auto scalar = RankedTensorType::get({}, x.element());
  Value zero = stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(scalar, builder.getZeroAttr(x.element())));
  auto reduce =
      stablehlo::ReduceOp::create(builder, TypeRange(scalar), ValueRange(x.value()), ValueRange(zero),
                                  builder.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(x.rank()))));
  OpBuilder::InsertionGuard guard(builder);
  Location loc = builder.getLoc();
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value larger = stablehlo::MaxOp::create(builder, scalar, body->getArgument(0), body->getArgument(1));
  stablehlo::ReturnOp::create(builder, larger);
  return {builder, reduce->getResult(0)};
}

namespace {
/// A function that is applied to each element that an index names, as often as it is named: `x.at[i].apply(f)`. A
/// scatter of ones counts how often, and the function is applied that many times while elements are left. A function
/// that also takes updates is applied to one update after the other if several may name an element.
struct ExpandScatter : OpRewritePattern<stablehlo::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, PatternRewriter &rewriter) const override {
    Region &region = op.getUpdateComputation();
    if (op.getInputs().size() != 1 || !isElementwise(region))
      return failure();
    Block &body = region.front();
    const bool takesUpdate = !body.getArgument(1).use_empty();
    // An op of both arguments, or of one of them, has its own form (for complex numbers: a sum).
    const bool isComplex = isa<ComplexType>(typeOf(op.getInputs().front()).getElementType());
    const bool hasForm = llvm::hasNItemsOrLess(body.without_terminator(), 1) &&
                         (!isComplex || llvm::all_of(body.without_terminator(), llvm::IsaPred<stablehlo::AddOp>));
    if ((takesUpdate && hasForm) || (!takesUpdate && body.without_terminator().empty()))
      return failure();

    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (takesUpdate && !op.getUniqueIndices()) {
      if (!op.getScatterDimensionNumbers().getInputBatchingDims().empty())
        rewriter.replaceOp(op, withoutBatching(builder, op));
      else
        rewriter.replaceOp(op, oneByOne(builder, op).value());
      return success();
    }
    Expr x(builder, op.getInputs().front()), updates(builder, op.getUpdates().front());
    auto counted = [&](Expr like) { return like.type().clone(builder.getI32Type()); };
    auto constant = [&](RankedTensorType type, int32_t value) {
      return Expr(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(type, value)));
    };
    Expr counts = scattered(builder, op, constant(counted(x), 0), constant(counted(updates), 1), /*adds=*/true);
    if (op.getUniqueIndices()) {
      Expr update = takesUpdate ? scattered(builder, op, x, updates, /*adds=*/false) : x;
      rewriter.replaceOp(op, (counts > 0).select(applyRegion(body, {x, update}).front(), x).value());
      return success();
    }
    Location loc = op.getLoc();
    SmallVector<Type> types = {counts.type(), x.type()};
    auto loop = stablehlo::WhileOp::create(builder, types, ValueRange{counts.value(), x.value()});
    Block *cond = builder.createBlock(&loop.getCond(), {}, types, {loc, loc});
    stablehlo::ReturnOp::create(builder, (largest({builder, cond->getArgument(0)}) > 0).value());
    Block *turn = builder.createBlock(&loop.getBody(), {}, types, {loc, loc});
    Expr left(builder, turn->getArgument(0)), value(builder, turn->getArgument(1));
    Expr next = (left > 0).select(applyRegion(body, {value, value}).front(), value);
    stablehlo::ReturnOp::create(builder, ValueRange{(left - 1).value(), next.value()});
    rewriter.replaceOp(op, loop->getResult(1));
    return success();
  }

private:
  /// The same with batches as an additional number of each index.
  static Value withoutBatching(ImplicitLocOpBuilder &builder, stablehlo::ScatterOp op) {
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    Expr indices(builder, op.getScatterIndices());
    const int64_t vectorDim = numbers.getIndexVectorDim();
    SmallVector<int64_t> shape(indices.shape());
    if (vectorDim == indices.rank())
      shape.push_back(1);
    indices = indices.reshape(shape);
    if (indices.element().getIntOrFloatBitWidth() < 32) // may not hold the number of a batch
      indices = indices.convert(builder.getI32Type());
    shape[vectorDim] = 1;
    SmallVector<Expr> parts;
    for (int64_t dimension : numbers.getScatterIndicesBatchingDims())
      parts.push_back(Expr::iota(builder, indices.type().clone(shape), dimension));
    parts.push_back(indices);
    SmallVector<int64_t> inserted(numbers.getInsertedWindowDims()), map(numbers.getInputBatchingDims());
    llvm::append_range(inserted, numbers.getInputBatchingDims());
    llvm::sort(inserted);
    llvm::append_range(map, numbers.getScatterDimsToOperandDims());
    auto plain = stablehlo::ScatterDimensionNumbersAttr::get(builder.getContext(), numbers.getUpdateWindowDims(),
                                                             inserted, {}, {}, map, vectorDim);
    auto created = stablehlo::ScatterOp::create(builder, op->getResultTypes(), op.getInputs(),
                                                parts.front().concat(ArrayRef(parts).drop_front(), vectorDim).value(),
                                                op.getUpdates(), plain,
                                                /*indices_are_sorted=*/false, op.getUniqueIndices());
    IRMapping mapping;
    op.getUpdateComputation().cloneInto(&created.getUpdateComputation(), mapping);
    return created->getResult(0);
  }

  /// Each update is a scatter of its own, in which no other update has the same element.
  static Expr oneByOne(ImplicitLocOpBuilder &builder, stablehlo::ScatterOp op) {
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    Expr indices(builder, op.getScatterIndices()), updates(builder, op.getUpdates().front());
    // [number of updates, index], and [number of updates, window]
    const int64_t vectorDim = numbers.getIndexVectorDim();
    SmallVector<int64_t> order, places, window(numbers.getUpdateWindowDims());
    for (int64_t dimension : llvm::seq(indices.rank()))
      if (dimension != vectorDim)
        order.push_back(dimension);
    int64_t count = 1;
    for (int64_t dimension : order)
      count *= indices.size(dimension);
    const int64_t length = vectorDim < indices.rank() ? indices.size(vectorDim) : 1;
    if (vectorDim < indices.rank())
      order.push_back(vectorDim);
    indices = indices.transpose(order).reshape({count, length});
    for (int64_t dimension : llvm::seq(updates.rank()))
      if (!llvm::is_contained(window, dimension))
        places.push_back(dimension);
    llvm::append_range(places, window);
    SmallVector<int64_t> sizes;
    for (int64_t dimension : window)
      sizes.push_back(updates.size(dimension));
    SmallVector<int64_t> listed(sizes);
    listed.insert(listed.begin(), count);
    updates = updates.transpose(places).reshape(listed);
    auto single = stablehlo::ScatterDimensionNumbersAttr::get(
        builder.getContext(), llvm::to_vector(llvm::seq<int64_t>(sizes.size())), numbers.getInsertedWindowDims(), {},
        {}, numbers.getScatterDimsToOperandDims(), /*indexVectorDim=*/0);
    return repeated({builder, op.getInputs().front()}, count, [&](Expr turn, Expr input) {
      Expr index = row(indices, turn), update = row(updates, turn);
      auto created = stablehlo::ScatterOp::create(builder, TypeRange(input.type()), ValueRange(input.value()),
                                                  index.value(), ValueRange(update.value()), single,
                                                  /*indices_are_sorted=*/true, /*unique_indices=*/true);
      IRMapping mapping;
      op.getUpdateComputation().cloneInto(&created.getUpdateComputation(), mapping);
      return Expr(builder, created->getResult(0));
    });
  }

  /// Returns the slice with this number in the first dimension.
  static Expr row(Expr x, Expr number) {
    ImplicitLocOpBuilder &builder = x.build();
    SmallVector<Value> starts(x.rank(), number.number(0).value());
    starts.front() = number.value();
    SmallVector<int64_t> sizes(x.shape());
    sizes.front() = 1;
    Value slice = stablehlo::DynamicSliceOp::create(builder, x.type().clone(sizes), x.value(), starts,
                                                    builder.getDenseI64ArrayAttr(sizes));
    return Expr(builder, slice).reshape(ArrayRef(sizes).drop_front());
  }

  /// The same elements, of other tensors.
  static Expr scattered(ImplicitLocOpBuilder &builder, stablehlo::ScatterOp op, Expr input, Expr updates, bool adds) {
    auto created = stablehlo::ScatterOp::create(
        builder, TypeRange(input.type()), ValueRange(input.value()), op.getScatterIndices(),
        ValueRange(updates.value()), op.getScatterDimensionNumbers(), op.getIndicesAreSorted(), op.getUniqueIndices());
    OpBuilder::InsertionGuard guard(builder);
    auto scalar = RankedTensorType::get({}, input.element());
    Location loc = builder.getLoc();
    Block *body = builder.createBlock(&created.getUpdateComputation(), {}, {scalar, scalar}, {loc, loc});
    Value result = body->getArgument(1);
    if (adds)
      result = stablehlo::AddOp::create(builder, scalar, body->getArgument(0), result);
    stablehlo::ReturnOp::create(builder, result);
    return {builder, created->getResult(0)};
  }
};
} // namespace

namespace {
/// A gather of one slice at a known position, as JAX writes `x[1:]` for a symbolic size.
struct ExpandGatherOfSlice : OpRewritePattern<stablehlo::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::GatherOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType()), from = cast<RankedTensorType>(op.getOperand().getType());
    ArrayRef<int64_t> sizes = op.getSliceSizes(), map = op.getDimensionNumbers().getStartIndexMap();
    DenseIntElementsAttr starts;
    if (!type.hasStaticShape() || !from.hasStaticShape() || type.getNumElements() == 0 ||
        ShapedType::getNumElements(sizes) != type.getNumElements() ||
        !matchPattern(op.getStartIndices(), m_Constant(&starts)) ||
        starts.getNumElements() != static_cast<int64_t>(map.size()))
      return failure();
    const bool isUnsigned = starts.getElementType().isUnsignedInteger();
    SmallVector<int64_t> at(from.getRank(), 0), limits(sizes), strides(from.getRank(), 1);
    for (auto [dim, start] : llvm::zip_equal(map, starts.getValues<APInt>())) {
      const int64_t last = from.getDimSize(dim) - sizes[dim];
      at[dim] = isUnsigned ? static_cast<int64_t>(start.getLimitedValue(last))
                           : std::clamp<int64_t>(start.getSExtValue(), 0, last);
      limits[dim] += at[dim];
    }
    Value slice =
        stablehlo::SliceOp::create(rewriter, op.getLoc(), from.clone(sizes), op.getOperand(), at, limits, strides);
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, type, slice);
    return success();
  }
};
} // namespace

void hlo::addScatterExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandScatter, ExpandGatherOfSlice>(patterns.getContext());
}
