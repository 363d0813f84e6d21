//===- StableHLOAttrs.cpp - attributes of the StableHLO dialect -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"
#include "mlir/IR/DialectImplementation.h"
#include "ttmlir/Dialect/KeySyntax.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace mlir::tt::syntax;

#include "ttmlir/Dialect/StableHLO/IR/StableHLOEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/StableHLO/IR/StableHLOTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/StableHLO/IR/StableHLOAttrs.cpp.inc"

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/StableHLO/IR/StableHLOAttrs.cpp.inc"
      >();
}

void StablehloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ttmlir/Dialect/StableHLO/IR/StableHLOTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// ResultAccuracyAttr
//===----------------------------------------------------------------------===//

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  if (parser.parseLess())
    return {};
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    ParseResult parsed = name == "atol"   ? parser.parseFloat(atol)
                         : name == "rtol" ? parser.parseFloat(rtol)
                         : name == "ulps" ? parser.parseInteger(ulps)
                         : name == "mode"
                             ? parser.parseCustomAttributeWithFallback(mode)
                             : parser.emitError(loc) << "expected atol, rtol, ulps or mode, found '" << name << "'";
    if (parsed)
      return {};
  } while (succeeded(parser.parseOptionalComma()));
  if (!mode)
    return parser.emitError(start, "result_accuracy has no mode"), Attribute();
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ResultAccuracyAttr>(start, parser.getContext(), APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto printTolerance = [&](StringRef name, const APFloat &value) {
    if (value.isZero())
      return;
    printer << name << " = ";
    printer.printFloat(value);
    printer << ", ";
  };
  printTolerance("atol", getAtol());
  printTolerance("rtol", getRtol());
  if (getUlps() != 0)
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = " << getMode() << '>';
}

LogicalResult ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError, APFloat atol, APFloat rtol,
                                         int64_t ulps, ResultAccuracyModeAttr mode) {
  if (atol.isNegative() || rtol.isNegative() || atol.isNaN() || rtol.isNaN() || ulps < 0)
    return emitError() << "result_accuracy has a tolerance below zero; expected atol, rtol and ulps to be 0 or more";
  bool tolerant = !atol.isZero() || !rtol.isZero() || ulps != 0;
  if (tolerant != (mode.getValue() == ResultAccuracyMode::TOLERANCE))
    return emitError() << "result_accuracy of mode " << stringifyResultAccuracyMode(mode.getValue())
                       << (tolerant ? " has tolerances; expected mode TOLERANCE"
                                    : " has no tolerance; expected atol, rtol or ulps");
  return success();
}

