//===- TosaToTTIR.cpp - TOSA as TTIR --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Lowering.h"

#include "ttmlir/Conversion/ToTTIR/Passes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTOSATOTTIR
#include "ttmlir/Conversion/ToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Constants that ops are described by
//===----------------------------------------------------------------------===//

/// The sizes of a !tosa.shape if they are constant.
static std::optional<SmallVector<int64_t>> sizesOf(Value value) {
  auto constant = value.getDefiningOp<tosa::ConstShapeOp>();
  if (!constant)
    return std::nullopt;
  return llvm::to_vector(cast<DenseIntElementsAttr>(constant.getValues()).getValues<int64_t>());
}

/// The number of a splat constant, which is TTIR by now.
static TypedAttr numberOf(Value value) {
  auto constant = value.getDefiningOp<ttir::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.isSplat() ? elements.getSplatValue<TypedAttr>() : TypedAttr();
}

static bool isZero(Value value) {
  TypedAttr number = numberOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(number))
    return real.getValue().isZero();
  auto integer = dyn_cast_or_null<IntegerAttr>(number);
  return integer && integer.getValue().isZero();
}

/// Operands from `first` on, all of which must be 0.
static LogicalResult expectZeros(ToTTIR &t, unsigned first, StringRef what) {
  for (Value value : t.op->getOperands().drop_front(first))
    if (!isZero(value))
      return t.refuse(what + " must be a constant of 0");
  return success();
}

/// TTIR's ops do not ignore NaN.
static LogicalResult expectNaNPropagated(ToTTIR &t) {
  auto mode = t.op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
  if (mode && mode.getValue() == tosa::NanPropagationMode::IGNORE)
    return t.refuse("nan_mode is IGNORE; TTIR's op gives NaN where it is given one");
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The op of this name of all operands.
static LoweringRule<ToTTIR> row(StringRef to) {
  return {[name = to.str()](ToTTIR &t) { return t.replaceBy(name, t.op->getOperands()); }, "ttir." + to.str()};
}

/// Reduces one dimension, which keeps size 1.
static LoweringRule<ToTTIR> reduction(StringRef to) {
  return {[name = to.str()](ToTTIR &t) -> LogicalResult {
            if (failed(expectNaNPropagated(t)))
              return failure();
            auto axis = t.op->getAttrOfType<IntegerAttr>("axis");
            return t.replaceBy(name, t.operand(0),
                               {t.named("dim_arg", t.b.getI32ArrayAttr(static_cast<int32_t>(axis.getInt()))),
                                t.named("keep_dim", t.b.getBoolAttr(true))});
          },
          "ttir." + to.str()};
}

static LogicalResult lowerExtremum(ToTTIR &t, StringRef name) {
  return failed(expectNaNPropagated(t)) ? failure() : t.replaceBy(name, t.op->getOperands());
}

/// Floats become the nearest integers, ties to even, clamped to the type. TTIR's typecast truncates; its quantization
/// by 1 does not.
static LogicalResult lowerCast(ToTTIR &t) {
  auto integer = dyn_cast<IntegerType>(t.result().getElementType());
  if (!isa<FloatType>(t.type(0).getElementType()) || !integer || integer.getWidth() == 1)
    return t.replaceBy("typecast", t.operand(0));
  if (integer.getWidth() == 0)
    return t.refuse("integers of 0 bits are not lowered");
  if (integer.getWidth() > 32)
    return t.refuse("floats are rounded to integers of up to 32 bits");
  RankedTensorType real = t.type(0).clone(t.b.getF32Type()), whole = t.result().clone(t.b.getI32Type());
  Value value = real == t.type(0) ? t.operand(0) : t.makeOne("typecast", real, t.operand(0));
  auto constant = [&](Attribute number) {
    auto type = RankedTensorType::get({1}, cast<TypedAttr>(number).getType());
    return t.makeOne("constant", type, {}, t.named("value", DenseElementsAttr::get(type, number)));
  };
  value = t.makeOne("quantize_unrolled", whole,
                    {value, constant(t.b.getF32FloatAttr(1)), constant(t.b.getI32IntegerAttr(0))});
  if (integer.getWidth() < 32) {
    const auto bound = [&](const APInt &number) { return t.b.getI32IntegerAttr(number.getSExtValue()); };
    value = t.makeOne("clamp_scalar", whole, value,
                      {t.named("min", bound(APInt::getSignedMinValue(integer.getWidth()))),
                       t.named("max", bound(APInt::getSignedMaxValue(integer.getWidth())))});
  }
  return whole == t.result() ? t.replaceBy(ValueRange(value)) : t.replaceBy("typecast", value);
}

/// Two operands, converted to the result's element type: products have the width that TOSA specifies.
static std::array<Value, 2> widened(ToTTIR &t) {
  auto cast = [&](unsigned index) {
    RankedTensorType type = t.type(index).clone(t.result().getElementType());
    return type == t.type(index) ? t.operand(index) : t.makeOne("typecast", type, t.operand(index));
  };
  return {cast(0), cast(1)};
}

static LogicalResult lowerMul(ToTTIR &t) {
  return failed(expectZeros(t, 2, "the shift")) ? failure() : t.replaceBy("multiply", widened(t));
}

static LogicalResult lowerRightShift(ToTTIR &t) {
  if (t.op->getAttrOfType<BoolAttr>("round").getValue())
    return t.refuse("it rounds; TTIR's right_shift does not");
  return t.replaceBy("right_shift", t.op->getOperands());
}

static LogicalResult lowerNegate(ToTTIR &t) {
  return failed(expectZeros(t, 1, "a zero point")) ? failure() : t.replaceBy("neg", t.operand(0));
}

static LogicalResult lowerMatmul(ToTTIR &t) {
  return failed(expectZeros(t, 2, "a zero point")) ? failure() : t.replaceBy("matmul", widened(t));
}

static LogicalResult lowerClamp(ToTTIR &t) {
  if (failed(expectNaNPropagated(t)))
    return failure();
  auto bound = [&](StringRef name) -> Attribute {
    Attribute value = t.op->getAttr(name);
    if (auto real = dyn_cast<FloatAttr>(value))
      return t.b.getF32FloatAttr(real.getValueAsDouble());
    const int64_t number = cast<IntegerAttr>(value).getValue().getSExtValue();
    return llvm::isInt<32>(number) ? t.b.getI32IntegerAttr(number) : Attribute();
  };
  Attribute min = bound("min_val"), max = bound("max_val");
  if (!min || !max)
    return t.refuse("its bounds do not fit into 32 bits");
  return t.replaceBy("clamp_scalar", t.operand(0), {t.named("min", min), t.named("max", max)});
}

static LogicalResult lowerReshape(ToTTIR &t) {
  SmallVector<int32_t> shape(t.result().getShape().begin(), t.result().getShape().end());
  return t.replaceBy("reshape", t.operand(0), t.named("shape", t.b.getI32ArrayAttr(shape)));
}

static Value permuted(ToTTIR &t, Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return type.getShape()[dim]; });
  return t.makeOne("permute", type.clone(shape), value, t.named("permutation", t.b.getDenseI64ArrayAttr(order)));
}

