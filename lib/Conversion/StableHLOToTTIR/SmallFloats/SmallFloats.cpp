//===- SmallFloats.cpp - tensors of 4, 6 and 8 bit floats in f32 ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Formats.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

namespace mlir::tt {
#define GEN_PASS_DEF_STABLEHLOLEGALIZESMALLFLOATS
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

/// Ops whose results are elements of their operands, or values of the program that calls, branches or loops pass on.
static bool onlyMoves(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return op->hasTrait<trait::MovesValues>() || isa<func::CallOp>(op) || op->hasTrait<trait::ForwardsValues>() ||
         op->hasTrait<OpTrait::IsTerminator>() || (call && call.getCallTargetName() == "tt.host_call");
}

/// Ops whose regions process many elements: they compute in f32, and the result is rounded.
static bool accumulates(Operation *op) { return op->hasTrait<trait::AppliesRegion>() && !isa<stablehlo::MapOp>(op); }

namespace {
struct LegalizeSmallFloats : tt::impl::StableHLOLegalizeSmallFloatsBase<LegalizeSmallFloats> {
  void runOnOperation() override {
    auto anySmall = [](TypeRange types) { return llvm::any_of(types, [](Type type) { return smallFloatOf(type); }); };
    bool any = false;
    getOperation()->walk([&](Operation *op) {
      any = any || anySmall(op->getResultTypes()) || anySmall(op->getOperandTypes());
      if (auto function = dyn_cast<func::FuncOp>(op))
        any = any || anySmall(function.getArgumentTypes()) || anySmall(function.getResultTypes());
    });
    if (!any)
      return markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (failed(convertRegion(function.getBody(), /*rounds=*/true)))
        return signalPassFailure();
      FunctionType type = function.getFunctionType();
      auto held = [this](Type of) { return heldType(of); };
      function.setFunctionType(FunctionType::get(&getContext(), llvm::map_to_vector(type.getInputs(), held),
                                                 llvm::map_to_vector(type.getResults(), held)));
    }
  }

private:
  Type heldType(Type type) const {
    if (!smallFloatOf(type))
      return type;
    Type f32 = Float32Type::get(type.getContext());
    auto tensor = dyn_cast<ShapedType>(type);
    return tensor ? Type(tensor.clone(f32)) : f32;
  }

  /// From here on, the value has type f32; the format is recorded.
  void hold(Value value) {
    if (FloatType format = smallFloatOf(value.getType())) {
      formats[value] = format;
      value.setType(heldType(value.getType()));
    }
  }

