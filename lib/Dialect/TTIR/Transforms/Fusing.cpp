//===- Fusing.cpp - fusion of TTIR ops ------------------------------------===//

#include "Fusing.h"

#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRFUSING
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

//===----------------------------------------------------------------------===//
// Fuser
//===----------------------------------------------------------------------===//

std::optional<double> Fuser::splat(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  Attribute number;
  if (auto constant = dyn_cast_or_null<ttir::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense && dense.isSplat())
      number = dense.getSplatValue<Attribute>();
  } else if (auto full = dyn_cast_or_null<FullOp>(op)) {
    number = full.getFillValue();
  } else if (isa_and_nonnull<ZerosOp, OnesOp>(op)) {
    return isa<OnesOp>(op);
  }
  if (auto real = dyn_cast_or_null<FloatAttr>(number))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(number))
    return static_cast<double>(integer.getValue().getSExtValue());
  return std::nullopt;
}

Operation *Fuser::create(Location loc, StringRef name, ValueRange operands, TypeRange types,
                         ArrayRef<NamedAttribute> attrs) {
  OperationState state(loc, ("ttir." + name).str(), operands, types, attrs);
  return builder.create(state);
}

Value Fuser::make(Operation *root, StringRef name, ValueRange operands, Type type, ArrayRef<NamedAttribute> attrs) {
  builder.setInsertionPoint(root);
  return create(ttcore::withoutSourceNumber(root->getLoc()), name, operands, type, attrs)->getResult(0);
}

/// The values of a constant in another shape, shared or small.
static Attribute reshapedConstant(Value value, RankedTensorType type) {
  auto constant = value.getDefiningOp<ttir::ConstantOp>();
  auto values = constant ? constant.getValue() : ElementsAttr();
  if (!values || values.getElementType() != type.getElementType())
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(values))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(values))
    return dense.reshape(type);
  return {};
}

Value Fuser::reshape(Operation *root, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape)
    return value;
  if (Attribute reshaped = reshapedConstant(value, type.clone(shape)))
    return make(root, "constant", {}, type.clone(shape), attr("value", reshaped));
  SmallVector<int32_t> sizes(shape.begin(), shape.end());
  return make(root, "reshape", value, type.clone(shape), attr("shape", builder.getI32ArrayAttr(sizes)));
}

LogicalResult Fuser::replace(Operation *root, StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attrs) {
  builder.setInsertionPoint(root);
  Operation *fused = create(root->getLoc(), name, operands, root->getResultTypes(), attrs);
  root->replaceAllUsesWith(fused);
  SmallVector<Value> values(root->getOperands());
  constants.forget(root);
  root->erase();
  eraseUnused(values);
  return success();
}

void Fuser::redirect(OpOperand &operand, Value value) {
  Value before = operand.get();
  operand.set(value);
  eraseUnused(before);
}

void Fuser::eraseUnused(ArrayRef<Value> values) {
  SmallVector<Value> stack(values);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op || !op->use_empty() || !isMemoryEffectFree(op) || observed.contains(op))
      continue;
    // An op may come up again through another of its results or uses.
    llvm::erase_if(stack, [&](Value value) { return value.getDefiningOp() == op; });
    llvm::append_range(stack, op->getOperands());
    constants.forget(op);
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Fusing : ttir::impl::TTIRFusingBase<Fusing> {
  using Base::Base;

  void runOnOperation() override {
    static const Fusions fusions = [] {
      Fusions fusions;
      addActivationFusions(fusions);
      addMatmulFusions(fusions);
      addConvolutionFusions(fusions);
      return fusions;
    }();
    TTIRFusingOptions options{conv2dWithMultiplyEnabled, permuteMatmulEnabled};
    Fuser fuser(getOperation(), options);
    bool changed = false;
    // In program order: what one fusion makes is part of the group that a later op ends.
    getOperation()->walk([&](Block *block) {
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (!isa_and_nonnull<TTIRDialect>(op.getDialect()))
          continue;
        auto found = fusions.find(op.getName().stripDialect());
        if (found != fusions.end())
          for (Fusion fuse : found->second)
            if (succeeded(fuse(&op, fuser))) {
              changed = true;
              break;
            }
      }
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
