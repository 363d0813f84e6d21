//===- SdyOps.cpp - ops of the Shardy dialect -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"
#include "Verify.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::sdy;

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Sdy/IR/SdyOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// The one sharding of an op with one result.
static LogicalResult verifyResult(Operation *op, StringRef name, TensorShardingAttr sharding,
                                  SymbolTableCollection &symbols) {
  auto emitError = [&] { return op->emitOpError() << name << ' '; };
  return verifySharding(emitError, sharding, op->getResult(0).getType(), op, &symbols);
}

LogicalResult ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyResult(*this, "sharding", getSharding(), symbols);
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyResult(*this, "sharding", getSharding(), symbols);
}

LogicalResult DataFlowEdgeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return getSharding() ? verifyResult(*this, "sharding", *getSharding(), symbols) : success();
}

LogicalResult FuncDataFlowEdgeOp::verifySymbolUses(SymbolTableCollection &) {
  auto type = dyn_cast<ShapedType>(getOperand().getType());
  if (!type || !type.hasStaticShape())
    return emitOpError() << "has an operand of type " << getOperand().getType() << "; expected a static shape";
  if (!getOperand().hasOneUse())
    return emitOpError("has an operand with other uses; expected them to use its result");
  if (auto argument = dyn_cast<BlockArgument>(getOperand());
      argument ? isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
               : isa<CallOpInterface>(getOperand().getDefiningOp()))
    return success();
  return emitOpError("has an operand that is neither an argument of a function nor a result of a call");
}

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH)
    return emitOpError() << "allows both directions; a barrier must stop one";
  return success();
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                           DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (failed(adaptor.verify(location.value_or(UnknownLoc::get(context)))))
    return failure();
  types.push_back(adaptor.getValue().getType());
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  Attribute value;
  if (parser.parseAttribute(value))
    return failure();
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements)
    return parser.emitError(loc) << "expected the elements of a tensor, found " << value;
  result.getOrAddProperties<Properties>().value = elements;
  result.addTypes(elements.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Returns the type of one device's part: each dimension divided along the manual axes of its sharding.
static FailureOr<Type> localType(EmitError emitError, Type global, TensorShardingAttr sharding, MeshAttr mesh,
                                 ManualAxesAttr manualAxes) {
  auto tensor = dyn_cast<RankedTensorType>(global);
  if (!tensor || sharding.getDimShardings().empty())
    return global;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [dimension, dimensionSharding] : llvm::enumerate(sharding.getDimShardings())) {
    for (AxisRefAttr axis : dimensionSharding.getAxes()) {
      if (!llvm::is_contained(manualAxes.getValue(), StringAttr::get(axis.getContext(), axis.getName())) ||
          ShapedType::isDynamic(shape[dimension]))
        continue;
      int64_t parts = getSize(axis, mesh);
      if (shape[dimension] % parts != 0)
        return emitError() << "splits dimension " << dimension << " of " << global << " along axis \"" << axis.getName()
                           << "\", and " << parts << " does not divide " << shape[dimension];
      shape[dimension] /= parts;
    }
  }
  return Type(tensor.clone(shape));
}

/// The values outside the region, their shardings, and the inside values, which are their local parts.
static LogicalResult verifyLocalValues(ManualComputationOp op, StringRef name, TensorShardingPerValueAttr shardings,
                                       TypeRange globals, TypeRange locals, SymbolTableCollection &symbols) {
  auto emitError = [&] { return op.emitOpError() << name << ' '; };
  if (failed(verifyShardings(emitError, shardings, globals, op, &symbols)))
    return failure();
  if (locals.size() != globals.size())
    return emitError() << "is for " << globals.size() << " values, the region has " << locals.size();
  for (auto [index, sharding] : llvm::enumerate(shardings.getShardings())) {
    FailureOr<MeshAttr> mesh = findMesh(emitError, sharding, op, &symbols);
    if (failed(mesh))
      return failure();
    for (StringAttr axis : op.getManualAxes().getValue())
      if (!mesh->getAxisSize(axis))
        return op.emitOpError() << "manual_axes names axis " << axis << ", which mesh " << *mesh << " does not have";
    FailureOr<Type> expected = localType(emitError, globals[index], sharding, *mesh, op.getManualAxes());
    if (failed(expected))
      return failure();
    if (locals[index] != *expected)
      return emitError() << index << ": the region has " << locals[index] << "; expected " << *expected
                         << ", the part of " << globals[index] << " on one device";
  }
  return success();
}

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Block &body = getBody().front();
  return failure(failed(verifyLocalValues(*this, "in_shardings", getInShardings(), getTensors().getTypes(),
                                          body.getArgumentTypes(), symbols)) ||
                 failed(verifyLocalValues(*this, "out_shardings", getOutShardings(), getResultTypes(),
                                          body.getTerminator()->getOperandTypes(), symbols)));
}

