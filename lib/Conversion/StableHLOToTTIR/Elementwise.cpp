//===- Elementwise.cpp - lowering of elementwise StableHLO ops ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/Families/ScalarsInterface.h"
#include "ttmlir/Dialect/TTIR/IR/TTIROps.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// The op `from` becomes `to`, with the same operands in the same order; if it computes with i1, it becomes `logical`.
struct Row {
  OperationName from, to, logical;
};

class LowerByRow : public ConversionPattern {
public:
  LowerByRow(MLIRContext *context, const Row &row)
      : ConversionPattern(row.from.getStringRef(), /*benefit=*/1, context, created(row)), row(row) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    bool isLogical = typeOf(op->getOperand(0)).getElementType().isInteger(1);
    OperationState state(op->getLoc(), isLogical ? row.logical : row.to, operands, op->getResultTypes());
    return replace(rewriter, op, rewriter.create(state)->getResult(0));
  }

private:
  static SmallVector<StringRef> created(const Row &row) {
    SmallVector<StringRef> names = {row.to.getStringRef()};
    if (row.logical != row.to)
      names.push_back(row.logical.getStringRef());
    return names;
  }
  Row row;
};
} // namespace

/// The ops of StableHLO and CHLO that compute a function of numbers (TT_Computes) with the name of a TTIR op, except
/// those that have their own patterns.
static void addRows(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  llvm::StringSet<> lowered;
  for (const std::unique_ptr<RewritePattern> &pattern : patterns.getNativePatterns())
    if (std::optional<OperationName> root = pattern->getRootKind())
      lowered.insert(root->getStringRef());
  for (RegisteredOperationName from : context->getRegisteredOperations()) {
    std::optional<ScalarNames> names =
        isa<chlo::ChloDialect, stablehlo::StablehloDialect>(from.getDialect()) ? scalarNamesOf(from) : std::nullopt;
    if (!names || lowered.contains(from.getStringRef()))
      continue;
    auto toTTIR = [&](StringRef function) { return OperationName(("ttir." + function).str(), context); };
    const OperationName to = toTTIR(names->function), logical = toTTIR(names->of(IntegerType::get(context, 1)));
    if (to.isRegistered() && logical.isRegistered())
      patterns.add(std::make_unique<LowerByRow>(context, Row{from, to, logical}));
  }
}

//===----------------------------------------------------------------------===//
// Ops that differ
//===----------------------------------------------------------------------===//

static Value compare(ImplicitLocOpBuilder &builder, stablehlo::ComparisonDirection direction, Type type,
                     ValueRange operands) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return make<ttir::EqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::NE:
    return make<ttir::NotEqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::GE:
    return make<ttir::GreaterEqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::GT:
    return make<ttir::GreaterThanOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::LE:
    return make<ttir::LessEqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::LT:
    return make<ttir::LessThanOp>(builder, type, operands);
  }
  llvm_unreachable("every direction is handled");
}

namespace {
struct LowerCompare : OpConversionPattern<stablehlo::CompareOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::CompareOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return notifyMatchFailure(rewriter, op, "TTIR does not order NaN, nor -0 before 0, as TOTALORDER does");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    return replace(rewriter, op, compare(builder, op.getComparisonDirection(), op.getType(), adaptor.getOperands()));
  }
};

struct LowerClamp : OpConversionPattern<stablehlo::ClampOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ClampOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replace(rewriter, op,
                   ttir::ClampTensorOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperand(),
                                               adaptor.getMin(), adaptor.getMax()));
  }
};

