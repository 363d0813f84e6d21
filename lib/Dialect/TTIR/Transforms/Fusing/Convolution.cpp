//===- Convolution.cpp - fusion of biases and scales into convolutions ----===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/DataMovementOps.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormInferenceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RsqrtOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// Attributes of a convolution, for another one.
static SmallVector<NamedAttribute> attributesOf(Operation *conv) { return llvm::to_vector(conv->getAttrs()); }

static int64_t channelDim(Operation *conv) {
  int64_t dim = conv->getAttrOfType<IntegerAttr>("channel_dim").getInt();
  return dim < 0 ? dim + tensorType(conv->getResult(0)).getRank() : dim;
}

/// One value for each channel of the result.
static bool isPerChannel(Value value, Operation *conv) {
  RankedTensorType type = tensorType(value), result = tensorType(conv->getResult(0));
  int64_t channels = channelDim(conv), missing = result.getRank() - type.getRank();
  if (missing > channels || missing < 0 || type.getEncoding())
    return false;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (size != (static_cast<int64_t>(dim) + missing == channels ? result.getShape()[channels] : 1))
      return false;
  return true;
}

static SmallVector<int64_t> biasShape(Operation *conv) {
  SmallVector<int64_t> shape(tensorType(conv->getResult(0)).getRank(), 1);
  shape.back() = tensorType(conv->getResult(0)).getShape()[channelDim(conv)];
  return shape;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

std::array<int64_t, 4> ttir::imageSides(Attribute padding) {
  if (auto number = dyn_cast<IntegerAttr>(padding))
    return {number.getInt(), number.getInt(), number.getInt(), number.getInt()};
  ArrayRef<int32_t> sizes = cast<DenseI32ArrayAttr>(padding).asArrayRef();
  if (sizes.size() == 2)
    return {sizes[0], sizes[1], sizes[0], sizes[1]};
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

namespace {
/// conv2d(pad(image)) if the pad adds zeros to height and width.
struct FusePadding : Fusion<Conv2dOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(Conv2dOp conv, PatternRewriter &rewriter) const override {
    auto pad = state.passed<PadOp>(conv.getInput());
    if (!pad || conv.getFlattenedCompatInfoAttr())
      return rewriter.notifyMatchFailure(conv, "is not of a padded image");
    if (!pad.getValue().isZero() || tensorType(pad.getInput()).getElementType() != tensorType(pad).getElementType())
      return rewriter.notifyMatchFailure(pad, "is not filled with zeros");
    const unsigned height = conv.getHeightDim(), width = conv.getWidthDim();
    ArrayRef<int32_t> sizes = pad.getPadding();
    if (llvm::any_of(sizes, [](int32_t size) { return size < 0; }))
      return rewriter.notifyMatchFailure(pad, "takes pixels away");
    std::array<int64_t, 4> sides = imageSides(conv.getPadding());
    for (unsigned dim = 0; dim < sizes.size() / 2; ++dim) {
      const int32_t before = sizes[2 * dim], after = sizes[2 * dim + 1];
      if (dim != height && dim != width && (before != 0 || after != 0))
        return rewriter.notifyMatchFailure(pad, "adds more than pixels");
      if (dim == height || dim == width) {
        sides[dim == width] += before;
        sides[2 + (dim == width)] += after;
      }
    }
    if (llvm::any_of(sides, [](int64_t size) { return !llvm::isInt<32>(size); }))
      return rewriter.notifyMatchFailure(pad, "adds more than 32 bits count");
    SmallVector<int32_t> total(sides.begin(), sides.end());
    rewriter.modifyOpInPlace(conv, [&] {
      conv.setPaddingAttr(rewriter.getDenseI32ArrayAttr(total));
      conv.getInputMutable().assign(pad.getInput());
    });
    state.released(pad);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

namespace {
struct FuseConvolutionBias : Fusion<AddOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value image = add->getOperand(i), bias = add->getOperand(1 - i);
      if (!haveSameType(image, add.getResult()))
        continue;
      if (auto conv = state.only<Conv2dOp>(image); conv && succeeded(replace(add, conv, bias, rewriter)))
        return success();
      if (auto conv = state.only<ConvTranspose2dOp>(image); conv && succeeded(replace(add, conv, bias, rewriter)))
        return success();
    }
    return rewriter.notifyMatchFailure(add, "adds no values of channels to a convolution that nothing else uses");
  }

private:
  template <class Op> static LogicalResult replace(AddOp add, Op conv, Value bias, PatternRewriter &rewriter) {
    if (conv.getBias() || !isPerChannel(bias, conv) || !ttcore::mayJoin(add, conv))
      return failure();
    Value shaped = reshape(rewriter, add, bias, biasShape(conv));
    rewriter.replaceOpWithNewOp<Op>(add, TypeRange(add.getType()),
                                    ValueRange{conv.getInput(), conv.getWeight(), shaped}, attributesOf(conv));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Scale
//===----------------------------------------------------------------------===//

namespace {
/// Channels that are scaled and shifted, by a convolution or by separate ops. Values computed from constants are f32.
class ScaledChannels {
public:
  ScaledChannels(PatternRewriter &rewriter, Operation *root, Conv2dOp conv, int64_t channels)
      : rewriter(rewriter), root(root), conv(conv), channels(channels),
        loc(ttcore::withoutSourceNumber(root->getLoc())) {}

  /// One value for each channel, in f32.
  template <class Op> Value compute(ValueRange operands) {
    auto type = RankedTensorType::get({channels}, rewriter.getF32Type());
    return Op::create(rewriter, loc, TypeRange(type), operands)->getResult(0);
  }
  Value vector(Value value) { return reshape(rewriter, root, value, channels); }
  Value bias() { return conv && conv.getBias() ? vector(conv.getBias()) : Value(); }

  /// Replaces the root by the convolution with other weights and another bias. The bias stays f32: it is as large as
  /// the mean, which may be much more than the remainder of the sum with it.
  void replaceByConvolution(Value scale, Value shift) {
    RankedTensorType type = tensorType(conv.getWeight());
    // As a matrix, because tiles of small kernels would be mostly padding.
    int64_t rest = channels == 0 ? 0 : type.getNumElements() / channels;
    Value rows = reshape(rewriter, root, conv.getWeight(), {channels, rest});
    Value scaled =
        MultiplyOp::create(rewriter, loc, rows.getType(), rows, reshape(rewriter, root, scale, {channels, 1}));
    SmallVector<Value> operands = {conv.getInput(), reshape(rewriter, root, scaled, type.getShape())};
    if (shift)
      operands.push_back(reshape(rewriter, root, shift, biasShape(conv)));
    rewriter.replaceOpWithNewOp<Conv2dOp>(root, TypeRange(root->getResultTypes()), ValueRange(operands),
                                          attributesOf(conv));
  }

  /// Replaces the root by image * scale + shift, rounded once.
  void replaceByProduct(Value image, int64_t dimension, Value scale, Value shift) {
    SmallVector<int64_t> shape(tensorType(image).getRank(), 1);
    shape[dimension] = channels;
    auto type = RankedTensorType::get(tensorType(image).getShape(), tensorType(scale).getElementType());
    auto scaled = MultiplyOp::create(rewriter, loc, type, image, reshape(rewriter, root, scale, shape));
    ttcore::passRequestsOn(root, scaled);
    rewriter.replaceOpWithNewOp<AddOp>(root, root->getResult(0).getType(), scaled,
                                       reshape(rewriter, root, shift, shape));
  }

private:
  PatternRewriter &rewriter;
  Operation *root;
  Conv2dOp conv;
  int64_t channels;
  Location loc;
};

/// The convolution that produces `image`, if its weight and bias are constants that can be scaled ahead, for `op`.
Conv2dOp scalable(Operation *op, Value image, FusionState &state) {
  auto conv = state.only<Conv2dOp>(image);
  if (conv && !ttcore::mayJoin(op, conv))
    return {};
  auto isFixed = [&](Value value) { return !tensorType(value).getEncoding() && state.isConstant(value); };
  return conv && isFixed(conv.getWeight()) && (!conv.getBias() || isFixed(conv.getBias())) ? conv : Conv2dOp();
}

/// (image - mean) / sqrt(variance + epsilon) * scale + offset
struct FuseBatchNorm : Fusion<BatchNormInferenceOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(BatchNormInferenceOp norm, PatternRewriter &rewriter) const override {
    RankedTensorType type = tensorType(norm.getOperand());
    if (!haveSameType(norm.getOperand(), norm.getResult()) || type.getEncoding())
      return rewriter.notifyMatchFailure(norm, "the image changes its type");
    for (Value part : norm->getOperands().drop_front())
      if (tensorType(part).getEncoding() || !state.isConstant(part))
        return rewriter.notifyMatchFailure(norm, "the statistics are not constant");
    int64_t dimension = static_cast<int32_t>(norm.getDimension());
    if (dimension < 0)
      dimension += type.getRank();
    Conv2dOp conv = scalable(norm, norm.getOperand(), state);
    if (conv && dimension != channelDim(conv))
      conv = {};

    ScaledChannels scaled(rewriter, norm, conv, type.getShape()[dimension]);
    auto real = RankedTensorType::get({1}, rewriter.getF32Type());
    Value epsilon = ttir::ConstantOp::create(rewriter, ttcore::withoutSourceNumber(norm.getLoc()), real,
                                             DenseElementsAttr::get(real, norm.getEpsilonAttr().getValue()));
    Value variance = scaled.compute<AddOp>({scaled.vector(norm.getVariance()), epsilon});
    Value scale = scaled.compute<MultiplyOp>({scaled.compute<RsqrtOp>(variance), scaled.vector(norm.getScale())});
    Value mean = scaled.vector(norm.getMean()), offset = scaled.vector(norm.getOffset());
    Value bias = scaled.bias(), shift;
    if (bias) {
      Value centred = scaled.compute<SubtractOp>({bias, mean});
      shift = scaled.compute<AddOp>({scaled.compute<MultiplyOp>({centred, scale}), offset});
    } else {
      shift = scaled.compute<SubtractOp>({offset, scaled.compute<MultiplyOp>({mean, scale})});
    }
    if (conv)
      scaled.replaceByConvolution(scale, shift);
    else
      scaled.replaceByProduct(norm.getOperand(), dimension, scale, shift);
    return success();
  }
};

/// conv * scale
struct FuseMultiply : Fusion<MultiplyOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MultiplyOp multiply, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value image = multiply->getOperand(i), scale = multiply->getOperand(1 - i);
      Conv2dOp conv = scalable(multiply, image, state);
      if (!conv || !haveSameType(image, multiply.getResult()) || !isPerChannel(scale, conv) || !state.isConstant(scale))
        continue;
      ScaledChannels scaled(rewriter, multiply, conv, tensorType(conv.getWeight()).getShape()[0]);
      Value factors = scaled.vector(scale), bias = scaled.bias();
      scaled.replaceByConvolution(factors, bias ? scaled.compute<MultiplyOp>({bias, factors}) : Value());
      return success();
    }
    return rewriter.notifyMatchFailure(multiply, "scales no channels of a convolution by constants");
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

/// Whether one number, or each of several, is this.
static bool isAll(Attribute numbers, int64_t expected) {
  if (auto number = dyn_cast<IntegerAttr>(numbers))
    return number.getInt() == expected;
  return llvm::all_of(cast<DenseI32ArrayAttr>(numbers).asArrayRef(), [&](int32_t each) { return each == expected; });
}

namespace {
/// A conv3d of single voxels is a product of the channels with a matrix.
struct FusePointwise : Fusion<Conv3dOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(Conv3dOp conv, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> kernel = tensorType(conv.getWeight()).getShape();
    if (conv.getGroups() != 1 || !isAll(conv.getStride(), 1) || !isAll(conv.getPadding(), 0) || kernel.size() != 5 ||
        kernel.drop_front(2) != ArrayRef<int64_t>({1, 1, 1}) || tensorType(conv.getInput()).getEncoding() ||
        tensorType(conv.getWeight()).getEncoding())
      return rewriter.notifyMatchFailure(conv, "is not of single voxels");
    SmallVector<int64_t> order, inverse(5);
    for (uint64_t dim :
         {conv.getBatchDim(), conv.getDepthDim(), conv.getHeightDim(), conv.getWidthDim(), conv.getChannelDim()}) {
      inverse[dim] = order.size();
      order.push_back(dim);
    }
    const Location loc = conv.getLoc(), own = ttcore::withoutSourceNumber(loc);
    Value input =
        move(rewriter, own, Movement::permutation(tensorType(conv.getInput()).getShape(), order), conv.getInput());
    SmallVector<Value> operands = {input, reshape(rewriter, conv, conv.getWeight(), kernel.take_front(2))};
    if (conv.getBias())
      operands.push_back(reshape(rewriter, conv, conv.getBias(), kernel[0]));
    SmallVector<int64_t> ordered = Movement::permutation(conv.getType().getShape(), order).to;
    Movement back = Movement::permutation(ordered, inverse);
    NamedAttribute transpose = rewriter.getNamedAttr("transpose_b", rewriter.getBoolAttr(true));
    auto product = LinearOp::create(rewriter, back.isIdentity() ? loc : own, TypeRange(conv.getType().clone(ordered)),
                                    ValueRange(operands), ArrayRef(transpose));
    ttcore::passAnnotationsOn(conv, product);
    rewriter.replaceOp(conv, move(rewriter, loc, back, product));
    return success();
  }
};
} // namespace

void ttir::populateConvolutionFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FusePadding, FuseConvolutionBias, FuseBatchNorm, FusePointwise>(patterns.getContext(), state);
  if (state.options.conv2dWithMultiplyEnabled)
    patterns.add<FuseMultiply>(patterns.getContext(), state);
}