static Value reshaped(ToTTIR &t, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int32_t> sizes(shape.begin(), shape.end());
  return t.makeOne("reshape", type.clone(shape), value, t.named("shape", t.b.getI32ArrayAttr(sizes)));
}

static LogicalResult lowerTranspose(ToTTIR &t) {
  ArrayRef<int32_t> perms = t.op->getAttrOfType<DenseI32ArrayAttr>("perms");
  SmallVector<int64_t> order(perms.begin(), perms.end());
  return t.replaceBy("permute", t.operand(0), t.named("permutation", t.b.getDenseI64ArrayAttr(order)));
}

static LogicalResult lowerConcat(ToTTIR &t) {
  const auto axis = static_cast<int32_t>(t.op->getAttrOfType<IntegerAttr>("axis").getInt());
  return t.replaceBy("concat", t.op->getOperands(), t.named("dim", t.b.getSI32IntegerAttr(axis)));
}

static LogicalResult lowerReverse(ToTTIR &t) {
  return t.replaceBy(
      "reverse", t.operand(0),
      t.named("dimensions", t.b.getDenseI64ArrayAttr(t.op->getAttrOfType<IntegerAttr>("axis").getInt())));
}

static LogicalResult lowerArgMax(ToTTIR &t) {
  if (failed(expectNaNPropagated(t)))
    return failure();
  const auto axis = static_cast<int32_t>(t.op->getAttrOfType<IntegerAttr>("axis").getInt());
  return t.replaceBy("argmax", t.operand(0),
                     {t.named("dim_arg", t.b.getI32ArrayAttr(axis)), t.named("keep_dim", t.b.getBoolAttr(false))});
}

static LogicalResult lowerSlice(ToTTIR &t) {
  std::optional<SmallVector<int64_t>> start = sizesOf(t.operand(1)), size = sizesOf(t.operand(2));
  if (!start || !size)
    return t.refuse("its start and size must be constants");
  SmallVector<int32_t> begins(start->begin(), start->end()), ends, step(begins.size(), 1);
  for (auto [from, whole] : llvm::zip_equal(*start, t.result().getShape()))
    ends.push_back(static_cast<int32_t>(from + whole));
  return t.replaceBy("slice_static", t.operand(0),
                     {t.named("begins", t.b.getI32ArrayAttr(begins)), t.named("ends", t.b.getI32ArrayAttr(ends)),
                      t.named("step", t.b.getI32ArrayAttr(step))});
}

