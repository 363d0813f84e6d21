//===- Indexing.cpp - lowering of StableHLO ops at computed positions -----===//
// SPDX-License-Identifier: Apache-2.0
//
// A slice contains some dimensions of its tensor whole, and starts somewhere in the others. With the latter in front,
// the tensor is a table whose rows are the former, and a slice is a number of rows: a lookup (ttir.embedding) or a
// scatter of rows, at positions that are computed in i32.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmbeddingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GreaterEqualOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LessEqualOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/NegOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScatterOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Slices of a tensor
//===----------------------------------------------------------------------===//

/// The greatest number where it does not fit.
static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result = llvm::checkedMul(result, size).value_or(std::numeric_limits<int64_t>::max());
  return result;
}

/// A constant of i32, [count, 1] or [1, count].
static Value numbers(ImplicitLocOpBuilder &builder, ArrayRef<int32_t> values, bool isColumn) {
  const auto count = static_cast<int64_t>(values.size());
  const std::array<int64_t, 2> shape = {isColumn ? count : 1, isColumn ? 1 : count};
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  return ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, values));
}

/// An elementwise op of two matrices that broadcast, which returns i32 or, if it compares, i1.
template <class OpT> static Value combine(ImplicitLocOpBuilder &builder, Value a, Value b, Type element = {}) {
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip_equal(typeOf(a).getShape(), typeOf(b).getShape()))
    shape.push_back(x == 1 ? y : x);
  return make<OpT>(builder, RankedTensorType::get(shape, element ? element : typeOf(a).getElementType()), {a, b});
}

namespace {
/// `count` slices of one size in a tensor.
class Slices {
public:
  Slices(ImplicitLocOpBuilder &builder, RankedTensorType tensor, ArrayRef<int64_t> sizes, int64_t count)
      : builder(builder), shape(tensor.getShape()), sizes(sizes), starts(sizes.size()), count(count) {}

  /// The start of slices along a dimension: i32, [count, 1]; 0 along the others.
  void setStart(int64_t dim, Value value) { starts[dim] = value; }
  bool hasStart(int64_t dim) const { return static_cast<bool>(starts[dim]); }

  /// The dimensions of which a slice is a part; it contains all others whole.
  SmallVector<int64_t> parts() const { return dimensions(true); }
  SmallVector<int64_t> fullDims() const { return dimensions(false); }
  /// Both, partial dimensions in front.
  SmallVector<int64_t> order() const {
    SmallVector<int64_t> all = parts();
    llvm::append_range(all, fullDims());
    return all;
  }
  int64_t rows() const { return product(of(shape, parts())); }
  int64_t width() const { return product(of(shape, fullDims())); }
  int64_t rowsOfSlice() const { return product(of(sizes, parts())); }

  /// The tensor as a matrix of rows, and back.
  Value tableOf(Value tensor) const { return reshape(builder, permute(builder, tensor, order()), {rows(), width()}); }
  Value tensorOf(Value table) const {
    return permute(builder, reshape(builder, table, of(shape, order())), inverse(order()));
  }

  /// The rows of each slice, in order: i32, [count, rowsOfSlice()].
  Value positions() const {
    Value sum;
    auto add = [&](Value value) { sum = sum ? combine<ttir::AddOp>(builder, sum, value) : value; };
    const SmallVector<int64_t> dims = parts();
    int64_t stride = 1;
    for (int64_t dim : llvm::reverse(dims)) {
      if (starts[dim])
        add(stride == 1 ? starts[dim]
                        : combine<ttir::MultiplyOp>(builder, starts[dim],
                                                    numbers(builder, {static_cast<int32_t>(stride)}, true)));
      stride *= shape[dim];
    }
    if (!sum || rowsOfSlice() > 1)
      add(offsets());
    return broadcast(builder, sum, {count, rowsOfSlice()});
  }

  /// Returns which of these rows belong to slices that are entirely inside the tensor, if starts may be anywhere: i1,
  /// [count, rowsOfSlice()].
  Value areInside() const {
    Value all;
    for (int64_t dim : parts()) {
      Value at = starts[dim];
      if (!at)
        continue;
      const Type i1 = builder.getI1Type();
      const auto last = static_cast<int32_t>(shape[dim] - sizes[dim]);
      Value inside = combine<ttir::LogicalAndOp>(
          builder, combine<ttir::GreaterEqualOp>(builder, at, numbers(builder, {0}, true), i1),
          combine<ttir::LessEqualOp>(builder, at, numbers(builder, {last}, true), i1));
      all = all ? combine<ttir::LogicalAndOp>(builder, all, inside) : inside;
    }
    return broadcast(builder, all, {count, rowsOfSlice()});
  }

