//===- Lowering.cpp - lowering rules of StableHLO ops ---------------------===//

#include "Lowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;

Value OpLowering::makeNamed(StringRef name, Type type, ValueRange operands, ArrayRef<NamedAttribute> attrs) {
  OperationState state(op->getLoc(), name, operands, type, attrs);
  return rewriter.create(state)->getResult(0);
}

Value OpLowering::reshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  if (type.getShape() == shape)
    return value;
  return make<ttir::ReshapeOp>(type.clone(shape), value, rewriter.getI32ArrayAttr(narrow(shape)));
}

Value OpLowering::permute(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(typeOf(value).getDimSize(dimension));
  return make<ttir::PermuteOp>(typeOf(value).clone(shape), value, permutation);
}

Value OpLowering::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  SmallVector<int64_t> repeats;
  for (auto [from, to] : llvm::zip_equal(typeOf(value).getShape(), shape))
    repeats.push_back(from == to ? 1 : to);
  return make<ttir::BroadcastOp>(typeOf(value).clone(shape), value, repeats);
}

Value OpLowering::zeros(RankedTensorType type) { return make<ttir::ZerosOp>(type, narrow(type.getShape())); }

Value OpLowering::typecast(Value value, Type element) {
  RankedTensorType type = typeOf(value);
  return type.getElementType() == element ? value : makeNamed("ttir.typecast", type.clone(element), value);
}

SmallVector<int32_t> OpLowering::narrow(ArrayRef<int64_t> numbers) {
  SmallVector<int32_t> result;
  for (int64_t number : numbers) {
    if (!llvm::isInt<32>(number))
      tooWide = "it has the number " + std::to_string(number) + " where TTIR's attribute has 32 bits";
    result.push_back(static_cast<int32_t>(number));
  }
  return result;
}

LogicalResult OpLowering::replace(Value value) {
  if (!tooWide.empty())
    return refuse(tooWide);
  if (Operation *made = value.getDefiningOp(); made && made->getBlock() == op->getBlock())
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (!made->hasAttr(attribute.getName()))
        made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  rewriter.replaceOp(op, value);
  return success();
}

LogicalResult OpLowering::refuse(const Twine &reason) {
  why = reason.str();
  return failure();
}

Attribute tt::splatValue(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}
