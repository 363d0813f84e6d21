//===- ControlFlow.cpp - StableHLO control flow and calls -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"
#include "Syntax.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// A region that takes and returns values of the given types; `name` is its name in ODS.
static LogicalResult checkRegion(Operation *op, const Twine &name, Region &region, TypeRange takes, TypeRange returns) {
  Block &block = region.front();
  if (!compatibleTypes(takes, block.getArgumentTypes()))
    return op->emitOpError() << "has a " << name << " of arguments (" << block.getArgumentTypes() << "); expected ("
                             << takes << ")";
  TypeRange found = block.getTerminator()->getOperandTypes();
  if (!compatibleTypes(returns, found))
    return block.getTerminator()->emitOpError()
           << "returns (" << found << ") from the " << name << "; expected (" << returns << ")";
  return success();
}

LogicalResult CaseOp::verifyRegions() {
  if (getBranches().empty())
    return emitOpError("has no branches; expected one or more");
  for (auto [index, branch] : llvm::enumerate(getBranches()))
    if (failed(checkRegion(*this, "branch " + Twine(index), branch, {}, getResultTypes())))
      return failure();
  return success();
}

LogicalResult IfOp::verifyRegions() {
  return success(succeeded(checkRegion(*this, "true_branch", getTrueBranch(), {}, getResultTypes())) &&
                 succeeded(checkRegion(*this, "false_branch", getFalseBranch(), {}, getResultTypes())));
}

LogicalResult WhileOp::verifyRegions() {
  TypeRange carried = getOperandTypes();
  if (!compatibleTypes(carried, getResultTypes()))
    return emitOpError() << "has results (" << getResultTypes() << "); expected those of its operands, (" << carried
                         << ")";
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return success(succeeded(checkRegion(*this, "cond", getCond(), carried, pred)) &&
                 succeeded(checkRegion(*this, "body", getBody(), carried, carried)));
}

LogicalResult MapOp::verifyRegions() {
  auto result = cast<RankedTensorType>(getResult().getType());
  if (getInputs().empty())
    return emitOpError("has no operands; expected one or more");
  if (!llvm::equal(getDimensions(), llvm::seq<int64_t>(result.getRank())))
    return emitOpError() << "has dimensions [" << getDimensions() << "]; expected all, in order, of rank "
                         << result.getRank();
  SmallVector<Type> scalars;
  for (Type type : getInputs().getTypes())
    scalars.push_back(RankedTensorType::get({}, cast<RankedTensorType>(type).getElementType()));
  return checkRegion(*this, "computation", getComputation(), scalars,
                     Type(RankedTensorType::get({}, result.getElementType())));
}

/// The same in both regions, whose scopes begin with the same names.
void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

/// Results, and the arguments of both regions, which have the types of the operands, are printed with these once.
static bool hasOneListOfTypes(WhileOp op) {
  return llvm::all_of(
      llvm::ArrayRef<TypeRange>{op.getResultTypes(), op.getCond().getArgumentTypes(), op.getBody().getArgumentTypes()},
      [&](TypeRange types) { return types == op->getOperandTypes(); });
}

void WhileOp::print(OpAsmPrinter &printer) {
  const bool isShort = hasOneListOfTypes(*this);
  printer << '(';
  llvm::interleaveComma(llvm::enumerate(getOperands()), printer, [&](auto each) {
    if (isShort)
      printer << getCond().getArgument(each.index()) << " = ";
    printer << each.value();
  });
  printer << ')';
  if (!isShort)
    printer << " : " << getOperandTypes() << " -> " << getResultTypes();
  else if (getNumOperands())
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  for (auto [keyword, region] : {std::pair("cond", &getCond()), std::pair("do", &getBody())}) {
    if (region == &getCond())
      printer.printNewline();
    printer << ' ' << keyword << ' ';
    printer.printRegion(*region, /*printEntryBlockArgs=*/!isShort);
  }
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    OpAsmParser::Argument first;
    if (parser.parseArgument(first))
      return failure();
    if (failed(parser.parseOptionalEqual())) {
      operands.push_back(first.ssaName); // its region names the argument
      return success();
    }
    arguments.push_back(first);
    return parser.parseOperand(operands.emplace_back());
  };
  SmallVector<Type> types, results;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePair) ||
      (succeeded(parser.parseOptionalColon()) && parser.parseTypeList(types)))
    return failure();
  const bool hasResults = succeeded(parser.parseOptionalArrow());
  if (hasResults && parser.parseTypeList(results))
    return failure();
  if (arguments.size() != (hasResults ? 0 : operands.size()))
    return parser.emitError(loc) << "has " << arguments.size() << " arguments for " << operands.size()
                                 << " operands; expected " << (hasResults ? "none, as results are listed" : "as many");
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.addTypes(hasResults ? results : types);
  if (hasResults)
    types.clear();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  Region *cond = result.addRegion(), *body = result.addRegion();
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*cond, arguments) || parser.parseKeyword("do") ||
                 parser.parseRegion(*body, arguments));
}