  static SmallVector<int64_t> of(ArrayRef<int64_t> values, ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return values[dim]; });
  }

private:
  SmallVector<int64_t> dimensions(bool arePart) const {
    SmallVector<int64_t> found;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if ((size != shape[dim] || starts[dim]) == arePart)
        found.push_back(dim);
    return found;
  }

  /// The distance of each row of a slice from its first one: [1, rowsOfSlice()].
  Value offsets() const {
    const SmallVector<int64_t> dims = parts(), lengths = of(sizes, dims);
    const Type i32 = builder.getI32Type();
    Value sum;
    int64_t stride = 1;
    for (int64_t at = static_cast<int64_t>(dims.size()) - 1; at >= 0; --at) {
      if (lengths[at] > 1) {
        SmallVector<int64_t> line(dims.size(), 1);
        line[at] = lengths[at];
        Value steps = ttir::ArangeOp::create(builder, RankedTensorType::get(line, i32), /*start=*/0,
                                             /*end=*/lengths[at] * stride, /*step=*/stride, at);
        sum = sum ? combine<ttir::AddOp>(builder, steps, sum) : steps;
      }
      stride *= shape[dims[at]];
    }
    return sum ? reshape(builder, sum, {1, rowsOfSlice()}) : numbers(builder, {0}, false);
  }

  ImplicitLocOpBuilder &builder;
  SmallVector<int64_t> shape, sizes;
  SmallVector<Value> starts;
  int64_t count;
};
} // namespace

/// An index of any integer type as i32, between two bounds; an unsigned one has no lower bound.
static Value bounded(ImplicitLocOpBuilder &builder, Value value, int64_t low, int64_t high) {
  if (typeOf(value).getElementType().isUnsignedInteger())
    low = std::max<int64_t>(low, 0);
  auto limit = [&](int64_t number) { return builder.getI32IntegerAttr(static_cast<int32_t>(number)); };
  value = ttir::ClampScalarOp::create(builder, value.getType(), value, limit(low), limit(high));
  return typecast(builder, value, builder.getI32Type());
}