//===----------------------------------------------------------------------===//
// Dimension numbers, DotAlgorithmAttr
//===----------------------------------------------------------------------===//

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parser.parseLess() || parseKeys(parser, {{"lhs_batching_dimensions", &lhsBatching},
                                               {"rhs_batching_dimensions", &rhsBatching},
                                               {"lhs_contracting_dimensions", &lhsContracting},
                                               {"rhs_contracting_dimensions", &rhsContracting}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printLists(printer, {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
                       {"rhs_batching_dimensions", getRhsBatchingDimensions()},
                       {"lhs_contracting_dimensions", getLhsContractingDimensions()},
                       {"rhs_contracting_dimensions", getRhsContractingDimensions()}});
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatching, indicesBatching, map;
  int64_t indexVector = 0;
  if (parser.parseLess() || parseKeys(parser, {{"offset_dims", &offset},
                                               {"collapsed_slice_dims", &collapsed},
                                               {"operand_batching_dims", &operandBatching},
                                               {"start_indices_batching_dims", &indicesBatching},
                                               {"start_index_map", &map},
                                               {"index_vector_dim", nullptr, &indexVector}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, map, indexVector);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printLists(printer,
             {{"offset_dims", getOffsetDims()},
              {"collapsed_slice_dims", getCollapsedSliceDims()},
              {"operand_batching_dims", getOperandBatchingDims()},
              {"start_indices_batching_dims", getStartIndicesBatchingDims()},
              {"start_index_map", getStartIndexMap()}},
             "index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> window, inserted, inputBatching, indicesBatching, map;
  int64_t indexVector = 0;
  if (parser.parseLess() || parseKeys(parser, {{"update_window_dims", &window},
                                               {"inserted_window_dims", &inserted},
                                               {"input_batching_dims", &inputBatching},
                                               {"scatter_indices_batching_dims", &indicesBatching},
                                               {"scatter_dims_to_operand_dims", &map},
                                               {"index_vector_dim", nullptr, &indexVector}}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatching, indicesBatching, map, indexVector);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printLists(printer,
             {{"update_window_dims", getUpdateWindowDims()},
              {"inserted_window_dims", getInsertedWindowDims()},
              {"input_batching_dims", getInputBatchingDims()},
              {"scatter_indices_batching_dims", getScatterIndicesBatchingDims()},
              {"scatter_dims_to_operand_dims", getScatterDimsToOperandDims()}},
             "index_vector_dim", getIndexVectorDim());
}

LogicalResult DotAlgorithmAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhsPrecisionType,
                                       Type rhsPrecisionType, Type accumulationType, int64_t lhsComponentCount,
                                       int64_t rhsComponentCount, int64_t numPrimitiveOperations, bool) {
  auto checkType = [&](StringRef name, Type type) -> LogicalResult {
    if (isa<FloatType>(type))
      return success();
    return emitError() << "dot_algorithm: " << name << " is " << type << "; expected a float type";
  };
  auto checkCount = [&](StringRef name, int64_t count) -> LogicalResult {
    if (count > 0)
      return success();
    return emitError() << "dot_algorithm: " << name << " is " << count << "; expected 1 or more";
  };
  return failure(failed(checkType("lhs_precision_type", lhsPrecisionType)) ||
                 failed(checkType("rhs_precision_type", rhsPrecisionType)) ||
                 failed(checkType("accumulation_type", accumulationType)) ||
                 failed(checkCount("lhs_component_count", lhsComponentCount)) ||
                 failed(checkCount("rhs_component_count", rhsComponentCount)) ||
                 failed(checkCount("num_primitive_operations", numPrimitiveOperations)));
}

//===----------------------------------------------------------------------===//
// ConvDimensionNumbersAttr
//===----------------------------------------------------------------------===//

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalKeyword("raw"))) {
    FailureOr<ConvDimensionNumbersAttr> numbers = parseConvDimensions(parser);
    return failed(numbers) || parser.parseGreater() ? Attribute() : *numbers;
  }
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0, outputFeature = 0;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  if (parseKeys(parser, {{"input_batch_dimension", nullptr, &inputBatch},
                         {"input_feature_dimension", nullptr, &inputFeature},
                         {"input_spatial_dimensions", &inputSpatial},
                         {"kernel_input_feature_dimension", nullptr, &kernelInput},
                         {"kernel_output_feature_dimension", nullptr, &kernelOutput},
                         {"kernel_spatial_dimensions", &kernelSpatial},
                         {"output_batch_dimension", nullptr, &outputBatch},
                         {"output_feature_dimension", nullptr, &outputFeature},
                         {"output_spatial_dimensions", &outputSpatial}}))
    return {};
  return parser.getChecked<ConvDimensionNumbersAttr>(loc, parser.getContext(), inputBatch, inputFeature, inputSpatial,
                                                     kernelInput, kernelOutput, kernelSpatial, outputBatch,
                                                     outputFeature, outputSpatial);
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvDimensions(printer, *this);
  printer << '>';
}

LogicalResult ConvDimensionNumbersAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t inputBatch,
                                               int64_t inputFeature, ArrayRef<int64_t> inputSpatial,
                                               int64_t kernelInput, int64_t kernelOutput,
                                               ArrayRef<int64_t> kernelSpatial, int64_t outputBatch,
                                               int64_t outputFeature, ArrayRef<int64_t> outputSpatial) {
  if (kernelSpatial.size() != inputSpatial.size() || outputSpatial.size() != inputSpatial.size())
    return emitError() << "conv: input, kernel and output have " << inputSpatial.size() << ", " << kernelSpatial.size()
                       << " and " << outputSpatial.size() << " spatial dimensions; expected the same number";
  auto check = [&](StringRef tensor, int64_t first, int64_t second, ArrayRef<int64_t> spatial) -> LogicalResult {
    SmallVector<int64_t> dimensions(spatial);
    dimensions.append({first, second});
    llvm::SmallBitVector seen(dimensions.size());
    for (int64_t dimension : dimensions) {
      if (dimension < 0 || dimension >= static_cast<int64_t>(dimensions.size()) || seen.test(dimension))
        return emitError() << "conv: " << tensor << " dimension " << dimension << " is "
                           << (dimension < 0 || dimension >= static_cast<int64_t>(dimensions.size()) ? "out of range"
                                                                                                     : "given twice")
                           << "; expected 0 to " << dimensions.size() - 1 << ", each once";
      seen.set(dimension);
    }
    return success();
  };
  return failure(failed(check("input", inputBatch, inputFeature, inputSpatial)) ||
                 failed(check("kernel", kernelInput, kernelOutput, kernelSpatial)) ||
                 failed(check("output", outputBatch, outputFeature, outputSpatial)));
}