LogicalResult OptimizationBarrierOp::verify() {
  if (getOperandTypes() != getResultTypes())
    return emitOpError() << "has results (" << getResultTypes() << "); expected those of its operands, ("
                         << getOperandTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getDecompositionAttr());
  if (!function)
    return emitOpError("has the decomposition '") << getDecomposition() << "', which is not a function of this module";
  if (getOperandTypes() != TypeRange(function.getArgumentTypes()) ||
      getResultTypes() != TypeRange(function.getResultTypes()))
    return emitOpError() << "is (" << getOperandTypes() << ") -> (" << getResultTypes() << ") but its decomposition '"
                         << getDecomposition() << "' is (" << function.getArgumentTypes() << ") -> ("
                         << function.getResultTypes() << ")";
  return success();
}

LogicalResult CustomCallOp::verify() {
  auto check = [&](StringRef name, std::optional<ArrayAttr> layouts, TypeRange types, StringRef what) -> LogicalResult {
    if (!layouts)
      return success();
    if (layouts->size() != types.size())
      return emitOpError() << "has " << layouts->size() << ' ' << name << "; expected one for each of its "
                           << types.size() << ' ' << what;
    for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(*layouts, types))) {
      auto order = dyn_cast<DenseIntElementsAttr>(std::get<0>(pair));
      auto tensor = dyn_cast<ShapedType>(std::get<1>(pair));
      if (!order)
        return emitOpError() << name << '[' << index << "] is " << std::get<0>(pair)
                             << "; expected the dimensions, minor to major";
      if (tensor && tensor.hasRank() && order.getNumElements() != tensor.getRank())
        return emitOpError() << name << '[' << index << "] has " << order.getNumElements()
                             << " dimensions; expected a permutation of those of " << Type(tensor);
    }
    return success();
  };
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError("has only one of operand_layouts and result_layouts; expected both or none");
  if (getResultLayouts() && getNumResults() == 1 && isa<TupleType>(getResultTypes().front()))
    return check("operand_layouts", getOperandLayouts(), getOperandTypes(), "operands");
  return success(succeeded(check("operand_layouts", getOperandLayouts(), getOperandTypes(), "operands")) &&
                 succeeded(check("result_layouts", getResultLayouts(), getResultTypes(), "results")));
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

LogicalResult TupleOp::verify() {
  auto tuple = cast<TupleType>(getResult().getType());
  if (TypeRange(tuple.getTypes()) != getOperandTypes())
    return emitOpError() << "gives " << tuple << "; expected a tuple of (" << getOperandTypes() << ")";
  return success();
}

LogicalResult GetTupleElementOp::verify() {
  auto tuple = cast<TupleType>(getOperand().getType());
  if (getIndex() >= tuple.size())
    return emitOpError() << "has index " << getIndex() << " of " << tuple << "; expected less than " << tuple.size();
  if (tuple.getType(getIndex()) != getType())
    return emitOpError() << "gives " << getType() << "; expected " << tuple.getType(getIndex());
  return success();
}

OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  auto tuple = getOperand().getDefiningOp<TupleOp>();
  return tuple ? tuple.getOperand(getIndex()) : Value();
}
