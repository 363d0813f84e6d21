//===- TTIRFolds.cpp - folds and canonical forms of TTIR ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../../Families/Rules.h"

#include "ttmlir/Dialect/TTIR/IR/DataMovementOps.h"
#include "ttmlir/Dialect/TTIR/IR/TTIROps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

namespace {
struct Ops : DataMovementOps {
  using DataMovementOps::agree;
  /// Casts change the element type alone.
  static bool agree(RankedTensorType from, RankedTensorType to, bool) { return agree(from, to); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
OpFoldResult ZerosOp::fold(FoldAdaptor) { return folds::filled(getType(), 0.0); }
OpFoldResult OnesOp::fold(FoldAdaptor) { return folds::filled(getType(), 1.0); }
OpFoldResult FullOp::fold(FoldAdaptor) { return folds::filled(getType(), getFillValue()); }

/// The number of a `full` that fills a tensor of an element type with the value of one of its elements, or null.
static Attribute fillValueOf(Attribute element, Type type) {
  auto typed = dyn_cast_or_null<TypedAttr>(element);
  if (!typed || typed.getType() != type || !type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 32)
    return {};
  Builder builder(type.getContext());
  if (auto real = dyn_cast<FloatAttr>(element))
    return builder.getF32FloatAttr(static_cast<float>(real.getValueAsDouble()));
  auto integer = cast<IntegerAttr>(element);
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  int64_t value =
      isUnsigned ? static_cast<int64_t>(integer.getValue().getZExtValue()) : integer.getValue().getSExtValue();
  return llvm::isInt<32>(value) ? builder.getI32IntegerAttr(value) : Attribute();
}

static Value createFull(OpBuilder &builder, Location loc, RankedTensorType type, Attribute number) {
  SmallVector<int32_t> shape(type.getShape().begin(), type.getShape().end());
  return FullOp::create(builder, loc, type, builder.getDenseI32ArrayAttr(shape), number);
}

Operation *TTIRDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  // A constant may be declared with an element type that cannot hold it.
  if (!elements || !tensor || elements.getShapedType().getShape() != tensor.getShape())
    return nullptr;
  if (Attribute number = fillValueOf(folds::splatOf(value), tensor.getElementType()))
    return createFull(builder, loc, tensor, number).getDefiningOp();
  return elements.getType() == type ? ConstantOp::create(builder, loc, type, elements) : nullptr;
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) { return folds::movement<Ops>(*this, adaptor.getInput()); }
OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) { return folds::movement<Ops>(*this, adaptor.getInput()); }
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) { return folds::movement<Ops>(*this, adaptor.getInput()); }
OpFoldResult SqueezeOp::fold(FoldAdaptor adaptor) { return folds::movement<Ops>(*this, adaptor.getInput()); }
OpFoldResult UnsqueezeOp::fold(FoldAdaptor adaptor) { return folds::movement<Ops>(*this, adaptor.getInput()); }

OpFoldResult SliceStaticOp::fold(FoldAdaptor adaptor) { return folds::slice(*this, adaptor.getInput()); }
OpFoldResult IndexOp::fold(FoldAdaptor) { return folds::sameType(*this); }
OpFoldResult ConcatOp::fold(FoldAdaptor) { return folds::concat(*this); }
OpFoldResult PadOp::fold(FoldAdaptor adaptor) { return folds::pad(*this, adaptor.getInput()); }
OpFoldResult RepeatOp::fold(FoldAdaptor adaptor) { return folds::repetition(*this, adaptor.getInput()); }
OpFoldResult RepeatInterleaveOp::fold(FoldAdaptor adaptor) { return folds::repetition(*this, adaptor.getInput()); }
OpFoldResult Upsample2dOp::fold(FoldAdaptor) { return folds::sameType(*this); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  RankedTensorType from = folds::tensorType(getInput());
  if (OpFoldResult same = folds::forward(getResult(), getInput()))
    return same;
  // Copies of copies are copies of the first tensor.
  if (auto inner = getInput().getDefiningOp<BroadcastOp>();
      inner && folds::elementType(inner.getInput()) == from.getElementType() &&
      folds::mayReplace(getInput(), inner.getInput())) {
    SmallVector<int64_t> times(getBroadcastDimensions());
    for (auto [time, more] : llvm::zip_equal(times, inner.getBroadcastDimensions()))
      time *= more;
    setBroadcastDimensions(times);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  folds::View view{0, folds::rowMajor(from.getShape())};
  for (auto [stride, size] : llvm::zip_equal(view.strides, from.getShape()))
    stride = size == 1 ? 0 : stride;
  return folds::viewOf(adaptor.getInput(), getInput(), getResult(), view);
}

/// The reversed dimensions, counted from the first one, in order.
static SmallVector<int64_t> reversedDims(ReverseOp op) {
  int64_t rank = op.getType().getRank();
  SmallVector<int64_t> dims =
      llvm::map_to_vector(op.getDimensions(), [&](int64_t dim) { return dim < 0 ? dim + rank : dim; });
  llvm::sort(dims);
  return dims;
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  RankedTensorType type = folds::tensorType(getInput());
  SmallVector<int64_t> dims = reversedDims(*this);
  if (llvm::all_of(dims, [&](int64_t dim) { return type.getDimSize(dim) <= 1; }))
    if (OpFoldResult same = folds::forward(getResult(), getInput()))
      return same;
  if (auto inner = getInput().getDefiningOp<ReverseOp>(); inner && inner.getInput().getType() == getInput().getType() &&
                                                          dims == reversedDims(inner) &&
                                                          folds::mayReplace(getInput(), inner.getInput()))
    if (OpFoldResult same = folds::forward(getResult(), inner.getInput()))
      return same;
  folds::View view{0, folds::rowMajor(type.getShape())};
  for (int64_t dim : dims) {
    view.offset += (type.getDimSize(dim) - 1) * view.strides[dim];
    view.strides[dim] = -view.strides[dim];
  }
  return folds::viewOf(adaptor.getInput(), getInput(), getResult(), view);
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  int64_t dimension = shapes::signedInt(getDimension());
  int64_t size = type.getDimSize(dimension < 0 ? dimension + type.getRank() : dimension);
  DenseElementsAttr number = folds::filled(getType(), static_cast<double>(size));
  return !ShapedType::isDynamic(size) && number.getType() == getType() && size <= (1 << 24) ? OpFoldResult(number)
                                                                                            : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Casts, layouts, windows, reductions
//===----------------------------------------------------------------------===//

OpFoldResult TypecastOp::fold(FoldAdaptor) { return folds::typecast<Ops>(*this); }

LogicalResult ToLayoutOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getNumResults() != 1 || getLayoutAttr())
    return failure();
  OpFoldResult same = folds::forward(getResult(0), getInput());
  if (!same)
    return failure();
  results.push_back(same);
  return success();
}