//===----------------------------------------------------------------------===//
// Aliases and bounds
//===----------------------------------------------------------------------===//

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> outputs, operands;
  int64_t index = 0;
  if (parser.parseLess() || parser.parseKeyword("output_tuple_indices") || parser.parseEqual() ||
      parseNumbers(parser, outputs) || parser.parseComma() || parser.parseKeyword("operand_index") ||
      parser.parseEqual() || parser.parseInteger(index) || parser.parseComma() ||
      parser.parseKeyword("operand_tuple_indices") || parser.parseEqual() || parseNumbers(parser, operands) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), outputs, index, operands);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  printer << "<output_tuple_indices = ";
  printNumbers(printer, getOutputTupleIndices());
  printer << ", operand_index = " << getOperandIndex() << ", operand_tuple_indices = ";
  printNumbers(printer, getOperandTupleIndices());
  printer << '>';
}

/// `[4, ?]`, or with other brackets
static ParseResult parseBounds(AsmParser &parser, AsmParser::Delimiter delimiter, SmallVectorImpl<int64_t> &bounds) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    bounds.push_back(ShapedType::kDynamic);
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(bounds.back()))
      return failure();
    return bounds.back() >= 0 ? ParseResult(success())
                              : parser.emitError(loc, "bound is ") << bounds.back() << "; expected 0 or more";
  });
}

static void printBounds(AsmPrinter &printer, ArrayRef<int64_t> bounds) {
  llvm::interleaveComma(bounds, printer, [&](int64_t bound) {
    if (bound == ShapedType::kDynamic)
      printer << '?';
    else
      printer << bound;
  });
}

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parser.parseLess() || parser.parseKeyword("bounds") || parser.parseEqual() ||
      parseBounds(parser, AsmParser::Delimiter::Square, bounds) || parser.parseGreater())
    return {};
  return get(parser.getContext(), bounds);
}

void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << "<bounds = [";
  printBounds(printer, getBounds());
  printer << "]>";
}

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  if (succeeded(parser.parseOptionalKeyword("bounds"))) {
    SmallVector<int64_t> bounds;
    if (parseBounds(parser, AsmParser::Delimiter::LessGreater, bounds))
      return {};
    return TypeExtensionsAttr::get(getContext(), bounds);
  }
  StringRef mnemonic;
  Attribute attribute;
  SMLoc loc = parser.getCurrentLocation();
  if (OptionalParseResult parsed = generatedAttributeParser(parser, &mnemonic, type, attribute); parsed.has_value())
    return attribute;
  parser.emitError(loc) << "unknown attribute `" << mnemonic << "` in dialect `" << getNamespace() << "`";
  return {};
}

/// The bounds of a tensor have a short form.
void StablehloDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (auto extensions = dyn_cast<TypeExtensionsAttr>(attribute)) {
    printer << "bounds<";
    printBounds(printer, extensions.getBounds());
    printer << '>';
  } else {
    (void)generatedAttributePrinter(attribute, printer);
  }
}
