//===- Syntax.h - directives of the StableHLO assembly formats --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_IR_SYNTAX_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_IR_SYNTAX_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

namespace mlir::stablehlo {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Parses one type for all operands and the result, or a function type. `types` receives the operands' types and then
/// the result's.
ParseResult parseSameType(OpAsmParser &parser, ArrayRef<Type *> types);
void printSameType(OpAsmPrinter &printer, ArrayRef<Type> types);

template <typename... Types> ParseResult parseSameOperandsAndResultType(OpAsmParser &parser, Types &...types) {
  return parseSameType(parser, {&types...});
}
template <typename... Types> void printSameOperandsAndResultType(OpAsmPrinter &printer, Operation *, Types... types) {
  printSameType(printer, {types...});
}

/// The complex type of the result, or a function type.
ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printComplexOpType(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);

/// The types of the predicate and of the result, or a function type.
ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result);
void printSelectOpType(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue, Type onFalse, Type result);

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

/// `%a, %b,`
ParseResult parseVariadicOperandWithAttribute(OpAsmParser &parser,
                                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *, OperandRange operands);

/// `e5m10`
ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa);
void printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa);

/// `[1:7:2, 0:4]`
ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts, DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
ParseResult parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr numbers);

/// `, precision = [DEFAULT, HIGHEST]`, or nothing
ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision);
void printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr precision);

/// `, precision = [...], algorithm = <...>`, each of which may be absent
ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision, DotAlgorithmAttr &algorithm);
void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op, ArrayAttr precision,
                                      DotAlgorithmAttr algorithm);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`; also the body of a `conv` attribute.
FailureOr<ConvDimensionNumbersAttr> parseConvDimensions(AsmParser &parser);
void printConvDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr numbers);
ParseResult parseConvolutionDimensions(OpAsmParser &parser, ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(OpAsmPrinter &printer, Operation *, ConvDimensionNumbersAttr numbers);

/// `stride = [2, 1], pad = [[1, 1], [2, 2]], lhs_dilate = .., rhs_dilate = .., reverse = [false, true]`, all optional
ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides, DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal);

/// `@target`, of a string
ParseResult parseCustomCallTarget(OpAsmParser &parser, StringAttr &target);
void printCustomCallTarget(OpAsmPrinter &printer, Operation *, StringAttr target);

/// Parses one type of all operands and the result, or a function type.
ParseResult parseVariadicSameOperandsAndResultType(OpAsmParser &parser,
                                                   ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                                                   SmallVectorImpl<Type> &types, Type &result);
void printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *, OperandRange operands, TypeRange types,
                                            Type result);

/// The types of the operands, which are those of the results
ParseResult parsePairwiseOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, SmallVectorImpl<Type> &results);
void printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange results);

/// The tuple type of the result
ParseResult parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result);
void printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange operands, Type result);

/// `[1, 2, 3]`
ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers);
void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers);

} // namespace mlir::stablehlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_IR_SYNTAX_H