/// The maximum of adjacent windows of one value; an average adds each to 0.0, which changes -0.0. Sizes are one number,
/// or one for each edge or dimension.
static OpFoldResult window(Operation *op, Attribute kernel, Attribute stride, Attribute padding) {
  auto areAll = [](Attribute sizes, int64_t expected) {
    if (auto one = dyn_cast<IntegerAttr>(sizes))
      return one.getInt() == expected;
    return llvm::all_of(cast<DenseI32ArrayAttr>(sizes).asArrayRef(), [&](int32_t size) { return size == expected; });
  };
  return areAll(kernel, 1) && areAll(stride, 1) && areAll(padding, 0) ? folds::sameType(op) : OpFoldResult();
}
OpFoldResult MaxPool2dOp::fold(FoldAdaptor) { return window(*this, getKernel(), getStride(), getPadding()); }
OpFoldResult MaxPool3dOp::fold(FoldAdaptor) { return window(*this, getKernel(), getStride(), getPadding()); }

OpFoldResult MaxOp::fold(FoldAdaptor) { return folds::reduction(*this, true); }
OpFoldResult MinOp::fold(FoldAdaptor) { return folds::reduction(*this, true); }
OpFoldResult ProdOp::fold(FoldAdaptor) { return folds::reduction(*this, true); }
OpFoldResult SumOp::fold(FoldAdaptor) { return folds::reduction(*this, folds::areIntegers(*this)); }
OpFoldResult MeanOp::fold(FoldAdaptor) { return folds::reduction(*this, folds::areIntegers(*this)); }
OpFoldResult ReduceAndOp::fold(FoldAdaptor) {
  return folds::reduction(*this, folds::elementType(getInput()).isInteger(1));
}
OpFoldResult ReduceOrOp::fold(FoldAdaptor) {
  return folds::reduction(*this, folds::elementType(getInput()).isInteger(1));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult WhereOp::fold(FoldAdaptor) { return folds::where(*this); }
OpFoldResult ClampScalarOp::fold(FoldAdaptor) { return folds::clampScalar(*this); }

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

namespace {
/// A splat is `full`.
struct SplatConstant : OpRewritePattern<ttir::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ttir::ConstantOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Attribute number = fillValueOf(folds::splatOf(Attribute(op.getValue())), type.getElementType());
    if (!number)
      return rewriter.notifyMatchFailure(op, "no number of 32 bits fills it");
    rewriter.replaceOp(op, createFull(rewriter, op.getLoc(), type, number));
    return success();
  }
};

/// A linear without a bias is a matmul.
struct LinearWithoutBias : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearOp op, PatternRewriter &rewriter) const override {
    if (op.getBias())
      return rewriter.notifyMatchFailure(op, "has a bias");
    auto product = MatmulOp::create(rewriter, op.getLoc(), op.getType(), op.getA(), op.getB(), op.getTransposeA(),
                                    op.getTransposeB());
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, product);
    return success();
  }
};

/// Splat limits are attributes.
struct ClampByNumbers : OpRewritePattern<ClampTensorOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ClampTensorOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = folds::tensorType(op.getInput());
    auto limit = [&](Value value) { return fillValueOf(folds::splatOf(value), type.getElementType()); };
    if (op.getType() != type || (!type.getElementType().isF32() && !type.getElementType().isInteger(32)))
      return rewriter.notifyMatchFailure(op, "limits are rounded to, or broadcast to, another type");
    Attribute low = limit(op.getMin()), high = limit(op.getMax());
    if (!low || !high)
      return rewriter.notifyMatchFailure(op, "a limit is no number");
    auto clamp = ClampScalarOp::create(rewriter, op.getLoc(), op.getType(), op.getInput(), low, high);
    clamp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, clamp);
    return success();
  }
};
} // namespace

void TTIRDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  folds::populateMovementCanonicalizations<Ops, PermuteOp, TransposeOp, ReshapeOp, SliceStaticOp, ConcatOp>(patterns);
  patterns.add<folds::ComposeDataMovement<Ops, SqueezeOp>, folds::ComposeDataMovement<Ops, UnsqueezeOp>,
               folds::ReductionOfSingles<Ops, MaxOp>, folds::ReductionOfSingles<Ops, MinOp>,
               folds::ReductionOfSingles<Ops, ProdOp>, SplatConstant, LinearWithoutBias, ClampByNumbers>(
      patterns.getContext());
}
