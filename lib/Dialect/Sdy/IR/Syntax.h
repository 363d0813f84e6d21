//===- Syntax.h - directives of the Shardy assembly formats -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_IR_SYNTAX_H
#define TTMLIR_LIB_DIALECT_SDY_IR_SYNTAX_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

namespace mlir::sdy {

/// `@mesh`, or `mesh<["x"=2]>`
ParseResult parseMeshOrRef(AsmParser &parser, Attribute &meshOrRef);
void printMeshOrRef(AsmPrinter &printer, Attribute meshOrRef);

/// `, replicated={"x"}, unreduced=max{"y"}`, each of which may be absent; `sum` is not written
ParseResult parseReplicatedAndUnreducedAxes(AsmParser &parser, SmallVector<AxisRefAttr> &replicated,
                                            SmallVector<AxisRefAttr> &unreduced, ReductionOp &reductionOp);
void printReplicatedAndUnreducedAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> replicated,
                                     ArrayRef<AxisRefAttr> unreduced, ReductionOp reductionOp);

/// `[<@mesh, [{"x"}]>, <@mesh, [{}]>]`
ParseResult parseStrippedTensorShardingPerValueAttr(OpAsmParser &parser, TensorShardingPerValueAttr &shardings);
void printStrippedTensorShardingPerValueAttr(OpAsmPrinter &printer, Operation *, TensorShardingPerValueAttr shardings);

/// `(%a: tensor<4xf32>) { ... }`; a missing `sdy.return` is added
ParseResult parseSingleBlockRegionNoBlockId(OpAsmParser &parser, Region &region);
void printSingleBlockRegionNoBlockId(OpAsmPrinter &printer, Operation *, Region &region);

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

/// `([i, k], [k, j])`
ParseResult parseTensorMappings(AsmParser &parser, SmallVector<TensorMappingAttr> &mappings);
void printTensorMappings(AsmPrinter &printer, ArrayRef<TensorMappingAttr> mappings);

/// ` {i=6, j=4}`, or nothing
ParseResult parseFactorSizes(AsmParser &parser, SmallVector<int64_t> &sizes);
void printFactorSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes);

/// ` reduction={k}`, or nothing
ParseResult parseFactorsWithType(AsmParser &parser, SmallVector<int64_t> &factors, StringRef type);
void printFactorsWithType(AsmPrinter &printer, ArrayRef<int64_t> factors, StringRef type);

/// `, custom`, or nothing
ParseResult parseIsCustomRule(AsmParser &parser, bool &isCustomRule);
void printIsCustomRule(AsmPrinter &printer, bool isCustomRule);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_IR_SYNTAX_H