/// StableHLO's remainder has the sign of the dividend, TTIR's that of the divisor. For integers it is the remainder of
/// truncating division, also if that wraps around or divides by 0. For floats it is computed from absolute values,
/// where both agree, and then gets its sign.
struct LowerRemainder : OpConversionPattern<stablehlo::RemOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::RemOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
    if (type.getElementType().isUnsignedInteger())
      return replace(rewriter, op, make<ttir::RemainderOp>(builder, type, {lhs, rhs}));
    if (isa<IntegerType>(type.getElementType())) {
      Value quotient = make<ttir::DivOp>(builder, type, {lhs, rhs});
      Value product = make<ttir::MultiplyOp>(builder, type, {quotient, rhs});
      return replace(rewriter, op, make<ttir::SubtractOp>(builder, type, {lhs, product}));
    }
    Value absoluteLhs = make<ttir::AbsOp>(builder, type, lhs);
    Value absoluteRhs = make<ttir::AbsOp>(builder, type, rhs);
    Value remainder = make<ttir::RemainderOp>(builder, type, {absoluteLhs, absoluteRhs});
    return replace(rewriter, op, withSign(builder, remainder, lhs));
  }
};

/// Copies of the highest bit are shifted in, even if it is not a sign: an unsigned operand is shifted as the signed
/// integer of its bits.
struct LowerShiftRightArithmetic : OpConversionPattern<stablehlo::ShiftRightArithmeticOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ShiftRightArithmeticOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    Type element = type.getElementType();
    Type plain = element.isUnsignedInteger() ? rewriter.getIntegerType(element.getIntOrFloatBitWidth()) : element;
    Value value = typecast(builder, adaptor.getLhs(), plain);
    Value shifted = make<ttir::RightShiftOp>(builder, type.clone(plain), {value, adaptor.getRhs()});
    return replace(rewriter, op, typecast(builder, shifted, element));
  }
};

/// TTIR's sign of NaN and of -0 is 0, as in torch; StableHLO's is the operand.
struct LowerSign : OpConversionPattern<stablehlo::SignOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SignOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    Value operand = adaptor.getOperand();
    Value sign = make<ttir::SignOp>(builder, type, operand);
    if (!isa<FloatType>(type.getElementType()))
      return replace(rewriter, op, sign);
    Value magnitude = make<ttir::AbsOp>(builder, type, operand);
    Value hasSign =
        make<ttir::GreaterThanOp>(builder, type.clone(rewriter.getI1Type()), {magnitude, zeros(builder, type)});
    return replace(rewriter, op, make<ttir::WhereOp>(builder, type, {hasSign, sign, operand}));
  }
};

struct LowerConvert : OpConversionPattern<stablehlo::ConvertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType from = typeOf(op.getOperand()), type = typeOf(op.getResult());
    // A typecast would round to 0 or 1; here every nonzero value is true.
    if (type.getElementType().isInteger(1) && !from.getElementType().isInteger(1)) {
      Value zero = zeros(builder, from);
      return replace(rewriter, op, make<ttir::NotEqualOp>(builder, type, {adaptor.getOperand(), zero}));
    }
    return replace(rewriter, op,
                   ttir::TypecastOp::create(builder, type, adaptor.getOperand(), /*conservative_folding=*/false));
  }
};

struct LowerBitcast : OpConversionPattern<stablehlo::BitcastConvertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (typeOf(op.getOperand()).getShape() != typeOf(op.getResult()).getShape())
      return notifyMatchFailure(rewriter, op,
                                "elements are split into parts or joined, which ttir.bitcast_convert does not do");
    return replace(rewriter, op,
                   ttir::BitcastConvertOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperand()));
  }
};
} // namespace

void hlo::addElementwisePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  auto add = [&](StringRef from, StringRef to) {
    const OperationName name(to, context);
    patterns.add(std::make_unique<LowerByRow>(context, Row{OperationName(from, context), name, name}));
  };
  // Functions whose name differs in TTIR.
  add(stablehlo::DivOp::getOperationName(), ttir::DivOp::getOperationName());
  add(stablehlo::PowOp::getOperationName(), ttir::PowOp::getOperationName());
  patterns
      .add<LowerBitcast, LowerClamp, LowerCompare, LowerConvert, LowerRemainder, LowerShiftRightArithmetic, LowerSign>(
          context);
  addRows(patterns);
}