/// Refuses ops with more rows than constants and results can hold, or than i32 can count.
static LogicalResult checkRows(ConversionPatternRewriter &rewriter, Operation *op, ArrayRef<int64_t> numbers) {
  constexpr int64_t most = int64_t(1) << 28;
  if (product(numbers) > most)
    return notifyMatchFailure(rewriter, op, "it has more than 2^28 positions");
  return success();
}
static LogicalResult checkSizes(ConversionPatternRewriter &rewriter, Operation *op, const Slices &slices,
                                int64_t count) {
  if (failed(checkRows(rewriter, op, {count, slices.rowsOfSlice()})))
    return failure();
  if (slices.rows() >= std::numeric_limits<int32_t>::max())
    return notifyMatchFailure(rewriter, op, "it has positions that i32 does not count");
  return success();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

namespace {
/// The dimension numbers of a gather or scatter by their role.
struct Numbers {
  ArrayRef<int64_t> window, dropped, batching, indicesBatching, map;
  int64_t indexVector;

  explicit Numbers(stablehlo::GatherDimensionNumbersAttr attr)
      : window(attr.getOffsetDims()), dropped(attr.getCollapsedSliceDims()), batching(attr.getOperandBatchingDims()),
        indicesBatching(attr.getStartIndicesBatchingDims()), map(attr.getStartIndexMap()),
        indexVector(attr.getIndexVectorDim()) {}
  explicit Numbers(stablehlo::ScatterDimensionNumbersAttr attr)
      : window(attr.getUpdateWindowDims()), dropped(attr.getInsertedWindowDims()),
        batching(attr.getInputBatchingDims()), indicesBatching(attr.getScatterIndicesBatchingDims()),
        map(attr.getScatterDimsToOperandDims()), indexVector(attr.getIndexVectorDim()) {}

  bool isKept(int64_t dim) const { return !llvm::is_contained(dropped, dim) && !llvm::is_contained(batching, dim); }
  /// The sizes of the indices without those of the vectors.
  SmallVector<int64_t> batchOf(RankedTensorType indices) const {
    SmallVector<int64_t> batch;
    for (auto [dim, size] : llvm::enumerate(indices.getShape()))
      if (static_cast<int64_t>(dim) != indexVector)
        batch.push_back(size);
    return batch;
  }
  /// The position of each dimension of the tensor of slices (a gather's result, a scatter's update) once batch
  /// dimensions are in front, followed by those of the slices in the order of `order`.
  SmallVector<int64_t> placesOf(ArrayRef<int64_t> order, int64_t batch) const {
    SmallVector<int64_t> kept = llvm::filter_to_vector(order, [&](int64_t dim) { return isKept(dim); });
    SmallVector<int64_t> sorted(kept), places(batch + kept.size());
    llvm::sort(sorted);
    int64_t nextBatch = 0, nextKept = 0;
    for (auto [dim, place] : llvm::enumerate(places))
      place = llvm::is_contained(window, dim)
                  ? batch + std::distance(kept.begin(), llvm::find(kept, sorted[nextKept++]))
                  : nextBatch++;
    return places;
  }
};
} // namespace

/// The starts that `indices` has for the dimensions of `map`, moved inside (`clamps`) or at least near the tensor.
static void readStarts(ImplicitLocOpBuilder &builder, Slices &slices, const Numbers &dims, Value indices,
                       ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes, bool clamps) {
  const RankedTensorType type = typeOf(indices);
  const SmallVector<int64_t> batch = dims.batchOf(type);
  const int64_t count = product(batch);
  if (dims.indexVector != type.getRank()) {
    SmallVector<int64_t> order;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != dims.indexVector)
        order.push_back(dim);
    order.push_back(dims.indexVector);
    indices = permute(builder, indices, order);
  }
  const auto vector = static_cast<int64_t>(dims.map.size());
  if (vector > 0)
    indices = reshape(builder, indices, {count, vector});
  for (auto [k, dim] : llvm::enumerate(dims.map)) {
    if (clamps && sizes[dim] == shape[dim])
      continue; // there is one place for it
    Value column = indices;
    if (vector > 1) {
      const auto from = static_cast<int32_t>(k);
      column = ttir::SliceStaticOp::create(
          builder, typeOf(indices).clone({count, 1}), indices, builder.getI32ArrayAttr({0, from}),
          builder.getI32ArrayAttr({static_cast<int32_t>(count), from + 1}), builder.getI32ArrayAttr({1, 1}));
    }
    slices.setStart(dim, clamps ? bounded(builder, column, 0, shape[dim] - sizes[dim])
                                : bounded(builder, column, -sizes[dim], shape[dim]));
  }
  for (auto [dim, from] : llvm::zip_equal(dims.batching, dims.indicesBatching)) {
    if (shape[dim] == 1)
      continue;
    const int64_t at = from - (dims.indexVector < from ? 1 : 0);
    const int64_t inner = product(ArrayRef(batch).drop_front(at + 1));
    SmallVector<int32_t> values(count);
    for (auto [i, value] : llvm::enumerate(values))
      value = static_cast<int32_t>(i / inner % batch[at]);
    slices.setStart(dim, numbers(builder, values, true));
  }
}

namespace {
struct LowerGather : OpConversionPattern<stablehlo::GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const RankedTensorType type = typeOf(op.getResult());
    if (type.getNumElements() == 0)
      return replace(rewriter, op, zeros(builder, type));
    if (llvm::is_contained(op.getSliceSizes(), 0))
      return notifyMatchFailure(rewriter, op, "its slices have no elements, its result has some");
    const Numbers dims(op.getDimensionNumbers());
    const RankedTensorType operand = typeOf(adaptor.getOperand());
    const SmallVector<int64_t> batch = dims.batchOf(typeOf(adaptor.getStartIndices()));
    const int64_t count = product(batch);
    if (failed(checkRows(rewriter, op, count)))
      return failure();
    Slices slices(builder, operand, op.getSliceSizes(), count);
    readStarts(builder, slices, dims, adaptor.getStartIndices(), operand.getShape(), op.getSliceSizes(),
               /*clamps=*/true);
    if (failed(checkSizes(rewriter, op, slices, count)))
      return failure();

