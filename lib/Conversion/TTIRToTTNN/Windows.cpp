//===- Windows.cpp - lowering of convolutions and pooling -----------------===//
//
// TTNN slides windows over NHWC tensors whose first three dimensions are
// flattened: 1 x 1 x (batch * height * width) x channels. It takes padding as
// [top, bottom, left, right] where TTIR has [top, left, bottom, right].
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// Batch, height, width and channels of a tensor.
struct Image {
  int64_t batch, height, width, channels;
  std::array<int64_t, 4> flat() const { return {1, 1, batch * height * width, channels}; }
};
} // namespace

/// One number stands for all.
static SmallVector<int32_t> ints(Attribute attr, size_t count) {
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    return SmallVector<int32_t>(array.asArrayRef());
  return SmallVector<int32_t>(count, cast<IntegerAttr>(attr).getInt());
}

/// [top, bottom, left, right] of one number, [height, width] or [top, left,
/// bottom, right].
static SmallVector<int32_t> padding(Attribute attr) {
  SmallVector<int32_t> sizes = ints(attr, 2);
  if (sizes.size() == 2)
    return {sizes[0], sizes[0], sizes[1], sizes[1]};
  return {sizes[0], sizes[2], sizes[1], sizes[3]};
}

/// The image that `input` (NHWC, or flattened with `info`) holds.
static Image imageOf(ArrayRef<int64_t> shape, ttir::FlattenedCompatInfoAttr info) {
  if (info)
    return {info.getBatchSize(), info.getInputHeight(), info.getInputWidth(), shape[3]};
  return {shape[0], shape[1], shape[2], shape[3]};
}

/// `value` as TTNN slides windows over it; `order` gives the place of batch,
/// height, width and channels.
static Value flatten(Lowering &lowering, Value value, ArrayRef<int64_t> order, const Image &image) {
  return lowering.reshape(lowering.permute(value, order), image.flat());
}

/// A flat result in the order and shape of the op's.
static LogicalResult replaceFlat(Lowering &lowering, function_ref<Value(RankedTensorType)> make,
                                 ArrayRef<int64_t> order, bool staysFlat) {
  RankedTensorType type = lowering.resultType();
  if (staysFlat)
    return lowering.replace(make(type));
  SmallVector<int64_t> ordered, inverse(4);
  for (auto [to, from] : llvm::enumerate(order)) {
    ordered.push_back(type.getShape()[from]);
    inverse[from] = to;
  }
  Image image{ordered[0], ordered[1], ordered[2], ordered[3]};
  Value value = make(lowering.typeLike(lowering.op->getResult(0), image.flat()));
  return lowering.replace(lowering.permute(lowering.reshape(value, ordered), inverse));
}

static Attribute signedInt(Lowering &lowering, int64_t value) {
  return lowering.attributes().getSI32IntegerAttr(value);
}
static Attribute signlessInt(Lowering &lowering, int64_t value) {
  return lowering.attributes().getI32IntegerAttr(value);
}

static SmallVector<NamedAttribute> imageAttributes(Lowering &lowering, const Image &image,
                                                   Attribute (*number)(Lowering &, int64_t)) {
  return {lowering.attr("batch_size", number(lowering, image.batch)),
          lowering.attr("input_height", number(lowering, image.height)),
          lowering.attr("input_width", number(lowering, image.width))};
}

static NamedAttribute array(Lowering &lowering, StringRef name, ArrayRef<int32_t> values) {
  return lowering.attr(name, lowering.attributes().getDenseI32ArrayAttr(values));
}

/// Weights in row-major order: as tiles, a kernel of 1 x 1 would take the memory of one of 32 x 32. Arguments come as
/// they come.
static Value weightInRows(Lowering &lowering, Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  auto layout = ttnn::TTNNLayoutAttr::of(type);
  Operation *maker = weight.getDefiningOp();
  if (!maker || !layout.isTiled() || ttcore::isBlockFormat(layout.getDataType()))
    return weight;
  auto inRows = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    auto layout = ttnn::TTNNLayoutAttr::of(type).withLayout(type.getShape(), ttnn::Layout::RowMajor);
    return ttnn::withLayout(type, layout);
  };
  RankedTensorType rows = inRows(weight);
  if (weight.hasOneUse() && isa<ttnn::ReshapeOp>(maker)) {
    Value matrix = lowering.make("to_layout", maker->getOperand(0), inRows(maker->getOperand(0)));
    return lowering.reshape(matrix, rows);
  }
  if (!isa<ttnn::ConstantOp>(maker) || !weight.hasOneUse())
    return lowering.make("to_layout", weight, rows);
  weight.setType(rows);
  return weight;
}

