//===- D2MOps.cpp - parsers, printers and verifiers of D2M ops ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/IR/D2M.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

//===----------------------------------------------------------------------===//
// Rules that ops share
//===----------------------------------------------------------------------===//

/// Results are the outputs that are tensors.
static LogicalResult verifyResultsAreOutputs(Operation *op, ValueRange outputs) {
  SmallVector<Type> tensors;
  for (Value output : outputs)
    if (isa<RankedTensorType>(output.getType()))
      tensors.push_back(output.getType());
  if (op->getNumResults() != tensors.size())
    return op->emitOpError() << "has " << op->getNumResults() << " results and " << tensors.size()
                             << " outputs that are tensors";
  for (auto [index, types] : llvm::enumerate(llvm::zip(op->getResultTypes(), tensors)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError() << "result " << index << " is " << std::get<0>(types) << "; expected the output's type, "
                               << std::get<1>(types);
  return success();
}

/// An address has one index per dimension of the grid, or one per dimension.
static LogicalResult verifyIndices(Operation *op, Value memory, size_t indices) {
  const int64_t rank = cast<ShapedType>(memory.getType()).getRank();
  const auto count = static_cast<int64_t>(indices);
  if (count == rank || 2 * count == rank)
    return success();
  return op->emitOpError() << "has " << count << " indices for an operand of " << rank << " dimensions; expected "
                           << rank << " or half of that";
}

template <class Op> static LogicalResult verifyOneBuffer(Op op) {
  if (bool(op.getLocalBuffer()) == bool(op.getCb()))
    return op.emitOpError() << (op.getCb() ? "has a local buffer and a circular buffer; expected one of them"
                                           : "has neither a local buffer nor a circular buffer");
  return verifyIndices(op, op.getMemref(), op.getIndices().size());
}

//===----------------------------------------------------------------------===//
// generic, spatial
//===----------------------------------------------------------------------===//

/// `( values [: types] )`
static ParseResult parseGroup(OpAsmParser &parser, OperationState &result, int32_t &count) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(operands))
    return failure();
  if (succeeded(parser.parseOptionalColon()) && parser.parseTypeList(types))
    return failure();
  count = static_cast<int32_t>(operands.size());
  return failure(parser.parseRParen() || parser.resolveOperands(operands, types, at, result.operands));
}

/// A line of its own: `keyword ( values [: types] )`
static void printGroup(OpAsmPrinter &printer, StringRef keyword, ValueRange values) {
  printer.printNewline();
  printer << "    " << keyword << '(';
  if (!values.empty())
    printer << values << " : " << values.getTypes();
  printer << ')';
}

ParseResult GenericOp::parse(OpAsmParser &parser, OperationState &result) {
  int32_t inputs = 0, outputs = 0, others = 0;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseKeyword("ins") ||
      parseGroup(parser, result, inputs) || parser.parseKeyword("outs") || parseGroup(parser, result, outputs))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("additionalArgs")) && parseGroup(parser, result, others))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {inputs, outputs, others};
  while (true) {
    auto region = std::make_unique<Region>();
    OptionalParseResult parsed = parser.parseOptionalRegion(*region);
    if (!parsed.has_value())
      break;
    if (failed(*parsed))
      return failure();
    result.addRegion(std::move(region));
    if (failed(parser.parseOptionalComma()))
      break;
  }
  return parser.parseOptionalColonTypeList(result.types);
}

void GenericOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {getOperandSegmentSizeAttr()});
  printGroup(printer, "ins", getInputs());
  printGroup(printer, "outs", getOutputs());
  if (!getAdditionalArgs().empty())
    printGroup(printer, "additionalArgs", getAdditionalArgs());
  printer << ' ';
  // Without its label, an empty block would not be read again: the region would have one block less.
  llvm::interleaveComma(getRegions(), printer, [&](Region &region) {
    printer.printRegion(region, /*printEntryBlockArgs=*/true, /*printBlockTerminators=*/true, /*printEmptyBlock=*/true);
  });
  if (getNumResults())
    printer << " : " << getResultTypes();
}

LogicalResult GenericOp::verify() {
  if (getOutputs().empty())
    return emitOpError("has no outputs");
  if (getThreads().size() != getNumRegions())
    return emitOpError() << "threads has " << getThreads().size() << " entries for " << getNumRegions() << " regions";
  const size_t maps = getIndexingMaps().size(), operands = getInputs().size() + getOutputs().size();
  const size_t loops = getIteratorTypes().size();
  if (getBlockFactors().size() != loops)
    return emitOpError() << "block_factors has " << getBlockFactors().size() << " entries and iterator_types " << loops;
  if (maps && maps != operands)
    return emitOpError() << "indexing_maps has " << maps << " entries for " << operands << " operands";
  if (!maps != !loops)
    return emitOpError() << "has " << maps << " indexing_maps and " << loops
                         << " iterator_types; expected both or neither";
  // Inputs and outputs come first among the operands.
  for (auto [index, map] : llvm::enumerate(getIndexingMaps().getAsValueRange<AffineMapAttr>())) {
    if (map.getNumDims() != loops)
      return emitOpError() << "indexing_maps[" << index << "] has " << map.getNumDims() << " dimensions; expected "
                           << loops << ", as iterator_types has";
    const Value operand = getOperand(static_cast<unsigned>(index));
    const int64_t rank = cast<ShapedType>(operand.getType()).getRank();
    const bool onGrid =
        isa<MemRefType>(operand.getType()) ||
        isa_and_nonnull<ttcore::MetalLayoutAttr>(cast<RankedTensorType>(operand.getType()).getEncoding());
    if (onGrid && rank != 2 * static_cast<int64_t>(map.getNumResults()))
      return emitOpError() << "indexing_maps[" << index << "] has " << map.getNumResults()
                           << " results for an operand of " << rank
                           << " dimensions; expected half as many, those of its grid";
  }
  for (Region &region : getRegions())
    if (region.getNumArguments() != getRegion(0).getNumArguments())
      return emitOpError() << "region " << region.getRegionNumber() << " has " << region.getNumArguments()
                           << " arguments and region 0 " << getRegion(0).getNumArguments();
  return verifyResultsAreOutputs(*this, getOutputs());
}

