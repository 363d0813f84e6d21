//===- Convolution.cpp - lowering of StableHLO convolutions ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/Conv1dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReverseOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// A convolution over one to three dimensions; Expand/Convolutions.cpp converts other forms to these. A convolution of
/// a dilated input is a transposed convolution, whose windows are placed over the result: its kernel is reversed, and
/// the padding that a whole window lacks is cut off.
class Convolution {
public:
  Convolution(ConversionPatternRewriter &rewriter, stablehlo::ConvolutionOp op)
      : rewriter(rewriter), op(op), dims(op.getDimensionNumbers()), spatial(dims.getInputSpatialDimensions()),
        rank(spatial.size()), groups(op.getFeatureGroupCount()), padding(2 * rank, 0),
        dilation(orOnes(op.getRhsDilation())), stride(orOnes(op.getWindowStrides())) {
    if (op.getPadding())
      llvm::copy(op.getPadding()->getValues<int64_t>(), padding.begin());
    SmallVector<int64_t> spread = orOnes(op.getLhsDilation());
    if (!isPlain(spread)) {
      transposed = true;
      stride.swap(spread);
      steps = spread;
    }
  }

  LogicalResult lower(Value input, Value kernel) {
    if (failed(check()) || (transposed && failed(cutPadding())) || failed(checkSizes()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    kernel = makeKernel(builder, kernel);
    // The result has the input's order of dimensions; `toResult` permutes them.
    SmallVector<int64_t> toResult(rank + 2), shape(rank + 2);
    toResult[dims.getOutputBatchDimension()] = dims.getInputBatchDimension();
    toResult[dims.getOutputFeatureDimension()] = dims.getInputFeatureDimension();
    for (auto [from, to] : llvm::zip_equal(spatial, dims.getOutputSpatialDimensions()))
      toResult[to] = from;
    RankedTensorType type = typeOf(op.getResult());
    for (auto [to, from] : llvm::enumerate(toResult))
      shape[from] = type.getDimSize(to);
    return replace(rewriter, op, permute(builder, makeOp(builder, type.clone(shape), input, kernel), toResult));
  }

private:
  static bool isPlain(ArrayRef<int64_t> steps) {
    return llvm::all_of(steps, [](int64_t step) { return step == 1; });
  }

  /// An attribute that may be absent, which means 1 everywhere.
  SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> attr) const {
    return attr ? SmallVector<int64_t>(*attr) : SmallVector<int64_t>(rank, 1);
  }

  LogicalResult check() {
    if (rank < 1 || rank > 3)
      return notifyMatchFailure(rewriter, op, "it has " + Twine(rank) + " spatial dimensions; 1 to 3 are lowered");
    if (op.getBatchGroupCount() != 1)
      return notifyMatchFailure(rewriter, op, "batch groups are not lowered");
    if (transposed && rank < 2)
      return notifyMatchFailure(
          rewriter, op, "its input is dilated over 1 dimension; transposed convolutions are lowered over 2 or 3");
    if (transposed && !isPlain(steps))
      return notifyMatchFailure(rewriter, op,
                                "its input is dilated and its window has strides; expected one of the two");
    if (!transposed && llvm::any_of(padding, [](int64_t size) { return size < 0; }))
      return notifyMatchFailure(rewriter, op, "negative padding is not lowered");
    return success();
  }

  LogicalResult checkSizes() {
    for (ArrayRef<int64_t> numbers : {padding, dilation, stride, extra})
      if (failed(checkNarrow(rewriter, op, numbers)))
        return failure();
    return checkNarrow(rewriter, op, {groups});
  }

  /// [out, in / groups, window...], or transposed [in, out / groups, window...].
  Value makeKernel(ImplicitLocOpBuilder &builder, Value kernel) {
    SmallVector<int64_t> order = {dims.getKernelOutputFeatureDimension(), dims.getKernelInputFeatureDimension()};
    llvm::append_range(order, dims.getKernelSpatialDimensions());
    if (transposed && groups == 1)
      std::swap(order[0], order[1]);
    kernel = permute(builder, kernel, order);
    SmallVector<int64_t> shape(typeOf(kernel).getShape()), turned;
    for (int64_t d = 0; d < rank; ++d)
      if (shape[2 + d] > 1 && (op.getWindowReversal() && (*op.getWindowReversal())[d]) != transposed)
        turned.push_back(2 + d);
    if (!turned.empty())
      kernel = ttir::ReverseOp::create(builder, kernel.getType(), kernel, turned);
    if (!transposed || groups == 1)
      return kernel;
    // The channels change places within each group. The input has as many channels as the result would have.
    SmallVector<int64_t> apart = {groups, shape[0] / groups}, places = {0, 2, 1},
                         joined = {groups * shape[1], apart[1]};
    for (int64_t d = 1; d < rank + 2; ++d)
      apart.push_back(shape[d]);
    for (int64_t d = 0; d < rank; ++d) {
      places.push_back(3 + d);
      joined.push_back(shape[2 + d]);
    }
    return reshape(builder, permute(builder, reshape(builder, kernel, apart), places), joined);
  }

  /// Padding as a transposed convolution has it: the amount cut off the full result; beyond that, `extra` after it.
  LogicalResult cutPadding() {
    ArrayRef<int64_t> kernel = typeOf(op.getRhs()).getShape();
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t reach = dilation[d] * (kernel[dims.getKernelSpatialDimensions()[d]] - 1);
      int64_t &low = padding[2 * d], &high = padding[2 * d + 1];
      if (low > reach)
        return notifyMatchFailure(rewriter, op,
                                  "its input is dilated and padded by " + Twine(low) + " where the window reaches " +
                                      Twine(reach) + "; no more is lowered");
      low = reach - low;
      extra.push_back(std::max<int64_t>(high - reach, 0));
      high = std::max<int64_t>(reach - high, 0);
    }
    return success();
  }

