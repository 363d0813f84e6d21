//===- Syntax.cpp - directives of the StableHLO assembly formats ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Sets operands and result from a function type.
static ParseResult assign(OpAsmParser &parser, SMLoc loc, FunctionType function, ArrayRef<Type *> types) {
  if (function.getNumInputs() != types.size() - 1 || function.getNumResults() != 1)
    return parser.emitError(loc) << "expected a function of " << types.size() - 1 << " operands and 1 result, found "
                                 << function;
  for (auto [type, input] : llvm::zip(types.drop_back(), function.getInputs()))
    *type = input;
  *types.back() = function.getResult(0);
  return success();
}

static FunctionType functionType(ArrayRef<Type> types) {
  return FunctionType::get(types.front().getContext(), types.drop_back(), types.back());
}

ParseResult stablehlo::parseSameType(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assign(parser, loc, function, types);
  for (Type *each : types)
    *each = type;
  return success();
}

void stablehlo::printSameType(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.front();
  else
    printer << functionType(types);
}

/// The type of the parts of a tensor of complex numbers, or null.
static Type realTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto complex = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return complex ? tensor.clone(complex.getElementType()) : Type();
}

ParseResult stablehlo::parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result))
    return assign(parser, loc, function, {&lhs, &rhs, &result});
  lhs = rhs = realTensor(result);
  if (!lhs)
    return parser.emitError(loc) << "expected a tensor of complex numbers, found " << result;
  return success();
}

void stablehlo::printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  if (lhs == rhs && lhs == realTensor(result))
    printer << result;
  else
    printer << functionType({lhs, rhs, result});
}

ParseResult stablehlo::parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(pred))
    return failure();
  if (auto function = dyn_cast<FunctionType>(pred))
    return assign(parser, loc, function, {&pred, &onTrue, &onFalse, &result});
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void stablehlo::printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse,
                                  Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer << functionType({pred, onTrue, onFalse, result});
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}

void stablehlo::printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

ParseResult stablehlo::parseVariadicOperandWithAttribute(OpAsmParser &parser,
                                                         SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value())
      return success();
    if (failed(*found) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void stablehlo::printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  if (!operands.empty())
    printer << ',';
}

ParseResult stablehlo::parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef format;
  if (parser.parseKeyword(&format))
    return failure();
  int32_t exponentBits, mantissaBits;
  StringRef rest = format;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) || !rest.consume_front("m") ||
      rest.consumeInteger(10, mantissaBits) || !rest.empty())
    return parser.emitError(loc) << "expected a float format such as e5m10, found '" << format << "'";
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void stablehlo::printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult stablehlo::parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts, DenseI64ArrayAttr &limits,
                                        DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() || parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride.back()) : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  starts = builder.getDenseI64ArrayAttr(start);
  limits = builder.getDenseI64ArrayAttr(limit);
  strides = builder.getDenseI64ArrayAttr(stride);
  return success();
}

void stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                                 DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()), printer,
                        [&](auto range) {
                          auto [start, limit, stride] = range;
                          printer << start << ':' << limit;
                          if (stride != 1)
                            printer << ':' << stride;
                        });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  auto parsePair = [&](SmallVectorImpl<int64_t> &lhs, SmallVectorImpl<int64_t> &rhs) -> ParseResult {
    return failure(parser.parseEqual() || parseNumbers(parser, lhs) || parser.parseKeyword("x") ||
                   parseNumbers(parser, rhs));
  };
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parsePair(lhsBatching, rhsBatching) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(lhsContracting, rhsContracting))
    return failure();
  numbers = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  return success();
}

void stablehlo::printDotDimensionNumbers(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr numbers) {
  auto printPair = [&](StringRef name, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printer << name << " = ";
    printNumbers(printer, lhs);
    printer << " x ";
    printNumbers(printer, rhs);
  };
  if (!numbers.getLhsBatchingDimensions().empty() || !numbers.getRhsBatchingDimensions().empty()) {
    printPair("batching_dims", numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  printPair("contracting_dims", numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions());
}

/// `precision` is read already.
static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> precisions;
  auto parsePrecision = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Precision> value = symbolizePrecision(keyword);
    if (!value)
      return parser.emitError(loc) << "expected DEFAULT, HIGH or HIGHEST, found '" << keyword << "'";
    precisions.push_back(PrecisionAttr::get(parser.getContext(), *value));
    return success();
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePrecision))
    return failure();
  precision = parser.getBuilder().getArrayAttr(precisions);
  return success();
}

