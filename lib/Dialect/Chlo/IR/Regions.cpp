//===- Regions.cpp - scans and products of groups -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::chlo;

//===----------------------------------------------------------------------===//
// RaggedDotOp
//===----------------------------------------------------------------------===//

/// Dimensions of a tensor, each of them once.
static LogicalResult checkDimensions(RaggedDotOp op, StringRef operand, Value tensor,
                                     std::initializer_list<ArrayRef<int64_t>> lists) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> seen;
  for (ArrayRef<int64_t> list : lists)
    for (int64_t dimension : list) {
      if (dimension < 0 || dimension >= type.getRank())
        return op.emitOpError() << operand << " is " << type << ", and dimension " << dimension
                                << " of it is named; expected less than its rank";
      if (llvm::is_contained(seen, dimension))
        return op.emitOpError() << "names dimension " << dimension << " of " << operand << " twice";
      seen.push_back(dimension);
    }
  return success();
}

LogicalResult RaggedDotOp::verify() {
  RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  if (numbers.getLhsRaggedDimensions().size() != 1)
    return emitOpError() << "lhs_ragged_dimensions has " << numbers.getLhsRaggedDimensions().size()
                         << " dimensions; expected one";
  if (failed(checkDimensions(*this, "lhs", getLhs(),
                             {numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()})) ||
      failed(checkDimensions(*this, "lhs", getLhs(), {numbers.getLhsRaggedDimensions()})) ||
      failed(checkDimensions(*this, "rhs", getRhs(),
                             {numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions(),
                              numbers.getRhsGroupDimensions()})))
    return failure();
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType()),
       sizes = cast<RankedTensorType>(getGroupSizes().getType());
  const int64_t ragged = numbers.getLhsRaggedDimensions().front();
  const bool batching = llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged);
  const bool contracting = llvm::is_contained(numbers.getLhsContractingDimensions(), ragged);
  const size_t groupDimensions = batching || contracting ? 0 : 1;
  if (numbers.getRhsGroupDimensions().size() != groupDimensions)
    return emitOpError() << "rhs_group_dimensions has " << numbers.getRhsGroupDimensions().size()
                         << " dimensions; expected " << groupDimensions << " where the ragged dimension is "
                         << (batching      ? "a batching one"
                             : contracting ? "a contracting one"
                                           : "a free one");
  if (sizes.getRank() == 0)
    return emitOpError() << "group_sizes is " << sizes << "; expected the sizes of the groups as its last dimension";
  const int64_t groups = sizes.getShape().back();
  SmallVector<int64_t> expected;
  if (contracting)
    expected.push_back(groups);
  auto pair = [&](StringRef name, ArrayRef<int64_t> lefts, ArrayRef<int64_t> rights) -> LogicalResult {
    if (lefts.size() != rights.size())
      return emitOpError() << "has " << lefts.size() << " " << name << " dimensions of lhs and " << rights.size()
                           << " of rhs; expected the same number";
    for (auto [left, right] : llvm::zip_equal(lefts, rights))
      if (failed(verifyCompatibleShape({lhs.getDimSize(left)}, {rhs.getDimSize(right)})))
        return emitOpError() << name << " dimensions " << left << " of lhs and " << right << " of rhs have sizes "
                             << lhs.getDimSize(left) << " and " << rhs.getDimSize(right) << "; expected the same";
    return success();
  };
  if (failed(pair("batching", numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions())) ||
      failed(pair("contracting", numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions())))
    return failure();
  for (int64_t dimension : numbers.getRhsGroupDimensions())
    if (failed(verifyCompatibleShape({groups}, {rhs.getDimSize(dimension)})))
      return emitOpError() << "group_sizes is " << sizes << " and dimension " << dimension << " of rhs is "
                           << rhs.getDimSize(dimension) << "; expected a matrix for each group";
  for (int64_t dimension : numbers.getLhsBatchingDimensions())
    expected.push_back(lhs.getDimSize(dimension));
  for (int64_t dimension = 0; dimension < lhs.getRank(); ++dimension)
    if (!llvm::is_contained(numbers.getLhsBatchingDimensions(), dimension) &&
        !llvm::is_contained(numbers.getLhsContractingDimensions(), dimension))
      expected.push_back(lhs.getDimSize(dimension));
  for (int64_t dimension = 0; dimension < rhs.getRank(); ++dimension)
    if (!llvm::is_contained(numbers.getRhsBatchingDimensions(), dimension) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), dimension) &&
        !llvm::is_contained(numbers.getRhsGroupDimensions(), dimension))
      expected.push_back(rhs.getDimSize(dimension));
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyCompatibleShape(expected, result.getShape())))
    return emitOpError() << "has the result " << result << "; expected "
                         << RankedTensorType::get(expected, result.getElementType());
  return success();
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