    const int64_t rows = count * slices.rowsOfSlice();
    Value found =
        ttir::EmbeddingOp::create(builder, operand.clone({rows, slices.width()}),
                                  reshape(builder, slices.positions(), {rows}), slices.tableOf(adaptor.getOperand()));
    SmallVector<int64_t> shape(batch);
    for (int64_t dim : slices.order())
      if (dims.isKept(dim))
        shape.push_back(op.getSliceSizes()[dim]);
    return replace(rewriter, op,
                   permute(builder, reshape(builder, found, shape), dims.placesOf(slices.order(), batch.size())));
  }
};
} // namespace

/// The way in which the region of a scatter combines an element with an update, or `keeps` if it leaves the element;
/// nothing if TTIR has no such scatter.
static std::optional<ttcore::ReduceType> reduceTypeOf(Region &region, bool &keeps) {
  Block &body = region.front();
  Value result = body.getTerminator()->getOperand(0);
  keeps = result == body.getArgument(0);
  if (keeps || result == body.getArgument(1))
    return ttcore::ReduceType::Invalid;
  Operation *op = onlyOp(region);
  if (!op)
    return std::nullopt;
  if (isa<stablehlo::SubtractOp>(op) && !getElementTypeOrSelf(result.getType()).isInteger(1))
    return ttcore::ReduceType::Sum; // of the negated updates
  return hlo::reduceTypeOf(op);
}

/// The table with rows combined with those of `updates`.
static Value scatterRows(ImplicitLocOpBuilder &builder, Value table, Value positions, Value updates,
                         ttcore::ReduceType reduce) {
  const RankedTensorType type = typeOf(updates);
  Value index = broadcast(builder, reshape(builder, positions, {type.getDimSize(0), 1}), type.getShape());
  return ttir::ScatterOp::create(builder, table.getType(), table, index, updates, builder.getI32IntegerAttr(0),
                                 ttcore::ReduceTypeAttr::get(builder.getContext(), reduce));
}

/// Whether constant indices keep every slice inside.
static bool areInside(Value indices, const Numbers &dims, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  if (dims.map.empty())
    return true;
  DenseIntElementsAttr values;
  if (!matchPattern(indices, m_Constant(&values)))
    return false;
  const RankedTensorType type = typeOf(indices);
  const int64_t inner =
      dims.indexVector == type.getRank() ? 1 : product(type.getShape().drop_front(dims.indexVector + 1));
  const bool isUnsigned = type.getElementType().isUnsignedInteger();
  for (auto [i, value] : llvm::enumerate(values.getValues<APInt>())) {
    const int64_t dim = dims.map[static_cast<int64_t>(i) / inner % static_cast<int64_t>(dims.map.size())];
    const int64_t last = shape[dim] - sizes[dim];
    if (isUnsigned ? value.ugt(last) : (value.isNegative() || value.sgt(last)))
      return false;
  }
  return true;
}