  LogicalResult convertRegion(Region &region, bool rounds) {
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), [this](Value argument) { hold(argument); });
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(convert(&op, rounds)))
          return failure();
    }
    return success();
  }

  LogicalResult convert(Operation *op, bool rounds) {
    const bool takes = llvm::any_of(op->getOperands(), [this](Value value) { return formats.contains(value); }),
               gives = llvm::any_of(op->getResultTypes(), [](Type type) { return smallFloatOf(type); });
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    if (takes || gives) {
      if (isa<chlo::NextAfterOp>(op))
        return op->emitError() << op->getName() << ": the next number of type " << formats.lookup(op->getOperand(0))
                               << " is not lowered; expected f32 or wider";
      if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op))
        return convertBits(builder, cast);
      // In a type without NaN, no value differs from itself: comparators of sorts state how they treat NaN.
      if (auto compare = dyn_cast<stablehlo::CompareOp>(op);
          compare && compare.getComparisonDirection() == stablehlo::ComparisonDirection::NE &&
          compare.getLhs() == compare.getRhs() &&
          !APFloat::semanticsHasNaN(formats.lookup(compare.getLhs()).getFloatSemantics()))
        for (Operation *user : llvm::make_early_inc_range(compare->getUsers()))
          if (auto select = dyn_cast<stablehlo::SelectOp>(user); select && select.getPred() == compare.getResult())
            select.replaceAllUsesWith(select.getOnFalse());
      // An op that replaces a composite by its name would not round between its steps.
      if (auto composite = dyn_cast<stablehlo::CompositeOp>(op)) {
        auto created =
            func::CallOp::create(builder, composite.getDecomposition(), op->getResultTypes(), op->getOperands());
        op->replaceAllUsesWith(created);
        op->erase();
        op = created;
      }
      for (NamedAttribute attribute : op->getAttrs())
        if (Attribute value = held(attribute.getValue()))
          op->setAttr(attribute.getName(), value);
    }
    for (Region &region : op->getRegions())
      if (failed(convertRegion(region, rounds && !accumulates(op))))
        return failure();
    if (!takes && !gives)
      return success();
    if (auto cast = dyn_cast<stablehlo::ConvertOp>(op); cast &&
                                                        getElementTypeOrSelf(heldType(cast.getType())).isF32() &&
                                                        getElementTypeOrSelf(cast.getOperand()).isF32()) {
      // These read the format, which the result does not have.
      if (!smallFloatOf(cast.getType()) &&
          llvm::any_of(cast->getUsers(), llvm::IsaPred<stablehlo::BitcastConvertOp, chlo::NextAfterOp>))
        return success();
      Expr value(builder, cast.getOperand());
      if (FloatType format = smallFloatOf(cast.getType())) {
        if (rounds && failed(checkStatic(op)))
          return failure();
        value = rounds ? roundTo(format, value) : value;
        formats[value.value()] = format;
      }
      cast.replaceAllUsesWith(value.value());
      cast.erase();
      return success();
    }
    const bool exact = !rounds || onlyMoves(op) || isa<stablehlo::ConstantOp>(op);
    if (!exact && gives && failed(checkStatic(op)))
      return failure();
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      FloatType format = smallFloatOf(result.getType());
      hold(result);
      if (!format || exact)
        continue;
      SmallVector<OpOperand *> uses = llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
      Value rounded = roundTo(format, {builder, result}).value();
      formats[rounded] = format;
      for (OpOperand *use : uses)
        use->set(rounded);
    }
    return success();
  }

  static LogicalResult checkStatic(Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
        return op->emitError() << op->getName() << ": " << type
                               << " is not rounded; expected a ranked tensor of static shape";
    return success();
  }

  /// Numbers in an attribute as f32; null for one that has no small floats.
  Attribute held(Attribute attribute) const {
    auto inF32 = [](APFloat value) {
      bool lost = false;
      value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
      return value;
    };
    if (auto number = dyn_cast<FloatAttr>(attribute); number && smallFloatOf(number.getType()))
      return FloatAttr::get(heldType(number.getType()), inF32(number.getValue()));
    auto elements = dyn_cast<DenseFPElementsAttr>(attribute);
    if (!elements || !smallFloatOf(elements.getType()))
      return {};
    auto type = cast<ShapedType>(heldType(elements.getType()));
    if (elements.isSplat())
      return DenseElementsAttr::get(type, inF32(elements.getSplatValue<APFloat>()));
    return DenseElementsAttr::get(type, llvm::map_to_vector(elements.getValues<APFloat>(), inF32));
  }

  LogicalResult convertBits(ImplicitLocOpBuilder &builder, stablehlo::BitcastConvertOp op) {
    FloatType from = formats.lookup(op.getOperand()), to = smallFloatOf(op.getType());
    auto isSupported = [](FloatType format) { return !format || format.getWidth() != 6; };
    auto source = dyn_cast<RankedTensorType>(op.getOperand().getType());
    auto target = dyn_cast<RankedTensorType>(op.getType());
    if (!source || !target || !source.hasStaticShape() || !target.hasStaticShape() || !isSupported(from) ||
        !isSupported(to))
      return op->emitError() << op->getName() << ": the bits of "
                             << (from && source ? source.clone(from) : op.getOperand().getType()) << " as "
                             << op.getType() << " are not lowered; expected tensors of static shape, of 4 or 8 bits";
    auto codeType = [&](FloatType format) { return builder.getIntegerType(format.getWidth(), /*isSigned=*/false); };
    Expr bits(builder, op.getOperand());
    if (from)
      bits = encode(from, bits).convert(codeType(from));
    // Elements may be joined or split.
    RankedTensorType codes = to ? target.clone(codeType(to)) : target;
    bits = bits.bitcast(codes);
    if (to) {
      bits = decode(to, bits.convert(builder.getIntegerType(8, false)));
      formats[bits.value()] = to;
    }
    op.replaceAllUsesWith(bits.value());
    op.erase();
    return success();
  }

  DenseMap<Value, FloatType> formats;
};
} // namespace