ParseResult stablehlo::parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("precision") || parsePrecisions(parser, precision));
}

void stablehlo::printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr each) { printer << stringifyPrecision(each.getValue()); });
  printer << ']';
}

ParseResult stablehlo::parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                                        DotAlgorithmAttr &algorithm) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("precision"))) {
    if (parsePrecisions(parser, precision))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  return failure(parser.parseKeyword("algorithm") || parser.parseEqual() ||
                 parser.parseCustomAttributeWithFallback(algorithm));
}

void stablehlo::printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op, ArrayAttr precision,
                                                 DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precision);
  if (!algorithm)
    return;
  printer << ", algorithm = ";
  printer.printStrippedAttrOrType(algorithm);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The dimensions of one tensor of a convolution: two named ones, the others spatial.
namespace {
struct ConvDimensions {
  int64_t first = -1;
  int64_t second = -1;
  SmallVector<int64_t> spatial;
};
} // namespace

/// Parses `[b, 0, 1, f]` for the given names: every name once, and spatial numbers 0 to n - 1 once each.
static ParseResult parseConvDimensions(AsmParser &parser, StringRef first, StringRef second, ConvDimensions &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> spatial; // number, dimension
  int64_t dimension = 0;
  auto parseOne = [&]() -> ParseResult {
    SMLoc here = parser.getCurrentLocation();
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      if (failed(*isNumber))
        return failure();
      spatial.emplace_back(number, dimension++);
      return success();
    }
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    int64_t *slot = name == first ? &result.first : name == second ? &result.second : nullptr;
    if (!slot)
      return parser.emitError(here) << "expected '" << first << "', '" << second << "' or a number, found '" << name
                                    << "'";
    if (*slot >= 0)
      return parser.emitError(here) << "dimension '" << name << "' is given twice";
    *slot = dimension++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  if (result.first < 0 || result.second < 0)
    return parser.emitError(loc) << "dimension '" << (result.first < 0 ? first : second) << "' is missing";
  llvm::sort(spatial);
  for (auto [index, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<int64_t>(index))
      return parser.emitError(loc) << "expected the spatial dimensions 0 to " << spatial.size() - 1
                                   << ", each once; found " << entry.first;
    result.spatial.push_back(entry.second);
  }
  return success();
}

FailureOr<ConvDimensionNumbersAttr> stablehlo::parseConvDimensions(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  ConvDimensions input, kernel, output;
  if (::parseConvDimensions(parser, "b", "f", input) || parser.parseKeyword("x") ||
      ::parseConvDimensions(parser, "i", "o", kernel) || parser.parseArrow() ||
      ::parseConvDimensions(parser, "b", "f", output))
    return failure();
  // The parser's own getChecked is a template that needs the storage of the attribute.
  auto numbers = ConvDimensionNumbersAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                                      input.first, input.second, ArrayRef<int64_t>(input.spatial),
                                                      kernel.first, kernel.second, ArrayRef<int64_t>(kernel.spatial),
                                                      output.first, output.second, ArrayRef<int64_t>(output.spatial));
  if (!numbers)
    return failure();
  return numbers;
}

void stablehlo::printConvDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr numbers) {
  auto print = [&](StringRef first, int64_t firstDimension, StringRef second, int64_t secondDimension,
                   ArrayRef<int64_t> spatial) {
    SmallVector<std::string> names(spatial.size() + 2);
    names[firstDimension] = first;
    names[secondDimension] = second;
    for (auto [number, dimension] : llvm::enumerate(spatial))
      names[dimension] = std::to_string(number);
    printer << '[';
    llvm::interleaveComma(names, printer);
    printer << ']';
  };
  print("b", numbers.getInputBatchDimension(), "f", numbers.getInputFeatureDimension(),
        numbers.getInputSpatialDimensions());
  printer << 'x';
  print("i", numbers.getKernelInputFeatureDimension(), "o", numbers.getKernelOutputFeatureDimension(),
        numbers.getKernelSpatialDimensions());
  printer << "->";
  print("b", numbers.getOutputBatchDimension(), "f", numbers.getOutputFeatureDimension(),
        numbers.getOutputSpatialDimensions());
}

ParseResult stablehlo::parseConvolutionDimensions(OpAsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  FailureOr<ConvDimensionNumbersAttr> parsed = parseConvDimensions(parser);
  if (failed(parsed))
    return failure();
  numbers = *parsed;
  return success();
}

