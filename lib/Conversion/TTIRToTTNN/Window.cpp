//===- Window.cpp - lowering of convolutions and pooling ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// TTNN slides windows over NHWC tensors whose first three dimensions are flattened: 1 x 1 x (batch * height * width) x
// channels. It takes padding as [top, bottom, left, right]; TTIR has [top, left, bottom, right].
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv1dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dWithIndicesOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool3dWithIndicesOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AvgPool2dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/Conv3dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConvTranspose3dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MaxPool2dOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MaxPool2dWithIndicesOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"

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

/// One number applies to all.
static SmallVector<int32_t> ints(Attribute attr, size_t count) {
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    return SmallVector<int32_t>(array.asArrayRef());
  return SmallVector<int32_t>(count, cast<IntegerAttr>(attr).getInt());
}

/// [top, bottom, left, right] from one number, [height, width] or [top, left, bottom, right].
static SmallVector<int32_t> sidesOf(Attribute attr) {
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

static SmallVector<int64_t> inOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> order) {
  return llvm::map_to_vector(order, [&](int64_t dim) { return shape[dim]; });
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Weights in row-major order: as tiles, a 1 x 1 kernel would take the memory of a 32 x 32 one. Arguments keep their
/// layout.
static Value weightInRows(ImplicitLocOpBuilder &builder, ConversionPatternRewriter &rewriter, Value weight) {
  auto layout = TTNNLayoutAttr::of(weight.getType());
  Operation *producer = weight.getDefiningOp();
  if (!producer || !layout.isTiled() || ttcore::isBlockFormat(layout.getDataType()))
    return weight;
  RankedTensorType rows = inRows(typeOf(weight));
  if (weight.hasOneUse() && isa<ReshapeOp>(producer)) {
    Value tiles = producer->getOperand(0);
    return reshape(builder, ToLayoutOp::create(builder, inRows(typeOf(tiles)), tiles), rows);
  }
  if (!isa<ConstantOp>(producer) || !weight.hasOneUse())
    return ToLayoutOp::create(builder, rows, weight);
  rewriter.modifyOpInPlace(producer, [&] { weight.setType(rows); });
  return weight;
}

static Value flatBias(ImplicitLocOpBuilder &builder, Value bias, int64_t channels) {
  return bias ? reshape(builder, bias, ArrayRef<int64_t>{1, 1, 1, channels}) : Value();
}

/// The flat result in the order and shape of the op's result.
static Value unflatten(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> ordered, ArrayRef<int64_t> order) {
  return permute(builder, reshape(builder, value, ordered), inverse(order));
}

/// The library multiplies floats by floats, and integers by integers.
static LogicalResult checkKinds(ConversionPatternRewriter &rewriter, Operation *op) {
  const Type first = typeOf(op->getOperand(0)).getElementType();
  const bool isInteger = isa<IntegerType>(first);
  auto check = [&](Value value, const Twine &what) -> LogicalResult {
    const Type element = typeOf(value).getElementType();
    if (isa<IntegerType>(element) == isInteger)
      return success();
    return notifyMatchFailure(rewriter, op, [&](Diagnostic &why) {
      why << what << " is of " << element << " and operand 0 of " << first
          << "; expected floats, or integers, in all of them: a ttir.typecast makes them so";
    });
  };
  for (OpOperand &operand : op->getOpOperands())
    if (failed(check(operand.get(), "operand " + Twine(operand.getOperandNumber()))))
      return failure();
  return check(op->getResult(0), "the result");
}

static Operation *makeConv(ImplicitLocOpBuilder &b, ttir::Conv2dOp op, RankedTensorType type, ValueRange operands,
                           const Image &image, int64_t channels, ArrayRef<int32_t> kernel) {
  return Conv2dOp::create(b, type, operands[0], operands[1], operands[2], operands[3], image.channels, channels,
                          image.batch, image.height, image.width, kernel, ints(op.getStride(), 2),
                          sidesOf(op.getPadding()), ints(op.getDilation(), 2), op.getGroups(), nullptr, nullptr,
                          nullptr, nullptr);
}

static Operation *makeConv(ImplicitLocOpBuilder &b, ttir::ConvTranspose2dOp op, RankedTensorType type,
                           ValueRange operands, const Image &image, int64_t channels, ArrayRef<int32_t> kernel) {
  return ConvTranspose2dOp::create(b, type, operands[0], operands[1], operands[2], operands[3], image.channels,
                                   channels, image.batch, image.height, image.width, kernel, ints(op.getStride(), 2),
                                   sidesOf(op.getPadding()), ints(op.getOutputPadding(), 2), ints(op.getDilation(), 2),
                                   op.getGroups(), nullptr, nullptr, nullptr, nullptr);
}

namespace {
/// conv2d and conv_transpose2d, whose weights are [out, in / groups, height,
/// width] and [in, out / groups, height, width].
template <class OpT> struct LowerConv : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(checkKinds(rewriter, op)))
      return failure();
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    ttir::FlattenedCompatInfoAttr info = op.getFlattenedCompatInfoAttr();
    SmallVector<int64_t> order = {static_cast<int64_t>(op.getBatchDim()), static_cast<int64_t>(op.getHeightDim()),
                                  static_cast<int64_t>(op.getWidthDim()), static_cast<int64_t>(op.getChannelDim())};
    Image image = imageOf(inOrder(shapeOf(adaptor.getInput()), order), info);
    ArrayRef<int64_t> weight = shapeOf(adaptor.getWeight());
    const bool transposed = std::is_same_v<OpT, ttir::ConvTranspose2dOp>;
    const int64_t channels = transposed ? weight[1] * op.getGroupsAttr().getInt() : weight[0];
    SmallVector<Value> operands = {reshape(builder, permute(builder, adaptor.getInput(), order), image.flat()),
                                   weightInRows(builder, rewriter, adaptor.getWeight()),
                                   flatBias(builder, adaptor.getBias(), channels), device};
    SmallVector<int32_t> kernel(weight.drop_front(2));
    RankedTensorType type = typeOf(op.getResult());
    SmallVector<int64_t> ordered = inOrder(type.getShape(), order);
    if (!info)
      type = typeLike(op.getResult(), imageOf(ordered, {}).flat());
    Operation *created = makeConv(builder, op, type, operands, image, channels, kernel);
    ttcore::passAnnotationsOn(op, created);
    Value value = created->getResult(0);
    rewriter.replaceOp(op, info ? value : unflatten(builder, value, ordered, order));
    return success();
  }
};

