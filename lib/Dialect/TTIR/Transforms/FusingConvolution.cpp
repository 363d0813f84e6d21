//===- FusingConvolution.cpp - fusion of biases and scales into convolutions -===//

#include "Fusing.h"

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
// Bias
//===----------------------------------------------------------------------===//

static LogicalResult fuseBias(Operation *add, Fuser &fuser) {
  for (unsigned i : {0, 1}) {
    Value image = add->getOperand(i), bias = add->getOperand(1 - i);
    Operation *conv = fuser.only<Conv2dOp>(image);
    if (!conv)
      conv = fuser.only<ConvTranspose2dOp>(image);
    if (!conv || conv->getNumOperands() != 2 || !haveSameType(image, add->getResult(0)) || !isPerChannel(bias, conv))
      continue;
    Value shaped = fuser.reshape(add, bias, biasShape(conv));
    return fuser.replace(add, conv->getName().stripDialect(), {conv->getOperand(0), conv->getOperand(1), shaped},
                         attributesOf(conv));
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Scale
//===----------------------------------------------------------------------===//

namespace {
/// Channels that are scaled and shifted, by a convolution or by themselves. What is computed of constants is f32.
class ScaledChannels {
public:
  ScaledChannels(Fuser &fuser, Operation *root, Conv2dOp conv, int64_t channels)
      : fuser(fuser), root(root), conv(conv), channels(channels) {}

  /// One value for each channel, in f32.
  Value operator()(StringRef name, ValueRange operands) {
    return fuser.make(root, name, operands, RankedTensorType::get({channels}, Float32Type::get(root->getContext())));
  }
  Value vector(Value value) { return fuser.reshape(root, value, channels); }
  Value bias() { return conv && conv.getBias() ? vector(conv.getBias()) : Value(); }

  /// The convolution with other weights and another bias instead of the root. The bias stays f32: it is as large as the
  /// mean, which may be much more than what the sum with it leaves.
  LogicalResult replaceByConvolution(Value scale, Value shift) {
    RankedTensorType type = tensorType(conv.getWeight());
    // As a matrix, for tiles of small kernels would be mostly padding.
    int64_t rest = channels == 0 ? 0 : type.getNumElements() / channels;
    Value rows = fuser.reshape(root, conv.getWeight(), {channels, rest});
    Value scaled = fuser.make(root, "multiply", {rows, fuser.reshape(root, scale, {channels, 1})}, rows.getType());
    SmallVector<Value> operands = {conv.getInput(), fuser.reshape(root, scaled, type.getShape())};
    if (shift)
      operands.push_back(fuser.reshape(root, shift, biasShape(conv)));
    return fuser.replace(root, "conv2d", operands, attributesOf(conv));
  }

  /// image * scale + shift instead of the root, rounded once.
  LogicalResult replaceByProduct(Value image, int64_t dimension, Value scale, Value shift) {
    SmallVector<int64_t> shape(tensorType(image).getRank(), 1);
    shape[dimension] = channels;
    Value scaled = fuser.make(root, "multiply", {image, fuser.reshape(root, scale, shape)},
                              RankedTensorType::get(tensorType(image).getShape(), tensorType(scale).getElementType()));
    return fuser.replace(root, "add", {scaled, fuser.reshape(root, shift, shape)}, {});
  }

private:
  Fuser &fuser;
  Operation *root;
  Conv2dOp conv;
  int64_t channels;
};
} // namespace

/// The convolution that makes `image`, if its weight and bias are constants that can be scaled ahead.
static Conv2dOp scalable(Value image, Fuser &fuser) {
  auto conv = fuser.only<Conv2dOp>(image);
  auto isFixed = [&](Value value) { return !tensorType(value).getEncoding() && fuser.isConstant(value); };
  return conv && isFixed(conv.getWeight()) && (!conv.getBias() || isFixed(conv.getBias())) ? conv : Conv2dOp();
}

/// (image - mean) / sqrt(variance + epsilon) * scale + offset
static LogicalResult fuseBatchNorm(Operation *root, Fuser &fuser) {
  auto norm = cast<BatchNormInferenceOp>(root);
  RankedTensorType type = tensorType(norm.getOperand());
  if (!haveSameType(norm.getOperand(), norm.getResult()) || type.getEncoding())
    return failure();
  int64_t dimension = static_cast<int32_t>(norm.getDimension());
  if (dimension < 0)
    dimension += type.getRank();
  Conv2dOp conv = scalable(norm.getOperand(), fuser);
  if (conv && dimension != channelDim(conv))
    conv = {};
  for (Value part : root->getOperands().drop_front())
    if (tensorType(part).getEncoding() || !fuser.isConstant(part))
      return failure();

  ScaledChannels scaled(fuser, root, conv, type.getShape()[dimension]);
  auto real = RankedTensorType::get({1}, Float32Type::get(root->getContext()));
  Value epsilon = fuser.make(root, "constant", {}, real,
                             fuser.attr("value", DenseElementsAttr::get(real, norm.getEpsilonAttr().getValue())));
  Value variance = scaled("add", {scaled.vector(norm.getVariance()), epsilon});
  Value scale = scaled("multiply", {scaled("rsqrt", variance), scaled.vector(norm.getScale())});
  Value mean = scaled.vector(norm.getMean()), offset = scaled.vector(norm.getOffset());
  Value bias = scaled.bias();
  Value shift = bias ? scaled("add", {scaled("multiply", {scaled("subtract", {bias, mean}), scale}), offset})
                     : scaled("subtract", {offset, scaled("multiply", {mean, scale})});
  return conv ? scaled.replaceByConvolution(scale, shift)
              : scaled.replaceByProduct(norm.getOperand(), dimension, scale, shift);
}

/// conv * scale
static LogicalResult fuseMultiply(Operation *multiply, Fuser &fuser) {
  if (!fuser.options.conv2dWithMultiplyEnabled)
    return failure();
  for (unsigned i : {0, 1}) {
    Value image = multiply->getOperand(i), scale = multiply->getOperand(1 - i);
    Conv2dOp conv = scalable(image, fuser);
    if (!conv || !haveSameType(image, multiply->getResult(0)) || !isPerChannel(scale, conv) || !fuser.isConstant(scale))
      continue;
    ScaledChannels scaled(fuser, multiply, conv, tensorType(conv.getWeight()).getShape()[0]);
    Value factors = scaled.vector(scale), bias = scaled.bias();
    return scaled.replaceByConvolution(factors, bias ? scaled("multiply", {bias, factors}) : Value());
  }
  return failure();
}

void ttir::addConvolutionFusions(Fusions &fusions) {
  fusions["add"].push_back(fuseBias);
  fusions["batch_norm_inference"].push_back(fuseBatchNorm);
  fusions["multiply"].push_back(fuseMultiply);
}