int64_t ScanOp::getScanSize() {
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (!type.isDynamicDim(static_cast<unsigned>(getDimension())))
      return type.getDimSize(static_cast<unsigned>(getDimension()));
  }
  return getScanDimSize() ? static_cast<int64_t>(*getScanDimSize()) : ShapedType::kDynamic;
}

/// A tensor type without one dimension, or null.
static RankedTensorType sliceOf(Type type, int64_t dimension) {
  auto tensor = cast<RankedTensorType>(type);
  if (dimension >= tensor.getRank())
    return {};
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + dimension);
  return RankedTensorType::get(shape, tensor.getElementType());
}

LogicalResult ScanOp::verify() {
  const auto dimension = static_cast<int64_t>(getDimension());
  Block &body = getBody().front();
  if (getCarries().size() != getInits().size())
    return emitOpError() << "has " << getInits().size() << " inits and " << getCarries().size()
                         << " carries; expected as many";
  if (body.getNumArguments() != getInputs().size() + getInits().size())
    return emitOpError() << "has a region of " << body.getNumArguments() << " arguments; expected "
                         << getInputs().size() + getInits().size() << ", one for each input and init";
  auto terminator = body.mightHaveTerminator() ? dyn_cast<stablehlo::ReturnOp>(body.back()) : stablehlo::ReturnOp();
  if (!terminator || terminator.getNumOperands() != getNumResults())
    return emitOpError() << "has a region that does not return " << getNumResults() << " values by stablehlo.return";
  if (getInputs().empty() && !getScanDimSize())
    return emitOpError() << "has no inputs and no scan_dim_size; expected one of them";
  auto check = [&](StringRef what, size_t index, Type whole, Type found) -> LogicalResult {
    RankedTensorType slice = sliceOf(whole, dimension);
    if (!slice)
      return emitOpError() << what << " " << index << " is " << whole << "; expected a rank above dimension "
                           << dimension;
    auto type = cast<RankedTensorType>(whole);
    const int64_t size = type.getDimSize(static_cast<unsigned>(dimension)), known = getScanSize();
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(known) && size != known)
      return emitOpError() << what << " " << index << " has size " << size << " in dimension " << dimension
                           << "; expected " << known;
    if (getElementTypeOrSelf(found) != slice.getElementType() || failed(verifyCompatibleShape(found, slice)))
      return emitOpError() << what << " " << index << " is " << found << " in the region; expected " << slice;
    return success();
  };
  auto same = [&](StringRef what, size_t index, Type expected, Type found) -> LogicalResult {
    if (getElementTypeOrSelf(found) == getElementTypeOrSelf(expected) &&
        succeeded(verifyCompatibleShape(found, expected)))
      return success();
    return emitOpError() << what << " " << index << " is " << found << "; expected " << expected << ", as its init is";
  };
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (failed(check("input", index, input.getType(), body.getArgument(index).getType())))
      return failure();
  for (auto [index, output] : llvm::enumerate(getOutputs()))
    if (failed(check("output", index, output.getType(), terminator.getOperand(index).getType())))
      return failure();
  for (auto [index, init] : llvm::enumerate(getInits()))
    if (failed(same("argument of the region", index, init.getType(),
                    body.getArgument(getInputs().size() + index).getType())) ||
        failed(same("returned value", index, init.getType(),
                    terminator.getOperand(getOutputs().size() + index).getType())) ||
        failed(same("carry", index, init.getType(), getCarries()[index].getType())))
      return failure();
  return success();
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  auto list = [&](SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
    return parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren);
  };
  SMLoc loc = parser.getCurrentLocation();
  IntegerAttr dimension;
  if (list(inputs) || parser.parseKeyword("inits") || list(inits) || parser.parseKeyword("dimension") ||
      parser.parseEqual() ||
      parser.parseAttribute(dimension, parser.getBuilder().getI64Type(), "dimension", result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("attributes")) && parser.parseOptionalAttrDict(result.attributes))
    return failure();
  FunctionType type;
  if (parser.parseRegion(*result.addRegion()) || parser.parseColon() || parser.parseType(type))
    return failure();
  if (type.getNumInputs() != inputs.size() + inits.size() || type.getNumResults() < inits.size())
    return parser.emitError(loc) << "has " << inputs.size() << " inputs, " << inits.size() << " inits and the type "
                                 << type << "; expected a type for each of them, and results for all inits";
  SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  llvm::append_range(operands, inits);
  if (parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  auto &properties = result.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(inputs.size()), static_cast<int32_t>(inits.size())};
  properties.resultSegmentSizes = {static_cast<int32_t>(type.getNumResults() - inits.size()),
                                   static_cast<int32_t>(inits.size())};
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(';
  printer.printOperands(getInputs());
  printer << ") inits (";
  printer.printOperands(getInits());
  printer << ") dimension = " << getDimension();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}