/// A conv2d of images one pixel high; weights are [out, in / groups, length].
struct LowerConv1d : OpConversionPattern<ttir::Conv1dOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::Conv1dOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(checkKinds(rewriter, op)))
      return failure();
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<int64_t> order = {static_cast<int64_t>(op.getBatchDim()), static_cast<int64_t>(op.getLengthDim()),
                                  static_cast<int64_t>(op.getChannelDim())};
    SmallVector<int64_t> from = inOrder(shapeOf(adaptor.getInput()), order),
                         to = inOrder(shapeOf(op.getResult()), order);
    Image image{from[0], 1, from[1], from[2]}, result{to[0], 1, to[1], to[2]};
    ArrayRef<int64_t> weight = shapeOf(adaptor.getWeight());
    const int64_t channels = weight[0], length = weight[2];
    auto along = [&](Attribute attr) { return ints(attr, 1)[0]; };
    SmallVector<int32_t> sides = ints(op.getPadding(), 2);
    sides.resize(2, sides[0]);

    Value input = reshape(builder, permute(builder, adaptor.getInput(), order), image.flat());
    Value kernel = reshape(builder, adaptor.getWeight(), ArrayRef<int64_t>{channels, weight[1], 1, length});
    Value bias = flatBias(builder, adaptor.getBias(), channels);
    Value value = Conv2dOp::create(
        builder, typeLike(op.getResult(), result.flat()), input, kernel, bias, device, image.channels, channels,
        image.batch, image.height, image.width, ArrayRef<int32_t>{1, static_cast<int32_t>(length)},
        ArrayRef<int32_t>{1, along(op.getStride())}, ArrayRef<int32_t>{0, 0, sides[0], sides[1]},
        ArrayRef<int32_t>{1, along(op.getDilation())}, op.getGroups(), nullptr, nullptr, nullptr, nullptr);
    rewriter.replaceOp(op, unflatten(builder, value, to, order));
    return success();
  }
};
} // namespace

static Value makeVolumes(ImplicitLocOpBuilder &b, ttir::Conv3dOp op, RankedTensorType type, ValueRange operands,
                         ArrayRef<int64_t> shape, int64_t channels, ArrayRef<int32_t> kernel,
                         ArrayRef<int32_t> padding) {
  DenseI32ArrayAttr dilation = op.getDilation() ? b.getDenseI32ArrayAttr(ints(*op.getDilation(), 3)) : nullptr;
  return Conv3dOp::create(b, type, operands[0], operands[1], operands[2], operands[3], shape[4], channels, shape[0],
                          shape[1], shape[2], shape[3], kernel, ints(op.getStride(), 3), padding, dilation,
                          op.getPaddingMode(), op.getGroups(), nullptr, nullptr);
}

