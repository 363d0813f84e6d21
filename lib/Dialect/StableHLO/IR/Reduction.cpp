//===- Reduction.cpp - StableHLO ops with reduction regions ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"
#include "Syntax.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Verification shared by reductions
//===----------------------------------------------------------------------===//

/// The tensors to reduce, all of one shape, each with an initial scalar of its element type.
static FailureOr<RankedTensorType> checkInputs(OptionalLoc loc, StringRef op, ValueRange operands) {
  if (operands.empty() || operands.size() % 2 != 0)
    return emitOptionalError(loc, op, ": has ", operands.size(),
                             " operands; expected one or more tensors and an initial value for each");
  size_t count = operands.size() / 2;
  FailureOr<RankedTensorType> first = rankedOperand(loc, op, operands, 0);
  if (failed(first))
    return failure();
  for (size_t index = 0; index < count; ++index) {
    FailureOr<RankedTensorType> input = rankedOperand(loc, op, operands, index);
    FailureOr<RankedTensorType> init = rankedOperand(loc, op, operands, count + index);
    if (failed(input) || failed(init))
      return failure();
    if (failed(verifyCompatibleShape(*input, *first)))
      return emitOptionalError(loc, op, ": operand ", index, " is ", *input, "; expected the shape of ", *first,
                               ", which operand 0 has");
    if (init->getRank() != 0 || init->getElementType() != input->getElementType())
      return emitOptionalError(loc, op, ": operand ", count + index, " is ", *init,
                               "; expected a scalar with the element type of ", *input);
  }
  return first;
}

LogicalResult stablehlo::verifyCombiner(Operation *op, Block &body, size_t tensors) {
  size_t count = op->getNumResults();
  auto scalar = [&](size_t index) {
    return RankedTensorType::get({}, cast<RankedTensorType>(op->getResult(index).getType()).getElementType());
  };
  if (tensors != count || body.getNumArguments() != 2 * count)
    return op->emitOpError() << "has " << tensors << " tensors, a region of " << body.getNumArguments()
                             << " arguments and " << count
                             << " results; expected two arguments and one result for each tensor";
  for (size_t index = 0; index < 2 * count; ++index)
    if (body.getArgument(index).getType() != scalar(index % count))
      return op->emitOpError() << "has region argument " << index << " of type " << body.getArgument(index).getType()
                               << "; expected " << scalar(index % count);
  Operation *terminator = body.getTerminator();
  if (terminator->getNumOperands() != count)
    return terminator->emitOpError() << "returns " << terminator->getNumOperands() << " values; expected " << count;
  for (size_t index = 0; index < count; ++index)
    if (terminator->getOperand(index).getType() != scalar(index))
      return terminator->emitOpError() << "returns a value " << index << " of type "
                                       << terminator->getOperand(index).getType() << "; expected " << scalar(index);
  return success();
}

LogicalResult ReduceOp::verifyRegions() { return verifyCombiner(*this, getBody().front(), getNumOperands() / 2); }
LogicalResult ReduceWindowOp::verifyRegions() { return verifyCombiner(*this, getBody().front(), getNumOperands() / 2); }

/// One result of `shape` for each tensor, with its element type.
static void appendResults(ArrayRef<int64_t> shape, ValueRange operands, ResultTypes &types) {
  for (Type type : operands.take_front(operands.size() / 2).getTypes())
    types.push_back(RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType()));
}

LogicalResult ReduceOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = checkInputs(loc, op, adaptor.getOperands());
  if (failed(type) || failed(checkDimensions(loc, op, "dimensions", adaptor.getDimensions(), type->getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dimension, size] : llvm::enumerate(type->getShape()))
    if (!llvm::is_contained(adaptor.getDimensions(), static_cast<int64_t>(dimension)))
      shape.push_back(size);
  appendResults(shape, adaptor.getOperands(), types);
  return success();
}

/// Window sizes given as an attribute are known.
static LogicalResult checkWindowSizes(OptionalLoc loc, StringRef op, ArrayRef<int64_t> sizes, int64_t rank) {
  for (int64_t size : sizes)
    if (size <= 0)
      return emitOptionalError(loc, op, ": window_dimensions contains ", size, "; expected positive numbers");
  return checkLength(loc, op, "window_dimensions", sizes.size(), rank);
}

LogicalResult ReduceWindowOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = checkInputs(loc, op, adaptor.getOperands());
  if (failed(type) || failed(checkWindowSizes(loc, op, adaptor.getWindowDimensions(), type->getRank())))
    return failure();
  FailureOr<SmallVector<Window>> windows =
      readWindows(loc, op, adaptor.getWindowDimensions(), adaptor.getWindowStrides(), adaptor.getPadding(),
                  adaptor.getBaseDilations(), adaptor.getWindowDilations());
  if (failed(windows))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dimension, size, window] : llvm::enumerate(type->getShape(), *windows)) {
    FailureOr<int64_t> count = countWindows(loc, op, dimension, size, window);
    if (failed(count))
      return failure();
    shape.push_back(*count);
  }
  appendResults(shape, adaptor.getOperands(), types);
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax of ReduceOp
//===----------------------------------------------------------------------===//

/// Whether an op of this name can follow `applies`: its name states everything about it.
static bool canBeApplied(OperationName name) {
  std::optional<RegisteredOperationName> info = name.getRegisteredInfo();
  return info && name.getDialectNamespace() == StablehloDialect::getDialectNamespace() &&
         info->hasTrait<OpTrait::IsCommutative>() && info->hasTrait<OpTrait::NOperands<2>::Impl>() &&
         info->hasTrait<OpTrait::OneResult>() && info->hasTrait<OpTrait::ZeroRegions>();
}