static LogicalResult lowerPad(ToTTIR &t) {
  std::optional<SmallVector<int64_t>> padding = sizesOf(t.operand(1));
  TypedAttr value = numberOf(t.operand(2));
  if (!padding || !value)
    return t.refuse("its padding and value must be constants");
  auto real = dyn_cast<FloatAttr>(value);
  const double number =
      real ? real.getValueAsDouble() : static_cast<double>(cast<IntegerAttr>(value).getValue().getSExtValue());
  if (!real && static_cast<double>(static_cast<float>(number)) != number)
    return t.refuse("its value is an integer that f32, which TTIR's pad has it in, does not hold");
  SmallVector<int32_t> sizes(padding->begin(), padding->end());
  return t.replaceBy("pad", t.operand(0),
                     {t.named("padding", t.b.getDenseI32ArrayAttr(sizes)),
                      t.named("value", t.b.getF32FloatAttr(static_cast<float>(number)))});
}

static LogicalResult lowerTile(ToTTIR &t) {
  std::optional<SmallVector<int64_t>> multiples = sizesOf(t.operand(1));
  if (!multiples)
    return t.refuse("its multiples must be constants");
  return t.replaceBy("repeat", t.operand(0), t.named("repeat_dimensions", t.b.getDenseI64ArrayAttr(*multiples)));
}

static LogicalResult lowerConst(ToTTIR &t) {
  return t.replaceBy("constant", ValueRange(), t.named("value", t.op->getAttr("values")));
}

static LogicalResult lowerIdentity(ToTTIR &t) { return t.replaceBy(ValueRange(t.operand(0))); }

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static SmallVector<int32_t> numbersOf(ToTTIR &t, StringRef name) {
  ArrayRef<int64_t> numbers = t.op->getAttrOfType<DenseI64ArrayAttr>(name);
  return SmallVector<int32_t>(numbers.begin(), numbers.end());
}

/// [top, left, bottom, right] from TOSA's [top, bottom, left, right].
static NamedAttribute paddingOf(ToTTIR &t) {
  SmallVector<int32_t> pad = numbersOf(t, "pad");
  return t.named("padding", t.b.getDenseI32ArrayAttr({pad[0], pad[2], pad[1], pad[3]}));
}

/// The weight as [out channels, in channels of a group, height, width].
static LogicalResult lowerConvolution(ToTTIR &t, Value weight, int64_t groups) {
  if (failed(expectZeros(t, 3, "a zero point")))
    return failure();
  const int64_t channels = t.result().getShape().back();
  Value bias = t.operand(2);
  auto biasType = cast<RankedTensorType>(bias.getType());
  if (biasType.getElementType() != t.result().getElementType() ||
      t.type(0).getElementType() != t.result().getElementType())
    return t.refuse("input, bias and result have different element types");
  if (biasType.getNumElements() != channels)
    return t.refuse("its bias has " + Twine(biasType.getNumElements()) + " values; expected one for each of " +
                    Twine(channels) + " channels");
  return t.replaceBy("conv2d", {t.operand(0), weight, reshaped(t, bias, {1, 1, 1, channels})},
                     {t.named("stride", t.b.getDenseI32ArrayAttr(numbersOf(t, "stride"))), paddingOf(t),
                      t.named("dilation", t.b.getDenseI32ArrayAttr(numbersOf(t, "dilation"))),
                      t.named("groups", t.b.getI32IntegerAttr(groups))});
}

static LogicalResult lowerConv2D(ToTTIR &t) { return lowerConvolution(t, permuted(t, t.operand(1), {0, 3, 1, 2}), 1); }

/// Weights are [height, width, channels, results of each].
static LogicalResult lowerDepthwise(ToTTIR &t) {
  ArrayRef<int64_t> shape = t.type(1).getShape();
  Value weight = reshaped(t, permuted(t, t.operand(1), {2, 3, 0, 1}), {shape[2] * shape[3], 1, shape[0], shape[1]});
  return lowerConvolution(t, weight, shape[2]);
}

static LogicalResult lowerPool(ToTTIR &t, StringRef name, ArrayRef<NamedAttribute> more) {
  SmallVector<NamedAttribute> attributes = {t.named("kernel", t.b.getDenseI32ArrayAttr(numbersOf(t, "kernel"))),
                                            t.named("stride", t.b.getDenseI32ArrayAttr(numbersOf(t, "stride"))),
                                            t.named("dilation", t.b.getI32IntegerAttr(1)), paddingOf(t),
                                            t.named("ceil_mode", t.b.getBoolAttr(false))};
  llvm::append_range(attributes, more);
  return t.replaceBy(name, t.operand(0), attributes);
}