static Value makeVolumes(ImplicitLocOpBuilder &b, ttir::ConvTranspose3dOp op, RankedTensorType type,
                         ValueRange operands, ArrayRef<int64_t> shape, int64_t channels, ArrayRef<int32_t> kernel,
                         ArrayRef<int32_t> padding) {
  return ConvTranspose3dOp::create(b, type, operands[0], operands[1], operands[2], operands[3], shape[4], channels,
                                   shape[0], shape[1], shape[2], shape[3], kernel, ints(op.getStride(), 3), padding,
                                   ints(op.getOutputPadding(), 3), ints(op.getDilation(), 3), op.getGroups(), nullptr);
}

static LogicalResult checkPaddingMode(ConversionPatternRewriter &rewriter, ttir::Conv3dOp op) {
  if (op.getPaddingMode() == "zeros" || op.getPaddingMode() == "replicate")
    return success();
  return notifyMatchFailure(rewriter, op,
                            "padding_mode is '" + op.getPaddingMode() + "'; expected 'zeros' or 'replicate'");
}
static LogicalResult checkPaddingMode(ConversionPatternRewriter &, ttir::ConvTranspose3dOp) { return success(); }

namespace {
/// conv3d and conv_transpose3d, whose weights are [out, in / groups, depth, height, width] and [in, out / groups,
/// depth, height, width]. They are in row-major order: a tile would take the memory of 32 channels for those of one
/// pixel.
template <class OpT> struct LowerVolumes : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(checkPaddingMode(rewriter, op)) || failed(checkKinds(rewriter, op)))
      return failure();
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<int64_t> order;
    for (uint64_t dim : {op.getBatchDim(), op.getDepthDim(), op.getHeightDim(), op.getWidthDim(), op.getChannelDim()})
      order.push_back(dim);
    ArrayRef<int64_t> weight = shapeOf(adaptor.getWeight());
    const bool transposed = std::is_same_v<OpT, ttir::ConvTranspose3dOp>;
    const int64_t channels = transposed ? weight[1] * op.getGroupsAttr().getInt() : weight[0];
    Value volume = permute(builder, adaptor.getInput(), order);
    volume = ToLayoutOp::create(builder, inRows(typeOf(volume)), volume);
    ArrayRef<int64_t> shape = shapeOf(volume);
    Value kernel = weightInRows(builder, rewriter, adaptor.getWeight());
    Value bias = adaptor.getBias() ? reshape(builder, adaptor.getBias(), ArrayRef<int64_t>{1, channels}) : Value();

    // TTIR states padding before all dimensions, then after them; TTNN states both for each dimension.
    SmallVector<int32_t> padding = ints(op.getPadding(), 3);
    if (padding.size() == 6)
      padding = {padding[0], padding[3], padding[1], padding[4], padding[2], padding[5]};
    RankedTensorType type = typeLike(op.getResult(), inOrder(shapeOf(op.getResult()), order));
    Value value = makeVolumes(builder, op, inRows(type), {volume, kernel, bias, device}, shape, channels,
                              SmallVector<int32_t>(weight.drop_front(2)), padding);
    value = ToLayoutOp::create(builder, type, value);
    rewriter.replaceOp(op, permute(builder, value, inverse(order)));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

namespace {
/// The way windows slide over height and width. sides: top, bottom, left, right.
struct Sliding {
  SmallVector<int32_t> kernel, stride, dilation, sides;
};
} // namespace

/// The results, of these types, of a pool of flat images. `op` has the other attributes.
template <class To, class From>
static SmallVector<Value> slide(ImplicitLocOpBuilder &builder, From op, Value input, const Image &image,
                                const Sliding &windows, TypeRange types) {
  SmallVector<int32_t> sides = windows.sides;
  if (sides[0] == sides[1] && sides[2] == sides[3])
    sides = {sides[0], sides[2]};
  auto number = [&](int64_t value) { return builder.getSI32IntegerAttr(value); };
  auto array = [&](ArrayRef<int32_t> values) { return builder.getDenseI32ArrayAttr(values); };
  typename To::Properties properties;
  properties.batch_size = number(image.batch);
  properties.input_height = number(image.height);
  properties.input_width = number(image.width);
  properties.channels = number(image.channels);
  properties.kernel_size = array(windows.kernel);
  properties.stride = array(windows.stride);
  properties.dilation = array(windows.dilation);
  properties.padding = array(sides);
  properties.ceil_mode = op.getCeilModeAttr();
  if constexpr (std::is_same_v<To, AvgPool2dOp>)
    properties.count_include_pad = op.getCountIncludePadAttr();
  return To::create(builder, types, input, properties)->getResults();
}

