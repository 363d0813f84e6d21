//===- Edges.cpp - windows over what neighbours hold ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Each device sends its edge to the next one, all at once, and adds the received edge to its own part. At the ends, the
// padding value of the op is added. For reversals, the data comes from the device at the mirrored position. Slices and
// concatenations whose elements lie further away are assembled of what each device that has some sends.
//
//===----------------------------------------------------------------------===//

#include "Collective.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

using AxisRefs = ArrayRef<sdy::AxisRefAttr>;

static Value sliced(ImplicitLocOpBuilder &builder, Value value, int64_t dim, int64_t from, int64_t to,
                    int64_t stride = 1) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  if (from == 0 && to == shape[dim] && stride == 1)
    return value;
  SmallVector<int64_t> starts(shape.size(), 0), limits = shape, strides(shape.size(), 1);
  starts[dim] = from;
  limits[dim] = to;
  strides[dim] = stride;
  shape[dim] = (to - from + stride - 1) / stride;
  return stablehlo::SliceOp::create(builder, typeOf(value).clone(shape), value, starts, limits, strides);
}

static bool isZero(Value value) {
  DenseElementsAttr values;
  return matchPattern(value, m_Constant(&values)) && values.isSplat() &&
         values.getSplatValue<Attribute>() == Builder(value.getContext()).getZeroAttr(values.getElementType());
}

static Value concatenated(ImplicitLocOpBuilder &builder, ArrayRef<Value> pieces, int64_t dim) {
  if (pieces.size() == 1)
    return pieces.front();
  SmallVector<int64_t> shape(typeOf(pieces.front()).getShape());
  shape[dim] = 0;
  for (Value piece : pieces)
    shape[dim] += typeOf(piece).getDimSize(dim);
  return stablehlo::ConcatenateOp::create(builder, typeOf(pieces.front()).clone(shape), pieces,
                                          static_cast<uint64_t>(dim));
}

/// Sends values between devices at these positions along the axes. A device that receives nothing has zeros.
Value CollectiveLowering::fromParts(ImplicitLocOpBuilder &builder, Value value,
                                    ArrayRef<std::pair<int64_t, int64_t>> parts, AxisRefs axes) {
  SmallVector<int64_t> pairs;
  for (ArrayRef<int64_t> group : groupsAlong(mesh, axes))
    for (auto [from, to] : parts)
      llvm::append_values(pairs, group[from], group[to]);
  auto type = RankedTensorType::get({static_cast<int64_t>(pairs.size()) / 2, 2}, builder.getI64Type());
  return stablehlo::CollectivePermuteOp::create(builder, value.getType(), value, DenseIntElementsAttr::get(type, pairs),
                                                channel(builder));
}

Value CollectiveLowering::assembled(ImplicitLocOpBuilder &builder, ValueRange values, int64_t dim,
                                    ArrayRef<stablehlo::Segment> segments, int64_t stride, AxisRefs axes) {
  SmallVector<Value> pieces;
  for (const stablehlo::Segment &segment : segments) {
    Value piece;
    for (const stablehlo::Segment::Move &move : segment.moves) {
      Value part =
          sliced(builder, values[move.operand], dim, move.first, move.first + (segment.size - 1) * stride + 1, stride);
      if (!move.isLocal())
        part = fromParts(builder, part, move.parts, axes);
      if (!piece) {
        piece = part;
        continue;
      }
      Value isHere = isTrue(builder, [&](int64_t device) {
        return llvm::is_contained(llvm::make_second_range(move.parts), indexAlong(mesh, axes, device));
      });
      piece = stablehlo::SelectOp::create(builder, part.getType(), isHere, part, piece);
    }
    pieces.push_back(piece);
  }
  return concatenated(builder, pieces, dim);
}

/// The edge of the part before or after that of each device along the axes.
Value CollectiveLowering::fromNeighbour(ImplicitLocOpBuilder &builder, Value edge, AxisRefs axes, bool isBefore,
                                        Value fill) {
  SmallVector<std::pair<int64_t, int64_t>> parts;
  for (int64_t part = 0; part + 1 < sizeAlong(axes); ++part)
    parts.emplace_back(isBefore ? part : part + 1, isBefore ? part + 1 : part);
  Value received = fromParts(builder, edge, parts, axes);
  if (!fill || isZero(fill))
    return received;
  Value outside = stablehlo::BroadcastInDimOp::create(builder, edge.getType(), fill, ArrayRef<int64_t>());
  return stablehlo::SelectOp::create(builder, edge.getType(), isAt(builder, axes, isBefore ? 0 : sizeAlong(axes) - 1),
                                     outside, received);
}

Value CollectiveLowering::mirrored(ImplicitLocOpBuilder &builder, Value value, AxisRefs axes) {
  SmallVector<std::pair<int64_t, int64_t>> parts;
  for (int64_t part = 0, count = sizeAlong(axes); part < count; ++part)
    parts.emplace_back(part, count - 1 - part);
  return fromParts(builder, value, parts, axes);
}

Value CollectiveLowering::window(ImplicitLocOpBuilder &builder, Value value, int64_t dim,
                                 const stablehlo::Footprint &print, Value fill, AxisRefs axes) {
  const int64_t own = typeOf(value).getDimSize(dim), parts = sizeAlong(axes);
  // The elements of the device and its neighbors, from `first` on, counted from the device's first element.
  SmallVector<Value> pieces;
  const int64_t first = std::min(-print.before, own), from = std::max<int64_t>(first, 0),
                to = own + std::min<int64_t>(print.after, 0);
  if (print.before > 0)
    pieces.push_back(
        fromNeighbour(builder, sliced(builder, value, dim, own - print.before, own), axes, /*isBefore=*/true, fill));
  if (from < to)
    pieces.push_back(sliced(builder, value, dim, from, to));
  if (print.after > 0)
    pieces.push_back(
        fromNeighbour(builder, sliced(builder, value, dim, 0, print.after), axes, /*isBefore=*/false, fill));
  Value joined = concatenated(builder, pieces, dim);
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

void shlo::setWindow(Operation *op, const stablehlo::WindowedDim &window, const stablehlo::Footprint &print) {
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
    if (!print.segments.empty())
      slice.setStrides(with(slice.getStrides(), window.operand, 1));
  }
}

Value shlo::getWindowFill(Operation *op, unsigned operand) {
  if (isa<stablehlo::ReduceWindowOp>(op))
    return op->getOperand(op->getNumResults() + operand);
  return isa<stablehlo::PadOp>(op) ? op->getOperand(1) : Value();
}
