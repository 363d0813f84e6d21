//===- TTNNOps.cpp - hand-written TTNN verifiers and folders --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/ArgRoles.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AllocOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CaptureOrExecuteTraceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/D2MSubgraphOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DumpTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LoadTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TTLangOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

std::optional<shapes::ConfigNumbers> ttnn::readConfig(Attribute config, StringRef field) {
  const auto list = [](ArrayRef<IntegerAttr> values) {
    return shapes::ConfigNumbers{
        true, llvm::map_to_vector(values, [](IntegerAttr value) { return value.getValue().getSExtValue(); })};
  };
  if (auto shape = dyn_cast<ShapeAttr>(config))
    return shapes::ConfigNumbers{true, SmallVector<int64_t>(shape.getShape())};
  if (auto convolution = dyn_cast<Conv2dConfigAttr>(config)) {
    std::optional<uint32_t> number;
    if (field == "act_block_w_div")
      number = convolution.getActBlockWDiv();
    else if (field == "act_block_h_override")
      number = convolution.getActBlockHOverride();
    return number ? std::optional(shapes::ConfigNumbers{false, {int64_t(*number)}}) : std::nullopt;
  }
  if (auto mapper = dyn_cast<MeshMapperConfigAttr>(config)) {
    if (field != "placements")
      return list(mapper.getMeshShapeOverride());
    return shapes::ConfigNumbers{true, llvm::map_to_vector(mapper.getPlacements(), [](PlacementAttr placement) {
                                   return placement.getDim() ? placement.getDim().getValue().getSExtValue() : INT64_MIN;
                                 })};
  }
  if (auto composer = dyn_cast<MeshComposerConfigAttr>(config))
    return list(field == "dims" ? composer.getDims() : composer.getMeshShapeOverride());
  return std::nullopt;
}

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

/// Files of tensors carry their format in their name.
static LogicalResult verifyPath(Operation *op, StringRef path) {
  if (path.ends_with(".tensorbin"))
    return success();
  return op->emitOpError("attribute 'file_path' is \"") << path << "\"; expected a name that ends in .tensorbin";
}

LogicalResult LoadTensorOp::verify() { return verifyPath(*this, getFilePath()); }

LogicalResult DumpTensorOp::verify() { return verifyPath(*this, getFilePath()); }

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult TTLangOp::verify() { return verifyArgRoles(*this); }

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

FunctionOpInterface CaptureOrExecuteTraceOp::lookupTraced(SymbolTableCollection &symbols) {
  auto capture = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getCaptureCalleeAttr());
  if (!capture || capture.isExternal()) {
    emitOpError("attribute 'capture_callee' is ") << getCaptureCalleeAttr() << "; expected a function of this module";
    return {};
  }
  FunctionOpInterface traced;
  bool isOne = true;
  capture.getFunctionBody().walk([&](CallOpInterface call) {
    auto name = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
    auto callee = name ? symbols.lookupNearestSymbolFrom<FunctionOpInterface>(call, name) : FunctionOpInterface();
    isOne &= callee && (!traced || traced == callee);
    traced = callee;
  });
  if (traced && isOne && !traced.isExternal())
    return traced;
  emitOpError("attribute 'capture_callee' is ")
      << getCaptureCalleeAttr() << ", which calls no function to record; expected calls of one";
  return {};
}

LogicalResult CaptureOrExecuteTraceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionOpInterface traced = lookupTraced(symbols);
  if (!traced)
    return failure();
  if (!llvm::equal(traced.getArgumentTypes(), getInputs().getTypes()))
    return emitOpError("passes ") << getInputs().getTypes() << " to '" << traced.getName() << "', which takes "
                                  << traced.getArgumentTypes();
  if (!llvm::equal(traced.getResultTypes(), getResultTypes()))
    return emitOpError("has results of types ")
           << getResultTypes() << "; expected those of '" << traced.getName() << "', " << traced.getResultTypes();
  auto slots = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getAllocateSlotsCalleeAttr());
  if (!slots || !slots.getArgumentTypes().empty() || !llvm::equal(slots.getResultTypes(), getInputs().getTypes()))
    return emitOpError("attribute 'allocate_slots_callee' is ")
           << getAllocateSlotsCalleeAttr()
           << "; expected a function that takes nothing and returns the types of inputs";
  auto execute = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getExecuteCalleeAttr());
  if (!execute || execute.getNumArguments() != 1 || execute.getNumResults() != 0)
    return emitOpError("attribute 'execute_callee' is ")
           << getExecuteCalleeAttr() << "; expected a function that takes the number of a recording alone";
  return success();
}