/// The only op of a region that just returns `op(%element, %partial)`, or null.
static Operation *appliedOp(ReduceOp reduce) {
  Block &body = reduce.getBody().front();
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation &inner = body.front();
  bool plain = canBeApplied(inner.getName()) && llvm::equal(inner.getOperands(), body.getArguments()) &&
               inner.getAttrs().empty() && inner.getResult(0).getType() == body.getArgument(0).getType() &&
               body.getArgument(0).getType() == body.getArgument(1).getType() &&
               llvm::equal(body.getTerminator()->getOperands(), inner.getResults()) &&
               body.getTerminator()->getAttrs().empty();
  return plain ? &inner : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleave(
      llvm::zip(getInputs(), getInitValues()),
      [&](auto pair) { printer << std::get<0>(pair) << " init: " << std::get<1>(pair); }, [&] { printer << "), ("; });
  printer << ')';
  Operation *applied = appliedOp(*this);
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = ";
  printNumbers(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  Block &body = getBody().front();
  size_t count = getNumResults();
  for (size_t index = 0; index < count; ++index) {
    printer << '(';
    printer.printRegionArgument(body.getArgument(index));
    printer << ", ";
    printer.printRegionArgument(body.getArgument(index + count));
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Fills the region of `applies name`.
static ParseResult buildApplied(OpAsmParser &parser, SMLoc loc, StringRef name, OperationState &result) {
  OperationName applied(name, parser.getContext());
  if (!canBeApplied(applied))
    return parser.emitError(loc) << "'" << name << "' cannot be applied; expected a commutative stablehlo op of two "
                                 << "operands, or a reducer region";
  auto input =
      result.operands.size() == 2 ? dyn_cast<RankedTensorType>(result.operands.front().getType()) : RankedTensorType();
  if (!input)
    return parser.emitError(loc) << "expected one ranked tensor to apply '" << name << "' to";
  Type scalar = RankedTensorType::get({}, input.getElementType());
  OpBuilder builder(parser.getContext());
  Block *body = builder.createBlock(result.addRegion(), {}, {scalar, scalar}, {result.location, result.location});
  OperationState state(result.location, applied, body->getArguments(), scalar);
  Operation *inner = builder.create(state);
  ReturnOp::create(builder, result.location, inner->getResults());
  return success();
}

/// Reads `(%a: t, %b: t) (%c: u, %d: u) { ... }`; the arguments are the first of all pairs, then the second.
static ParseResult parseReducer(OpAsmParser &parser, size_t count, OperationState &result) {
  SmallVector<OpAsmParser::Argument> partials(count), elements(count);
  for (auto [partial, element] : llvm::zip(partials, elements))
    if (parser.parseLParen() || parser.parseArgument(partial, /*allowType=*/true) || parser.parseComma() ||
        parser.parseArgument(element, /*allowType=*/true) || parser.parseRParen())
      return failure();
  llvm::append_range(partials, elements);
  return parser.parseRegion(*result.addRegion(), partials);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
                   parser.parseColon() || parser.parseOperand(inits.emplace_back()) || parser.parseRParen());
  };
  SMLoc loc = parser.getCurrentLocation(), appliedLoc;
  StringRef applied;
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseCommaSeparatedList(parsePair))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    appliedLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&applied))
      return failure();
  }
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseNumbers(parser, dimensions) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  size_t count = inputs.size();
  llvm::append_range(inputs, inits);
  if (parser.resolveOperands(inputs, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().dimensions = parser.getBuilder().getDenseI64ArrayAttr(dimensions);
  if (!applied.empty())
    return buildApplied(parser, appliedLoc, applied, result);
  return failure(parser.parseKeyword("reducer") || parseReducer(parser, count, result));
}

LogicalResult SelectAndScatterOp::verifyRegions() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), source = cast<RankedTensorType>(getSource().getType());
  const int64_t rank = operand.getRank();
  SmallVector<int64_t> sizes(rank, 1);
  if (std::optional<ArrayRef<int64_t>> given = getWindowDimensions())
    sizes.assign(given->begin(), given->end());
  if (failed(checkWindowSizes(getLoc(), getOperationName(), sizes, rank)))
    return failure();
  FailureOr<SmallVector<Window>> windows =
      readWindows(getLoc(), getOperationName(), sizes, getWindowStrides(), getPadding(), std::nullopt, std::nullopt);
  if (failed(windows))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dimension, window] : llvm::enumerate(*windows)) {
    FailureOr<int64_t> count =
        countWindows(getLoc(), getOperationName(), dimension, operand.getDimSize(dimension), window);
    if (failed(count))
      return failure();
    shape.push_back(*count);
  }
  if (failed(verifyCompatibleShape(shape, source.getShape())) || source.getElementType() != operand.getElementType())
    return emitOpError() << "source is " << source << "; expected "
                         << RankedTensorType::get(shape, operand.getElementType()) << ", one element for each window";
  if (failed(verifyCompatibleShape(operand.getShape(), cast<RankedTensorType>(getType()).getShape())))
    return emitOpError() << "has a result of type " << getType() << "; expected the shape of " << operand;
  if (failed(checkResultKind(*this, operand, getType())))
    return failure();
  auto scalar = RankedTensorType::get({}, operand.getElementType());
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  for (auto [name, region, returns] :
       {std::tuple("select", &getSelect(), pred), std::tuple("scatter", &getScatter(), Type(scalar))}) {
    Block &block = region->front();
    if (block.getArgumentTypes() != TypeRange({Type(scalar), Type(scalar)}))
      return emitOpError() << name << " takes (" << block.getArgumentTypes() << "); expected two of " << scalar;
    if (block.empty() || !isa<ReturnOp>(block.back()) || block.back().getOperandTypes() != TypeRange({Type(returns)}))
      return emitOpError() << name << " does not return " << returns;
  }
  return success();
}