void stablehlo::printConvolutionDimensions(OpAsmPrinter &printer, Operation *, ConvDimensionNumbersAttr numbers) {
  printConvDimensions(printer, numbers);
}

ParseResult stablehlo::parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                                             DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                                             DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  Builder &builder = parser.getBuilder();
  auto parseInto = [&](DenseI64ArrayAttr &attr) -> ParseResult {
    SmallVector<int64_t> numbers;
    if (parseNumbers(parser, numbers))
      return failure();
    attr = builder.getDenseI64ArrayAttr(numbers);
    return success();
  };
  auto parsePadding = [&]() -> ParseResult {
    SmallVector<int64_t> values;
    auto parsePair = [&]() -> ParseResult {
      return failure(parser.parseLSquare() || parser.parseInteger(values.emplace_back()) || parser.parseComma() ||
                     parser.parseInteger(values.emplace_back()) || parser.parseRSquare());
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
      return failure();
    int64_t rank = values.size() / 2;
    padding = DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, builder.getI64Type()), values);
    return success();
  };
  auto parseReversal = [&]() -> ParseResult {
    SmallVector<bool> values;
    auto parseFlag = [&]() -> ParseResult {
      if (succeeded(parser.parseOptionalKeyword("true")))
        values.push_back(true);
      else if (succeeded(parser.parseOptionalKeyword("false")))
        values.push_back(false);
      else {
        int64_t number;
        if (parser.parseInteger(number))
          return failure();
        values.push_back(number != 0);
      }
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFlag))
      return failure();
    reversal = builder.getDenseBoolArrayAttr(values);
    return success();
  };

  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseOptionalKeyword(&name)))
    return success();
  llvm::SmallDenseSet<StringRef> seen;
  while (true) {
    if (!seen.insert(name).second)
      return parser.emitError(loc) << "'" << name << "' is given twice";
    if (parser.parseEqual())
      return failure();
    ParseResult parsed = name == "stride"       ? parseInto(strides)
                         : name == "lhs_dilate" ? parseInto(lhsDilation)
                         : name == "rhs_dilate" ? parseInto(rhsDilation)
                         : name == "pad"        ? parsePadding()
                         : name == "reverse" ? parseReversal()
                                             : parser.emitError(loc)
                                                   << "expected stride, pad, lhs_dilate, rhs_dilate or reverse, found '"
                                                   << name << "'";
    if (parsed)
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&name)))
      return success(); // the list may end with a comma
  }
}

void stablehlo::printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                                      DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                                      DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto begin = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  auto printArray = [&](StringRef name, DenseI64ArrayAttr attr) {
    if (!attr)
      return;
    begin(name);
    printNumbers(printer, attr.asArrayRef());
  };
  printArray("stride", strides);
  if (padding) {
    begin("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << '[';
    for (size_t index = 0; index + 1 < values.size(); index += 2) {
      printer << (index ? ", " : "");
      printNumbers(printer, {values[index], values[index + 1]});
    }
    printer << ']';
  }
  printArray("lhs_dilate", lhsDilation);
  printArray("rhs_dilate", rhsDilation);
  if (reversal) {
    begin("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool flag) { printer << (flag ? "true" : "false"); });
    printer << ']';
  }
}

//===----------------------------------------------------------------------===//
// Calls, tuples and tokens
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseCustomCallTarget(OpAsmParser &parser, StringAttr &target) {
  return parser.parseSymbolName(target);
}

void stablehlo::printCustomCallTarget(OpAsmPrinter &printer, Operation *, StringAttr target) {
  printer.printSymbolName(target.getValue());
}

ParseResult stablehlo::parseVariadicSameOperandsAndResultType(OpAsmParser &parser,
                                                              ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                                                              SmallVectorImpl<Type> &types, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    types.assign(operands.size(), type);
    result = type;
    return success();
  }
  if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
    return parser.emitError(loc) << "expected a type of " << operands.size() << " operands and one result, found "
                                 << type;
  llvm::append_range(types, function.getInputs());
  result = function.getResult(0);
  return success();
}

void stablehlo::printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *op, OperandRange,
                                                       TypeRange types, Type result) {
  if (llvm::all_equal(types) && (types.empty() || types.front() == result))
    printer << result;
  else
    printer.printFunctionalType(op);
}

ParseResult stablehlo::parsePairwiseOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                                           SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  llvm::append_range(results, operands);
  return success();
}

void stablehlo::printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult stablehlo::parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(loc) << "expected a tuple type, found " << result;
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

void stablehlo::printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange, Type result) { printer << result; }
