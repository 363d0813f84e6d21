//===- Syntax.cpp - directives of the Shardy assembly formats -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"

using namespace mlir;
using namespace mlir::sdy;

ParseResult sdy::parseMeshOrRef(AsmParser &parser, Attribute &meshOrRef) {
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    MeshAttr mesh;
    if (parser.parseCustomAttributeWithFallback(mesh))
      return failure();
    meshOrRef = mesh;
    return success();
  }
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  meshOrRef = FlatSymbolRefAttr::get(name);
  return success();
}

void sdy::printMeshOrRef(AsmPrinter &printer, Attribute meshOrRef) {
  if (auto mesh = dyn_cast<MeshAttr>(meshOrRef)) {
    printer << "mesh";
    printer.printStrippedAttrOrType(mesh);
  } else {
    printer << meshOrRef;
  }
}

static ParseResult parseAxes(AsmParser &parser, SmallVector<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                        [&] { return parser.parseCustomAttributeWithFallback(axes.emplace_back()); });
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](AxisRefAttr axis) { printer.printStrippedAttrOrType(axis); });
  printer << '}';
}

ParseResult sdy::parseReplicatedAndUnreducedAxes(AsmParser &parser, SmallVector<AxisRefAttr> &replicated,
                                                 SmallVector<AxisRefAttr> &unreduced, ReductionOp &reductionOp) {
  reductionOp = ReductionOp::SUM;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("replicated"))) {
    if (parser.parseEqual() || parseAxes(parser, replicated))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  if (parser.parseKeyword("unreduced") || parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    std::optional<ReductionOp> parsed = symbolizeReductionOp(name);
    if (!parsed)
      return parser.emitError(loc) << "expected sum, max or min, found '" << name << "'";
    reductionOp = *parsed;
  }
  return parseAxes(parser, unreduced);
}

void sdy::printReplicatedAndUnreducedAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> replicated,
                                          ArrayRef<AxisRefAttr> unreduced, ReductionOp reductionOp) {
  if (!replicated.empty()) {
    printer << ", replicated=";
    printAxes(printer, replicated);
  }
  if (!unreduced.empty() || reductionOp != ReductionOp::SUM) {
    printer << ", unreduced=";
    if (reductionOp != ReductionOp::SUM)
      printer << stringifyReductionOp(reductionOp);
    printAxes(printer, unreduced);
  }
}

ParseResult sdy::parseStrippedTensorShardingPerValueAttr(OpAsmParser &parser, TensorShardingPerValueAttr &shardings) {
  SmallVector<TensorShardingAttr> list;
  auto parseSharding = [&] { return parser.parseCustomAttributeWithFallback(list.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSharding))
    return failure();
  shardings = TensorShardingPerValueAttr::get(parser.getContext(), list);
  return success();
}

void sdy::printStrippedTensorShardingPerValueAttr(OpAsmPrinter &printer, Operation *,
                                                  TensorShardingPerValueAttr shardings) {
  printer << '[';
  llvm::interleaveComma(shardings.getShardings(), printer,
                        [&](TensorShardingAttr sharding) { printer.printStrippedAttrOrType(sharding); });
  printer << ']';
}

ParseResult sdy::parseSingleBlockRegionNoBlockId(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseRegion(region, arguments))
    return failure();
  OpBuilder builder(parser.getContext());
  ManualComputationOp::ensureTerminator(region, builder, parser.getEncodedSourceLoc(loc));
  return success();
}

void sdy::printSingleBlockRegionNoBlockId(OpAsmPrinter &printer, Operation *, Region &region) {
  printer << '(';
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}