/// conv2d and conv_transpose2d, whose weights are [out, in / groups, height,
/// width] and [in, out / groups, height, width].
static LogicalResult lowerConv(Lowering &lowering) {
  Operation *op = lowering.op;
  StringRef name = op->getName().stripDialect();
  bool transposed = name == "conv_transpose2d";
  auto info = op->getAttrOfType<ttir::FlattenedCompatInfoAttr>("flattened_compat_info");
  SmallVector<int64_t> order;
  for (StringRef dim : {"batch_dim", "height_dim", "width_dim", "channel_dim"})
    order.push_back(op->getAttrOfType<IntegerAttr>(dim).getInt());

  SmallVector<int64_t> ordered;
  for (int64_t dim : order)
    ordered.push_back(lowering.shapeOf(op->getOperand(0))[dim]);
  Image image = imageOf(ordered, info);
  int64_t groups = op->getAttrOfType<IntegerAttr>("groups").getInt();
  ArrayRef<int64_t> weight = lowering.shapeOf(op->getOperand(1));
  int64_t outChannels = transposed ? weight[1] * groups : weight[0];

  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to run it on");
  SmallVector<Value> operands = {flatten(lowering, op->getOperand(0), order, image),
                                 weightInRows(lowering, op->getOperand(1))};
  if (op->getNumOperands() > 2)
    operands.push_back(lowering.reshape(op->getOperand(2), ArrayRef<int64_t>{1, 1, 1, outChannels}));
  operands.push_back(device);

  SmallVector<NamedAttribute> attrs = imageAttributes(lowering, image, signlessInt);
  attrs.push_back(lowering.attr("in_channels", signlessInt(lowering, image.channels)));
  attrs.push_back(lowering.attr("out_channels", signlessInt(lowering, outChannels)));
  attrs.push_back(lowering.attr("groups", op->getAttr("groups")));
  attrs.push_back(array(lowering, "kernel_size", {static_cast<int32_t>(weight[2]), static_cast<int32_t>(weight[3])}));
  attrs.push_back(array(lowering, "stride", ints(op->getAttr("stride"), 2)));
  attrs.push_back(array(lowering, "dilation", ints(op->getAttr("dilation"), 2)));
  attrs.push_back(array(lowering, "padding", padding(op->getAttr("padding"))));
  if (transposed)
    attrs.push_back(array(lowering, "output_padding", ints(op->getAttr("output_padding"), 2)));
  return replaceFlat(
      lowering, [&](RankedTensorType type) { return lowering.make(name, operands, type, attrs); }, order, bool(info));
}

/// A conv2d of images one pixel high; weights are [out, in / groups, length].
static LogicalResult lowerConv1d(Lowering &lowering) {
  Operation *op = lowering.op;
  SmallVector<int64_t> order, ordered;
  for (StringRef dim : {"batch_dim", "length_dim", "channel_dim"}) {
    order.push_back(op->getAttrOfType<IntegerAttr>(dim).getInt());
    ordered.push_back(lowering.shapeOf(op->getOperand(0))[order.back()]);
  }
  Image image{ordered[0], 1, ordered[1], ordered[2]};
  ArrayRef<int64_t> weight = lowering.shapeOf(op->getOperand(1));
  const int64_t outChannels = weight[0], length = weight[2];
  auto along = [&](StringRef name) { return ints(op->getAttr(name), 1)[0]; };
  SmallVector<int32_t> sides = ints(op->getAttr("padding"), 2);
  sides.resize(2, sides[0]);

  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to run it on");
  SmallVector<Value> operands = {
      lowering.reshape(lowering.permute(op->getOperand(0), order), image.flat()),
      lowering.reshape(op->getOperand(1), ArrayRef<int64_t>{outChannels, weight[1], 1, length})};
  if (op->getNumOperands() > 2)
    operands.push_back(lowering.reshape(op->getOperand(2), ArrayRef<int64_t>{1, 1, 1, outChannels}));
  operands.push_back(device);

  SmallVector<NamedAttribute> attrs = imageAttributes(lowering, image, signlessInt);
  attrs.push_back(lowering.attr("in_channels", signlessInt(lowering, image.channels)));
  attrs.push_back(lowering.attr("out_channels", signlessInt(lowering, outChannels)));
  attrs.push_back(lowering.attr("groups", op->getAttr("groups")));
  attrs.push_back(array(lowering, "kernel_size", {1, static_cast<int32_t>(length)}));
  attrs.push_back(array(lowering, "stride", {1, along("stride")}));
  attrs.push_back(array(lowering, "dilation", {1, along("dilation")}));
  attrs.push_back(array(lowering, "padding", {0, 0, sides[0], sides[1]}));

  RankedTensorType type = lowering.resultType();
  SmallVector<int64_t> shape, inverse(3);
  for (auto [to, from] : llvm::enumerate(order)) {
    shape.push_back(type.getShape()[from]);
    inverse[from] = to;
  }
  Image result{shape[0], 1, shape[1], shape[2]};
  Value value = lowering.make("conv2d", operands, lowering.typeLike(op->getResult(0), result.flat()), attrs);
  return lowering.replace(lowering.permute(lowering.reshape(value, shape), inverse));
}

/// The value in row-major order, in which volumes are convolved: a tile would take the memory of 32 channels for those
/// of a pixel.
static RankedTensorType inRows(RankedTensorType type) {
  return ttnn::withLayout(type, ttnn::TTNNLayoutAttr::of(type).withLayout(type.getShape(), ttnn::Layout::RowMajor));
}