namespace {
/// Pools of NHWC images; those with indices have a second result with the shape of the first.
template <class From, class To> struct LowerPool : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    ttir::FlattenedCompatInfoAttr info = op.getFlattenedCompatInfoAttr();
    Image image = imageOf(shapeOf(adaptor.getInput()), info);
    const Sliding windows{ints(op.getKernel(), 2), ints(op.getStride(), 2), ints(op.getDilation(), 2),
                          sidesOf(op.getPadding())};
    Value input = reshape(builder, adaptor.getInput(), image.flat());
    SmallVector<Type> types;
    for (OpResult result : op->getResults())
      types.push_back(info ? typeOf(result) : typeLike(result, imageOf(shapeOf(result), {}).flat()));
    SmallVector<Value> results;
    for (auto [created, result] :
         llvm::zip_equal(slide<To>(builder, op, input, image, windows, types), op->getResults()))
      results.push_back(reshape(builder, created, typeOf(result)));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Pools of NDHWC volumes, as two pools of images: over the rows and columns of each slice, and then over slices, in an
/// image with one row for each slice and one column for each position in it. Windows are boxes, so their sizes
/// multiply.
template <class From, class To> struct LowerPool3d : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    ArrayRef<int64_t> from = shapeOf(adaptor.getInput()), to = shapeOf(op->getResult(0));
    const SmallVector<int32_t> kernel = ints(op.getKernel(), 3), stride = ints(op.getStride(), 3),
                               dilation = ints(op.getDilation(), 3);
    SmallVector<int32_t> sides = ints(op.getPadding(), 3); // all before the dimensions, then all behind them
    if (sides.size() == 3)
      sides.append({sides[0], sides[1], sides[2]});
    const Sliding inSlices{{kernel[1], kernel[2]},
                           {stride[1], stride[2]},
                           {dilation[1], dilation[2]},
                           {sides[1], sides[4], sides[2], sides[5]}};
    const Sliding overSlices{{kernel[0], 1}, {stride[0], 1}, {dilation[0], 1}, {sides[0], sides[3], 0, 0}};
    const Image slices{from[0] * from[1], from[2], from[3], from[4]},
        pooledSlices{from[0] * from[1], to[2], to[3], to[4]}, columns{from[0], from[1], to[2] * to[3], to[4]},
        result{to[0], to[1], to[2] * to[3], to[4]};
    const auto types = [&](const Image &image) {
      return llvm::map_to_vector(op->getResults(),
                                 [&](OpResult value) -> Type { return typeLike(value, image.flat()); });
    };
    SmallVector<Value> parts = slide<To>(builder, op, reshape(builder, adaptor.getInput(), slices.flat()), slices,
                                         inSlices, types(pooledSlices));
    SmallVector<Value> results = slide<To>(builder, op, parts[0], columns, overSlices, types(result));
    if (results.size() > 1)
      results[1] = chosenPlaces(builder, device, parts[1], results[1], columns, result, from[2] * from[3]);
    for (auto [created, value] : llvm::zip_equal(results, op->getResults()))
      created = reshape(builder, created, typeOf(value));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// Returns, from the positions in each slice, those of the chosen slice, counted over slices of `area` positions.
  static Value chosenPlaces(ImplicitLocOpBuilder &builder, Value device, Value places, Value chosen,
                            const Image &columns, const Image &result, int64_t area) {
    RankedTensorType beginType = typeLike(places, {columns.height});
    beginType = withLayout(beginType, TTNNLayoutAttr::of(beginType).withMesh({}));
    Value begins = ArangeOp::create(builder, beginType, device, /*start=*/int64_t(0), /*end=*/columns.height * area,
                                    /*step=*/area, /*dtype=*/nullptr);
    begins = reshape(builder, begins, ArrayRef<int64_t>{1, columns.height, 1, 1});
    places =
        reshape(builder, places, ArrayRef<int64_t>{columns.batch, columns.height, columns.width, columns.channels});
    places = make<AddOp>(builder, typeOf(places), {places, begins});
    const auto lines = [&](Value value, const Image &image) {
      return reshape(builder, value, ArrayRef<int64_t>{image.batch, image.height * image.width, image.channels});
    };
    places = lines(places, columns);
    chosen = lines(chosen, result);
    return GatherOp::create(builder, typeOf(chosen), places, chosen, builder.getSI32IntegerAttr(1));
  }
};
} // namespace

void ttnn::addWindowPatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerConv1d, LowerConv<ttir::Conv2dOp>, LowerConv<ttir::ConvTranspose2dOp>, LowerVolumes<ttir::Conv3dOp>,
           LowerVolumes<ttir::ConvTranspose3dOp>, LowerPool<ttir::AvgPool2dOp, AvgPool2dOp>,
           LowerPool<ttir::MaxPool2dOp, MaxPool2dOp>, LowerPool<ttir::MaxPool2dWithIndicesOp, MaxPool2dWithIndicesOp>,
           LowerPool3d<ttir::AvgPool3dOp, AvgPool2dOp>, LowerPool3d<ttir::MaxPool3dOp, MaxPool2dOp>,
           LowerPool3d<ttir::MaxPool3dWithIndicesOp, MaxPool2dWithIndicesOp>>(patterns.getContext());
}