  Value makeOp(ImplicitLocOpBuilder &builder, RankedTensorType type, Value input, Value kernel) const {
    auto array = [&](ArrayRef<int64_t> values) { return builder.getDenseI32ArrayAttr(narrow(values)); };
    // All paddings before the dimensions, then those after them.
    SmallVector<int64_t> sides;
    for (int64_t side : {0, 1})
      for (int64_t d = 0; d < rank; ++d)
        sides.push_back(padding[2 * d + side]);
    const uint64_t batch = dims.getInputBatchDimension(), channel = dims.getInputFeatureDimension();
    const uint32_t parts = groups;
    const Value noBias;
    if (transposed && rank == 3)
      return ttir::ConvTranspose3dOp::create(builder, type, input, kernel, noBias, array(stride), array(sides),
                                             array(extra), array(dilation), parts, batch, spatial[0], spatial[1],
                                             spatial[2], channel);
    if (transposed)
      return ttir::ConvTranspose2dOp::create(builder, type, input, kernel, noBias, array(stride), array(sides),
                                             array(extra), array(dilation), parts, batch, spatial[0], spatial[1],
                                             channel, /*flattened_compat_info=*/nullptr);
    if (rank == 1)
      return ttir::Conv1dOp::create(builder, type, input, kernel, noBias, array(stride), array(sides), array(dilation),
                                    parts, batch, spatial[0], channel);
    if (rank == 2)
      return ttir::Conv2dOp::create(builder, type, input, kernel, noBias, array(stride), array(sides), array(dilation),
                                    parts, batch, spatial[0], spatial[1], channel, /*flattened_compat_info=*/nullptr);
    return ttir::Conv3dOp::create(builder, type, input, kernel, noBias, array(stride), array(sides),
                                  isPlain(dilation) ? Attribute() : array(dilation), parts, batch, spatial[0],
                                  spatial[1], spatial[2], channel);
  }

  ConversionPatternRewriter &rewriter;
  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr dims;
  ArrayRef<int64_t> spatial;
  int64_t rank, groups;
  SmallVector<int64_t> padding, dilation, stride;
  SmallVector<int64_t> steps, extra; // of a transposed one: of the window, and what is added to the result
  bool transposed = false;
};

struct LowerConvolution : OpConversionPattern<stablehlo::ConvolutionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return Convolution(rewriter, op).lower(adaptor.getLhs(), adaptor.getRhs());
  }
};
} // namespace

void hlo::addConvolutionPatterns(RewritePatternSet &patterns) { patterns.add<LowerConvolution>(patterns.getContext()); }