/// Volumes, whose weights are [out, in / groups, depth, height, width].
static LogicalResult lowerConv3d(Lowering &lowering) {
  auto op = cast<ttir::Conv3dOp>(lowering.op);
  if (op.getPaddingMode() != "zeros" && op.getPaddingMode() != "replicate")
    return lowering.refuse("padding_mode is '" + op.getPaddingMode() + "'; expected 'zeros' or 'replicate'");
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to run it on");
  SmallVector<int64_t> order, inverse(5), result;
  for (uint64_t dim : {op.getBatchDim(), op.getDepthDim(), op.getHeightDim(), op.getWidthDim(), op.getChannelDim()}) {
    inverse[dim] = order.size();
    order.push_back(dim);
    result.push_back(lowering.resultType().getShape()[dim]);
  }
  ArrayRef<int64_t> weight = lowering.shapeOf(op.getWeight());
  Value volume = lowering.permute(op.getInput(), order);
  volume = lowering.make("to_layout", volume, inRows(cast<RankedTensorType>(volume.getType())));
  SmallVector<Value> operands = {volume, weightInRows(lowering, op.getWeight())};
  if (op.getBias())
    operands.push_back(lowering.reshape(op.getBias(), ArrayRef<int64_t>{1, weight[0]}));
  operands.push_back(device);

  // TTIR gives padding before the dimensions, then behind them; TTNN the two of each dimension.
  SmallVector<int32_t> padding = ints(op.getPadding(), 3);
  if (padding.size() == 6)
    padding = {padding[0], padding[3], padding[1], padding[4], padding[2], padding[5]};
  SmallVector<NamedAttribute> attrs = {lowering.attr("in_channels", signlessInt(lowering, lowering.shapeOf(volume)[4])),
                                       lowering.attr("out_channels", signlessInt(lowering, weight[0])),
                                       lowering.attr("groups", op.getGroupsAttr()),
                                       lowering.attr("padding_mode", op.getPaddingModeAttr()),
                                       array(lowering, "kernel_size", SmallVector<int32_t>(weight.drop_front(2))),
                                       array(lowering, "stride", ints(op.getStride(), 3)),
                                       array(lowering, "padding", padding)};
  for (size_t place = 0; StringRef name : {"batch_size", "input_depth", "input_height", "input_width"})
    attrs.push_back(lowering.attr(name, signlessInt(lowering, lowering.shapeOf(volume)[place++])));
  RankedTensorType type = lowering.typeLike(op.getResult(), result);
  Value value = lowering.make("conv3d", operands, inRows(type), attrs);
  return lowering.replace(lowering.permute(lowering.make("to_layout", value, type), inverse));
}

/// Pools of NHWC images; those with indices have a second result of the shape of the first.
static LogicalResult lowerPool(Lowering &lowering) {
  Operation *op = lowering.op;
  auto info = op->getAttrOfType<ttir::FlattenedCompatInfoAttr>("flattened_compat_info");
  Image image = imageOf(lowering.shapeOf(op->getOperand(0)), info);
  constexpr int64_t order[] = {0, 1, 2, 3};

  SmallVector<NamedAttribute> attrs = imageAttributes(lowering, image, signedInt);
  attrs.push_back(lowering.attr("channels", signedInt(lowering, image.channels)));
  attrs.push_back(array(lowering, "kernel_size", ints(op->getAttr("kernel"), 2)));
  attrs.push_back(array(lowering, "stride", ints(op->getAttr("stride"), 2)));
  attrs.push_back(array(lowering, "dilation", ints(op->getAttr("dilation"), 2)));
  SmallVector<int32_t> sides = padding(op->getAttr("padding"));
  if (sides[0] == sides[1] && sides[2] == sides[3])
    sides = {sides[0], sides[2]};
  attrs.push_back(array(lowering, "padding", sides));
  for (StringRef name : {"ceil_mode", "count_include_pad"})
    if (Attribute value = op->getAttr(name))
      attrs.push_back(lowering.attr(name, value));

  Value input = flatten(lowering, op->getOperand(0), order, image);
  SmallVector<Type> types;
  for (OpResult result : op->getResults()) {
    RankedTensorType type = lowering.resultType(result.getResultNumber());
    ArrayRef<int64_t> shape = type.getShape();
    types.push_back(info ? type : lowering.typeLike(result, Image{shape[0], shape[1], shape[2], shape[3]}.flat()));
  }
  SmallVector<Value> results;
  for (auto [index, value] : llvm::enumerate(lowering.makeAll(op->getName().stripDialect(), input, types, attrs)))
    results.push_back(lowering.reshape(value, lowering.resultType(index)));
  return lowering.replace(results);
}

void ttnn::addWindowRules(Rules &rules) {
  rules["conv1d"] = lowerConv1d;
  rules["conv2d"] = rules["conv_transpose2d"] = lowerConv;
  rules["conv3d"] = lowerConv3d;
  rules["max_pool2d"] = rules["avg_pool2d"] = rules["max_pool2d_with_indices"] = lowerPool;
}
