//===- Lowering.cpp - lowering rules of TTIR ops --------------------------===//

#include "Lowering.h"

#include "ttmlir/Dialect/TTNN/Transforms/Device.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

RankedTensorType Lowering::resultType(unsigned index) const {
  return cast<RankedTensorType>(op->getResult(index).getType());
}

ArrayRef<int64_t> Lowering::shapeOf(Value value) const { return cast<RankedTensorType>(value.getType()).getShape(); }

Value Lowering::make(StringRef name, ValueRange operands, Type type, ArrayRef<NamedAttribute> attrs) {
  return makeAll(name, operands, type, attrs)[0];
}

ResultRange Lowering::makeAll(StringRef name, ValueRange operands, TypeRange types, ArrayRef<NamedAttribute> attrs) {
  OperationState state(op->getLoc(), ("ttnn." + name).str(), operands, types, attrs);
  return rewriter.create(state)->getResults();
}

RankedTensorType Lowering::typeLike(Value like, ArrayRef<int64_t> shape) const {
  auto layout = ttnn::TTNNLayoutAttr::of(like.getType());
  return ttnn::withLayout(cast<RankedTensorType>(like.getType()).clone(shape), layout.withShape(shape));
}

RankedTensorType Lowering::typeLike(Value like, ArrayRef<int64_t> shape, ttcore::DataType dataType) const {
  auto type = typeLike(like, shape);
  return ttnn::withLayout(type, ttnn::TTNNLayoutAttr::of(type).withDataType(dataType));
}

Value Lowering::reshape(Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  SmallVector<int32_t> shape(type.getShape().begin(), type.getShape().end());
  return make("reshape", value, type, attr("shape", rewriter.getI32ArrayAttr(shape)));
}

Value Lowering::reshape(Value value, ArrayRef<int64_t> shape) {
  return shapeOf(value) == shape ? value : reshape(value, typeLike(value, shape));
}

Value Lowering::permute(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(shapeOf(value)[dim]);
  return make("permute", value, typeLike(value, shape),
              attr("permutation", rewriter.getDenseI64ArrayAttr(permutation)));
}

Value Lowering::slice(Value value, RankedTensorType type, int64_t dim, int64_t begin, int64_t end, int64_t step) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int32_t> begins(shape.size(), 0), ends(shape.begin(), shape.end()), steps(shape.size(), 1);
  begins[dim] = begin;
  ends[dim] = end;
  steps[dim] = step;
  return make("slice_static", value, type,
              {attr("begins", rewriter.getI32ArrayAttr(begins)), attr("ends", rewriter.getI32ArrayAttr(ends)),
               attr("step", rewriter.getI32ArrayAttr(steps))});
}

Value Lowering::scalar(double value, unsigned rank, Value like) {
  Value where = device();
  if (!where)
    return {};
  SmallVector<int64_t> shape(rank, 1);
  RankedTensorType type = typeLike(like, shape, ttcore::DataType::Float32);
  // The same on every device, so not distributed.
  type = ttnn::withLayout(type, ttnn::TTNNLayoutAttr::of(type).withMesh({}));
  return make(
      "full", where, type,
      {attr("fill_value", rewriter.getF32FloatAttr(value)), attr("shape", ttnn::ShapeAttr::get(context(), shape))});
}

Value Lowering::device() { return ttnn::getOrCreateDevice(rewriter, op); }

LogicalResult Lowering::replace(ValueRange values) {
  rewriter.replaceOp(op, values);
  return success();
}

LogicalResult Lowering::replaceBy(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attrs) {
  OperationState state(op->getLoc(), name, operands, op->getResultTypes(), attrs);
  return replace(rewriter.create(state)->getResults());
}

LogicalResult Lowering::refuse(const Twine &reason) {
  why = reason.str();
  return failure();
}

LogicalResult Lowering::lowerByName() {
  return lowerTo(*this, op->getName().stripDialect(), llvm::to_vector(op->getAttrs()));
}

LogicalResult ttnn::lowerTo(Lowering &lowering, StringRef name, ArrayRef<NamedAttribute> attrs, bool onDevice) {
  Operation *op = lowering.op;
  std::string fullName = ("ttnn." + name).str();
  std::optional<RegisteredOperationName> info = RegisteredOperationName::lookup(fullName, op->getContext());
  if (!info)
    return lowering.refuse("there is no " + fullName);
  for (NamedAttribute attr : attrs)
    if (!attr.getName().strref().contains('.') && !llvm::is_contained(info->getAttributeNames(), attr.getName()) &&
        attr.getName() != "operandSegmentSizes" && attr.getName() != "resultSegmentSizes")
      return lowering.refuse(fullName + " has no attribute '" + attr.getName().strref() + "'");
  SmallVector<Value> operands(op->getOperands());
  if (onDevice) {
    operands.push_back(lowering.device());
    if (!operands.back())
      return lowering.refuse("there is no device to make it on");
  }
  return lowering.replaceBy(fullName, operands, attrs);
}