LogicalResult NamedComputationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Block &body = getBody().front();
  auto check = [&](StringRef name, std::optional<TensorShardingPerValueAttr> shardings, TypeRange outside,
                   TypeRange inside) -> LogicalResult {
    if (outside != inside)
      return emitOpError() << "has " << name << " of types (" << outside << ") and in its region (" << inside << ")";
    auto emitError = [&] { return emitOpError() << "shardings of its " << name << ' '; };
    return shardings ? verifyShardings(emitError, *shardings, outside, *this, &symbols) : success();
  };
  return failure(
      failed(check("operands", getInShardings(), (*this)->getOperandTypes(), body.getArgumentTypes())) ||
      failed(check("results", getOutShardings(), (*this)->getResultTypes(), body.getTerminator()->getOperandTypes())));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The sharding of the result, and the axes that the op names: a list for each dimension, or one for all.
static LogicalResult verifyCollective(Operation *op, StringRef name, TensorShardingAttr sharding,
                                      ArrayRef<AxisRefAttr> axes, std::optional<size_t> dimensions,
                                      SymbolTableCollection &symbols) {
  if (failed(verifyResult(op, "out_sharding", sharding, symbols)))
    return failure();
  auto emitError = [&] { return op->emitOpError() << name << ' '; };
  if (dimensions && *dimensions != sharding.getDimShardings().size())
    return emitError() << "has " << *dimensions << " dimensions; expected " << sharding.getDimShardings().size()
                       << ", as out_sharding has";
  FailureOr<MeshAttr> mesh = findMesh(emitError, sharding, op, &symbols);
  return failed(mesh) ? failure() : verifyAxes(emitError, axes, *mesh);
}

static LogicalResult verifyCollective(Operation *op, StringRef name, TensorShardingAttr sharding,
                                      ListOfAxisRefListsAttr lists, SymbolTableCollection &symbols) {
  SmallVector<AxisRefAttr> axes;
  for (AxisRefListAttr list : lists.getValue())
    llvm::append_range(axes, list.getValue());
  return verifyCollective(op, name, sharding, axes, lists.getValue().size(), symbols);
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCollective(*this, "gathering_axes", getOutSharding(), getGatheringAxes(), symbols);
}

LogicalResult AllSliceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCollective(*this, "slicing_axes", getOutSharding(), getSlicingAxes(), symbols);
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCollective(*this, "reduce_scatter_axes", getOutSharding(), getReduceScatterAxes(), symbols);
}

LogicalResult ShardedToUnreducedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCollective(*this, "axes", getOutSharding(), getAxes(), symbols);
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCollective(*this, "reduction_axes", getOutSharding(), getReductionAxes().getValue(), std::nullopt,
                          symbols);
}

LogicalResult ReplicatedToUnreducedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCollective(*this, "axes", getOutSharding(), getAxes().getValue(), std::nullopt, symbols);
}

LogicalResult CollectivePermuteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyResult(*this, "out_sharding", getOutSharding(), symbols);
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SmallVector<AxisRefAttr> axes;
  int64_t rank = getOutSharding().getDimShardings().size();
  for (AllToAllParamAttr param : getParams().getValue()) {
    for (int64_t dimension : {param.getSrcDim(), param.getTgtDim()})
      if (dimension < 0 || dimension >= rank)
        return emitOpError() << "params names dimension " << dimension << " of a tensor of rank " << rank;
    if (param.getSrcDim() == param.getTgtDim())
      return emitOpError() << "params moves axes from dimension " << param.getSrcDim() << " to itself";
    llvm::append_range(axes, param.getAxes());
  }
  return verifyCollective(*this, "params", getOutSharding(), axes, std::nullopt, symbols);
}