namespace {
struct LowerScatter : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getInputs().size() != 1)
      return notifyMatchFailure(rewriter, op, "it scatters into several tensors at once");
    bool keeps = false;
    const std::optional<ttcore::ReduceType> reduce = reduceTypeOf(op.getUpdateComputation(), keeps);
    if (!reduce)
      return notifyMatchFailure(
          rewriter, op, "its region is not one of add, subtract, multiply, maximum, minimum, or the update itself");
    Value input = adaptor.getInputs().front(), updates = adaptor.getUpdates().front();
    const RankedTensorType type = typeOf(input);
    if (keeps || typeOf(updates).getNumElements() == 0 || type.getNumElements() == 0)
      return replace(rewriter, op, input);

    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (isa_and_nonnull<stablehlo::SubtractOp>(onlyOp(op.getUpdateComputation())))
      updates = isa<FloatType>(type.getElementType())
                    ? make<ttir::NegOp>(builder, typeOf(updates), {updates})
                    : make<ttir::SubtractOp>(builder, typeOf(updates), {zeros(builder, typeOf(updates)), updates});
    const Numbers dims(op.getScatterDimensionNumbers());
    const SmallVector<int64_t> batch = dims.batchOf(typeOf(adaptor.getScatterIndices()));
    SmallVector<int64_t> sizes(type.getRank(), 1);
    auto window = dims.window.begin();
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (dims.isKept(dim))
        size = typeOf(updates).getDimSize(*window++);
    const int64_t count = product(batch);
    if (failed(checkRows(rewriter, op, count)))
      return failure();
    Slices slices(builder, type, sizes, count);
    readStarts(builder, slices, dims, adaptor.getScatterIndices(), type.getShape(), sizes, /*clamps=*/false);
    if (failed(checkSizes(rewriter, op, slices, count)))
      return failure();

    const SmallVector<int64_t> order = slices.order();
    const int64_t rows = count * slices.rowsOfSlice(), width = slices.width();
    updates = reshape(builder, permute(builder, updates, inverse(dims.placesOf(order, batch.size()))), {rows, width});
    Value table = slices.tableOf(input), positions = slices.positions();
    if (areInside(op.getScatterIndices(), dims, type.getShape(), sizes))
      return replace(rewriter, op, slices.tensorOf(scatterRows(builder, table, positions, updates, *reduce)));

    // As in XLA, a slice that is partly outside is omitted as a whole: its elements go to a row that is dropped.
    const int64_t all = slices.rows();
    positions = make<ttir::WhereOp>(
        builder, typeOf(positions),
        {slices.areInside(), positions,
         broadcast(builder, numbers(builder, {static_cast<int32_t>(all)}, true), typeOf(positions).getShape())});
    Value more = zeros(builder, type.clone({1, width}));
    table = ttir::ConcatOp::create(builder, type.clone({all + 1, width}), ValueRange{table, more}, 0);
    Value found = scatterRows(builder, table, positions, updates, *reduce);
    found =
        ttir::SliceStaticOp::create(builder, type.clone({all, width}), found, builder.getI32ArrayAttr({0, 0}),
                                    builder.getI32ArrayAttr({static_cast<int32_t>(all), static_cast<int32_t>(width)}),
                                    builder.getI32ArrayAttr({1, 1}));
    return replace(rewriter, op, slices.tensorOf(found));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Blocks at a computed start
//===----------------------------------------------------------------------===//

/// A block of a tensor, moved so that it is inside.
static Slices blockOf(ImplicitLocOpBuilder &builder, RankedTensorType tensor, ArrayRef<int64_t> sizes,
                      ValueRange starts) {
  Slices slices(builder, tensor, sizes, 1);
  for (auto [dim, start] : llvm::enumerate(starts))
    if (sizes[dim] != tensor.getDimSize(dim))
      slices.setStart(dim, bounded(builder, reshape(builder, start, {1, 1}), 0, tensor.getDimSize(dim) - sizes[dim]));
  return slices;
}

namespace {
struct LowerDynamicSlice : OpConversionPattern<stablehlo::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const RankedTensorType type = typeOf(op.getResult()), operand = typeOf(adaptor.getOperand());
    if (type.getNumElements() == 0)
      return replace(rewriter, op, zeros(builder, type));
    const Slices slices = blockOf(builder, operand, op.getSliceSizes(), adaptor.getStartIndices());
    if (slices.parts().empty())
      return replace(rewriter, op, adaptor.getOperand());
    if (failed(checkSizes(rewriter, op, slices, 1)))
      return failure();
    const SmallVector<int64_t> order = slices.order();
    Value found = ttir::EmbeddingOp::create(builder, operand.clone({slices.rowsOfSlice(), slices.width()}),
                                            reshape(builder, slices.positions(), {slices.rowsOfSlice()}),
                                            slices.tableOf(adaptor.getOperand()));
    found = reshape(builder, found, Slices::of(type.getShape(), order));
    return replace(rewriter, op, permute(builder, found, inverse(order)));
  }
};

struct LowerDynamicUpdateSlice : OpConversionPattern<stablehlo::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value update = adaptor.getUpdate();
    if (typeOf(update).getNumElements() == 0)
      return replace(rewriter, op, adaptor.getOperand());
    const Slices slices =
        blockOf(builder, typeOf(adaptor.getOperand()), typeOf(update).getShape(), adaptor.getStartIndices());
    if (slices.parts().empty())
      return replace(rewriter, op, update);
    if (failed(checkSizes(rewriter, op, slices, 1)))
      return failure();
    update = reshape(builder, permute(builder, update, slices.order()), {slices.rowsOfSlice(), slices.width()});
    return replace(rewriter, op,
                   slices.tensorOf(scatterRows(builder, slices.tableOf(adaptor.getOperand()), slices.positions(),
                                               update, ttcore::ReduceType::Invalid)));
  }
};
} // namespace

void hlo::addIndexingPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDynamicSlice, LowerDynamicUpdateSlice, LowerGather, LowerScatter>(patterns.getContext());
}
