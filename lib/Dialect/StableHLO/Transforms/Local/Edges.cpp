//===- Edges.cpp - windows over what neighbours hold ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The edges of all parts are gathered, which is one op along the ring of the
// devices, and each device keeps those next to it: exchanges of pairs would be
// an op for each device, one after the other.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

using AxisRefs = ArrayRef<sdy::AxisRefAttr>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value sliced(ImplicitLocOpBuilder &builder, Value value, int64_t dim, int64_t from, int64_t to) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  if (from == 0 && to == shape[dim])
    return value;
  SmallVector<int64_t> starts(shape.size(), 0), limits = shape, strides(shape.size(), 1);
  starts[dim] = from;
  limits[dim] = to;
  shape[dim] = to - from;
  return stablehlo::SliceOp::create(builder, typeOf(value).clone(shape), value, starts, limits, strides);
}

static Value padded(ImplicitLocOpBuilder &builder, Value value, int64_t dim, int64_t low, int64_t high, Value fill) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  SmallVector<int64_t> before(shape.size(), 0), after = before, between = before;
  before[dim] = low;
  after[dim] = high;
  shape[dim] += low + high;
  return stablehlo::PadOp::create(builder, typeOf(value).clone(shape), value, fill, before, after, between);
}

Value CollectiveLowering::window(ImplicitLocOpBuilder &builder, Value value, int64_t dim, const sdy::Footprint &print,
                                 Value fill, sdy::TensorShardingAttr sharding) {
  AxisRefs axes = sharding.getDimShardings()[dim].getAxes();
  const int64_t own = typeOf(value).getDimSize(dim), parts = sizeAlong(axes);
  if (!fill) {
    auto scalar = RankedTensorType::get({}, typeOf(value).getElementType());
    fill = stablehlo::ConstantOp::create(builder, scalar,
                                         DenseElementsAttr::get(scalar, builder.getZeroAttr(scalar.getElementType())));
  }
  SmallVector<AxisRefs> slicing(typeOf(value).getRank());
  slicing[dim] = axes;
  auto neighbours = [&](int64_t count, bool isBefore) {
    Value edge = isBefore ? sliced(builder, value, dim, own - count, own) : sliced(builder, value, dim, 0, count);
    Value edges = gather(builder, edge, dim, axes);
    // Moved by one part; the first, or last, has no neighbour there.
    edges = isBefore ? sliced(builder, edges, dim, 0, (parts - 1) * count)
                     : sliced(builder, edges, dim, count, parts * count);
    edges = padded(builder, edges, dim, isBefore ? count : 0, isBefore ? 0 : count, fill);
    return slice(builder, edges, slicing, sharding);
  };
  // What the device and its neighbours have, from `first` on, counted from the first element of its own.
  SmallVector<Value> pieces;
  const int64_t first = std::min(-print.before, own), from = std::max<int64_t>(first, 0),
                to = own + std::min<int64_t>(print.after, 0);
  if (print.before > 0)
    pieces.push_back(neighbours(print.before, /*isBefore=*/true));
  if (from < to)
    pieces.push_back(sliced(builder, value, dim, from, to));
  if (print.after > 0)
    pieces.push_back(neighbours(print.after, /*isBefore=*/false));
  Value joined = pieces.front();
  if (pieces.size() > 1) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] = 0;
    for (Value piece : pieces)
      shape[dim] += typeOf(piece).getDimSize(dim);
    joined = stablehlo::ConcatenateOp::create(builder, typeOf(value).clone(shape), pieces, static_cast<uint64_t>(dim));
  }
  auto offset = [&](int64_t part) { return print.starts[part] - part * own - first; };
  const bool isAlike =
      llvm::all_of(llvm::seq<int64_t>(0, parts), [&](int64_t part) { return offset(part) == offset(0); });
  if (isAlike)
    return sliced(builder, joined, dim, offset(0), offset(0) + print.size);
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value zero =
      stablehlo::ConstantOp::create(builder, scalar, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(0)));
  SmallVector<Value> starts(typeOf(value).getRank(), zero);
  starts[dim] = perDevice(builder, [&](int64_t device) { return offset(indexAlong(mesh, axes, device)); });
  SmallVector<int64_t> shape(typeOf(joined).getShape());
  shape[dim] = print.size;
  return stablehlo::DynamicSliceOp::create(builder, typeOf(value).clone(shape), joined, starts, shape);
}

void shlo::setWindow(Operation *op, const sdy::WindowedDim &window, const sdy::Footprint &print) {
  Builder builder(op->getContext());
  auto with = [](ArrayRef<int64_t> list, int64_t dim, int64_t value) {
    SmallVector<int64_t> changed(list);
    changed[dim] = value;
    return changed;
  };
  auto paddingOf = [&](std::optional<DenseIntElementsAttr> before, int64_t rank, int64_t dim) {
    SmallVector<int64_t> pads =
        before ? llvm::to_vector(before->getValues<int64_t>()) : SmallVector<int64_t>(2 * rank, 0);
    pads[2 * dim] = print.low;
    pads[2 * dim + 1] = print.high;
    return DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, builder.getI64Type()), pads);
  };
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    ArrayRef<int64_t> spatial = convolution.getDimensionNumbers().getInputSpatialDimensions();
    convolution.setPaddingAttr(paddingOf(convolution.getPadding(), static_cast<int64_t>(spatial.size()),
                                         llvm::find(spatial, window.operand) - spatial.begin()));
  } else if (auto reduce = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    reduce.setPaddingAttr(
        paddingOf(reduce.getPadding(), static_cast<int64_t>(reduce.getWindowDimensions().size()), window.operand));
  } else if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
    pad.setEdgePaddingLow(with(pad.getEdgePaddingLow(), window.operand, 0));
    pad.setEdgePaddingHigh(with(pad.getEdgePaddingHigh(), window.operand, 0));
  } else if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    slice.setStartIndices(with(slice.getStartIndices(), window.operand, 0));
    slice.setLimitIndices(with(slice.getLimitIndices(), window.operand, print.size));
  }
}

Value shlo::getWindowFill(Operation *op, unsigned operand) {
  if (isa<stablehlo::ReduceWindowOp>(op))
    return op->getOperand(op->getNumResults() + operand);
  return isa<stablehlo::PadOp>(op) ? op->getOperand(1) : Value();
}