static LogicalResult lowerMaxPool(ToTTIR &t) {
  return failed(expectNaNPropagated(t)) ? failure() : lowerPool(t, "max_pool2d", {});
}

static LogicalResult lowerAvgPool(ToTTIR &t) {
  return failed(expectZeros(t, 1, "a zero point"))
             ? failure()
             : lowerPool(t, "avg_pool2d", t.named("count_include_pad", t.b.getBoolAttr(false)));
}

static const ToTTIRRules &rules() {
  static const ToTTIRRules table = {
      {"abs", row("abs")},
      {"add", row("add")},
      {"argmax", {lowerArgMax, "ttir.argmax"}},
      {"arithmetic_right_shift", {lowerRightShift, "ttir.right_shift"}},
      {"avg_pool2d", {lowerAvgPool, "ttir.avg_pool2d"}},
      {"bitwise_and", row("bitwise_and")},
      {"bitwise_not", row("bitwise_not")},
      {"bitwise_or", row("bitwise_or")},
      {"bitwise_xor", row("bitwise_xor")},
      {"cast", {lowerCast, "rule"}},
      {"ceil", row("ceil")},
      {"clamp", {lowerClamp, "ttir.clamp_scalar"}},
      {"concat", {lowerConcat, "ttir.concat"}},
      {"const", {lowerConst, "ttir.constant"}},
      {"conv2d", {lowerConv2D, "rule"}},
      {"cos", row("cos")},
      {"depthwise_conv2d", {lowerDepthwise, "rule"}},
      {"equal", row("eq")},
      {"erf", row("erf")},
      {"exp", row("exp")},
      {"floor", row("floor")},
      {"greater", row("gt")},
      {"greater_equal", row("ge")},
      {"identity", {lowerIdentity, "rule"}},
      {"intdiv", row("div")},
      {"log", row("log")},
      {"logical_and", row("logical_and")},
      {"logical_left_shift", row("logical_left_shift")},
      {"logical_not", row("logical_not")},
      {"logical_or", row("logical_or")},
      {"logical_right_shift", row("logical_right_shift")},
      {"logical_xor", row("logical_xor")},
      {"matmul", {lowerMatmul, "ttir.matmul"}},
      {"max_pool2d", {lowerMaxPool, "ttir.max_pool2d"}},
      {"maximum", {[](ToTTIR &t) { return lowerExtremum(t, "maximum"); }, "ttir.maximum"}},
      {"minimum", {[](ToTTIR &t) { return lowerExtremum(t, "minimum"); }, "ttir.minimum"}},
      {"mul", {lowerMul, "ttir.multiply"}},
      {"negate", {lowerNegate, "ttir.neg"}},
      {"pad", {lowerPad, "ttir.pad"}},
      {"pow", row("pow")},
      {"reciprocal", row("reciprocal")},
      {"reduce_all", reduction("reduce_and")},
      {"reduce_any", reduction("reduce_or")},
      {"reduce_max", reduction("max")},
      {"reduce_min", reduction("min")},
      {"reduce_product", reduction("prod")},
      {"reduce_sum", reduction("sum")},
      {"reshape", {lowerReshape, "ttir.reshape"}},
      {"reverse", {lowerReverse, "ttir.reverse"}},
      {"rsqrt", row("rsqrt")},
      {"select", row("where")},
      {"sigmoid", row("sigmoid")},
      {"sin", row("sin")},
      {"slice", {lowerSlice, "ttir.slice_static"}},
      {"sub", row("subtract")},
      {"tanh", row("tanh")},
      {"tile", {lowerTile, "ttir.repeat"}},
      {"transpose", {lowerTranspose, "ttir.permute"}},
  };
  return table;
}

namespace {
struct ConvertTosa : tt::impl::ConvertTosaToTTIRBase<ConvertTosa> {
  void runOnOperation() override {
    auto lower = [](ToTTIR &t) -> LogicalResult {
      auto rule = rules().find(t.op->getName().stripDialect());
      return rule == rules().end() ? t.refuse("TTIR has no op for it") : rule->second(t);
    };
    // Ops that describe other ops; constants of numbers may also be used in computations.
    auto isShape = [](Operation *op) { return isa<tosa::ConstShapeOp>(op); };
    if (failed(lowerAll(getOperation(), "tosa", lower, isShape)))
      return signalPassFailure();
    getOperation().walk([](ttir::ConstantOp op) {
      if (op->use_empty())
        op->erase();
    });
  }
};
} // namespace
