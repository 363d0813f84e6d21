//===- TTNNOps.cpp - hand-written TTNN verifiers and folders --------------===//

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Devices and memory
//===----------------------------------------------------------------------===//

LogicalResult GetDeviceOp::verify() {
  if (MeshShapeAttr shape = getMeshShapeAttr(); shape && (shape.getY() < 1 || shape.getX() < 1))
    return emitOpError("attribute 'mesh_shape' is ") << shape << "; expected sizes of 1 or more";
  if (MeshOffsetAttr offset = getMeshOffsetAttr(); offset && (offset.getY() < 0 || offset.getX() < 0))
    return emitOpError("attribute 'mesh_offset' is ") << offset << "; expected 0 or more";
  return success();
}

LogicalResult AllocOp::verify() {
  if (shapes::signedInt(getSize()) < 1)
    return emitOpError("attribute 'size' is ") << shapes::signedInt(getSize()) << "; expected 1 or more";
  if (shapes::signedInt(getAddress()) < 0)
    return emitOpError("attribute 'address' is ") << shapes::signedInt(getAddress()) << "; expected 0 or more";
  return success();
}

/// A tensor can be written only to one of its shape.
static LogicalResult verifySameShape(Operation *op, Value from, Value to) {
  if (shapes::haveSameShapes(from.getType(), to.getType()))
    return success();
  return op->emitOpError("cannot write ") << from.getType() << " to " << to.getType() << "; the shapes differ";
}

LogicalResult CopyOp::verify() { return verifySameShape(*this, getSrc(), getDst()); }

LogicalResult WriteTensorOp::verify() { return verifySameShape(*this, getHostTensor(), getDeviceTensor()); }

/// Files of tensors carry their format in their name.
static LogicalResult verifyPath(Operation *op, StringRef path) {
  if (path.ends_with(".tensorbin"))
    return success();
  return op->emitOpError("attribute 'file_path' is \"") << path << "\"; expected a name that ends in .tensorbin";
}

LogicalResult LoadTensorOp::verify() { return verifyPath(*this, getFilePath()); }

LogicalResult DumpTensorOp::verify() { return verifyPath(*this, getFilePath()); }

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// `whole` and `part` have the same sizes but where `isSplit`, where those of
/// `whole` are a multiple.
static LogicalResult verifyParts(Operation *op, Value whole, Value part, ArrayRef<int64_t> splitDims,
                                 StringRef attribute) {
  auto wholeType = cast<RankedTensorType>(whole.getType()), partType = cast<RankedTensorType>(part.getType());
  int64_t rank = wholeType.getRank();
  if (partType.getRank() != rank)
    return op->emitOpError("has input and result of ranks ")
           << cast<RankedTensorType>(op->getOperand(0).getType()).getRank() << " and "
           << cast<RankedTensorType>(op->getResult(0).getType()).getRank() << "; expected the same";
  SmallVector<bool> isSplit(rank);
  for (int64_t dim : splitDims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError("attribute '")
             << attribute << "' names dimension " << dim << "; the tensor has rank " << rank;
    isSplit[dim] = true;
  }
  for (int64_t i = 0; i < rank; ++i) {
    int64_t wholeSize = wholeType.getDimSize(i), partSize = partType.getDimSize(i);
    if (wholeSize == partSize || (isSplit[i] && partSize > 0 && wholeSize % partSize == 0))
      continue;
    return op->emitOpError("dimension ") << i << " has sizes " << wholeSize << " whole and " << partSize
                                         << " per device; "
                                         << (isSplit[i] ? "expected a multiple" : "it is not distributed");
  }
  return success();
}

LogicalResult DistributeTensorOp::verify() {
  SmallVector<int64_t> dims;
  for (PlacementAttr placement : getMapperConfig().getPlacements())
    if (IntegerAttr dim = placement.getDim())
      dims.push_back(dim.getValue().getSExtValue());
  return verifyParts(*this, getInput(), getResult(), dims, "mapper_config");
}

LogicalResult AggregateTensorOp::verify() {
  SmallVector<int64_t> dims;
  // An axis with a negative dimension joins nothing.
  for (IntegerAttr dim : getComposerConfig().getDims())
    if (int64_t along = dim.getValue().getSExtValue(); along >= 0)
      dims.push_back(along);
  return verifyParts(*this, getResult(), getInput(), dims, "composer_config");
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult D2MSubgraphOp::verify() {
  if (getResultTypes() != getOutputs().getTypes())
    return emitOpError("has results of types ")
           << getResultTypes() << "; expected those of the outputs, " << getOutputs().getTypes();
  return success();
}

LogicalResult D2MSubgraphOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getD2mFuncAttr());
  if (!function)
    return emitOpError("calls ") << getD2mFuncAttr() << ", which is no function of this module";
  if (!llvm::equal(function.getArgumentTypes(), getInputs().getTypes()))
    return emitOpError("passes ") << getInputs().getTypes() << " to " << getD2mFuncAttr() << ", which takes "
                                  << function.getArgumentTypes();
  return success();
}