LogicalResult SpatialOp::verify() {
  if (getGridRanges().size() != getNumRegions())
    return emitOpError() << "grid_ranges has " << getGridRanges().size() << " entries for " << getNumRegions()
                         << " regions";
  return verifyResultsAreOutputs(*this, getOutputs());
}

//===----------------------------------------------------------------------===//
// Layouts and buffers
//===----------------------------------------------------------------------===//

LogicalResult ToLayoutOp::verify() { return verifyResultsAreOutputs(*this, getOutput()); }
LogicalResult ToDeviceOp::verify() { return verifyResultsAreOutputs(*this, getOutput()); }
LogicalResult ToHostOp::verify() { return verifyResultsAreOutputs(*this, getOutput()); }

/// Verifies that a block from a circular buffer has its shape and element type.
static LogicalResult verifyBlock(Operation *op, CBType cb, Type block) {
  auto shaped = cast<ShapedType>(block);
  if (shaped.getShape() == cb.getShape() && shaped.getElementType() == cb.getElementType())
    return success();
  return op->emitOpError() << "gives " << block << "; expected a block of " << cb;
}
LogicalResult ReserveOp::verify() { return verifyBlock(*this, getCb().getType(), getResult().getType()); }
LogicalResult WaitOp::verify() { return verifyBlock(*this, getCb().getType(), getResult().getType()); }

//===----------------------------------------------------------------------===//
// remote_load, remote_store
//===----------------------------------------------------------------------===//

ParseResult RemoteLoadOp::parse(OpAsmParser &parser, OperationState &result) {
  using Operand = OpAsmParser::UnresolvedOperand;
  SmallVector<Operand> buffers, indices, cbs, starts, shapes, dims;
  // The local buffer precedes the operand; a single operand has none.
  Operand memref;
  if (parser.parseOperand(memref))
    return failure();
  if (OptionalParseResult next = parser.parseOptionalOperand(buffers.emplace_back()); next.has_value()) {
    if (failed(*next))
      return failure();
    std::swap(memref, buffers.front());
  } else {
    buffers.clear();
  }
  const auto list = [&](SmallVector<Operand> &operands) {
    return parser.parseOperandList(operands, OpAsmParser::Delimiter::Square);
  };
  if (list(indices))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("into")) && parser.parseOperand(cbs.emplace_back()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mcore")) &&
      (list(starts) || parser.parseKeyword("mshape") || list(shapes)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mcast")) && list(dims))
    return failure();
  SmallVector<Type> types(1);
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(types.front()))
    return failure();
  if (!buffers.empty() && (parser.parseComma() || parser.parseType(types.emplace_back())))
    return failure();
  if (!cbs.empty() && (parser.parseKeyword("into") || parser.parseType(types.emplace_back())))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(result.types.emplace_back()))
    return failure();
  const Type index = parser.getBuilder().getIndexType();
  if ((!buffers.empty() && parser.resolveOperand(buffers.front(), types.front(), result.operands)) ||
      parser.resolveOperand(memref, types[buffers.size()], result.operands) ||
      parser.resolveOperands(indices, index, result.operands) ||
      (!cbs.empty() && parser.resolveOperand(cbs.front(), types.back(), result.operands)) ||
      parser.resolveOperands(starts, index, result.operands) ||
      parser.resolveOperands(shapes, index, result.operands) || parser.resolveOperands(dims, index, result.operands))
    return failure();
  const auto count = [](const SmallVector<Operand> &operands) { return static_cast<int32_t>(operands.size()); };
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      count(buffers), 1, count(indices), count(cbs), count(starts), count(shapes), count(dims)};
  return success();
}

void RemoteLoadOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (getLocalBuffer())
    printer << getLocalBuffer() << ' ';
  printer << getMemref() << '[' << getIndices() << ']';
  if (getCb())
    printer << " into " << getCb();
  if (!getMcastStartIndex().empty())
    printer << " mcore[" << getMcastStartIndex() << "] mshape[" << getMcastShape() << ']';
  if (!getMcastDims().empty())
    printer << " mcast[" << getMcastDims() << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {getOperandSegmentSizeAttr()});
  printer << " : ";
  if (getLocalBuffer())
    printer << getLocalBuffer().getType() << ", ";
  printer << getMemref().getType();
  if (getCb())
    printer << " into " << getCb().getType();
  if (getResult())
    printer << " -> " << getResult().getType();
}

LogicalResult RemoteLoadOp::verify() {
  if (getMcastStartIndex().size() != getMcastShape().size())
    return emitOpError() << "mcore has " << getMcastStartIndex().size() << " indices and mshape "
                         << getMcastShape().size();
  if (!getMcastDims().empty() && !getMcastShape().empty())
    return emitOpError("has mcore and mcast; expected one of them");
  return verifyOneBuffer(*this);
}
LogicalResult RemoteStoreOp::verify() { return verifyOneBuffer(*this); }
