//===- StableHLO.h - the StableHLO dialect --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLO_H
#define TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ttmlir/Dialect/Families/FactorsInterface.h"
#include "ttmlir/Dialect/Families/ScalarsInterface.h"

namespace mlir {
class PatternRewriter;
} // namespace mlir

#include "ttmlir/Dialect/StableHLO/IR/StableHLOEnums.h.inc"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOpsDialect.h.inc"

namespace mlir::stablehlo {

/// Element types that one op may mix: equal ones, or quantized ones that differ only in scales and zero points.
bool agreeingElements(Type a, Type b);
/// Whether elements are quantized along a dimension, with a scale for each of its indices.
bool hasQuantizedDimension(RankedTensorType type);

// Factors of ops, which rows name (lib/Dialect/StableHLO/IR/Factors).
#define STABLEHLO_FACTORS(name)                                                                                        \
  std::optional<::mlir::tt::Factors> name##Factors(Operation *op, ::mlir::tt::FactorMode mode)
STABLEHLO_FACTORS(allGather);
STABLEHLO_FACTORS(allToAll);
STABLEHLO_FACTORS(bitcastConvert);
STABLEHLO_FACTORS(broadcast);
STABLEHLO_FACTORS(broadcastInDim);
STABLEHLO_FACTORS(cholesky);
STABLEHLO_FACTORS(concatenate);
STABLEHLO_FACTORS(convolution);
STABLEHLO_FACTORS(customCall);
STABLEHLO_FACTORS(dot);
STABLEHLO_FACTORS(dotGeneral);
STABLEHLO_FACTORS(dynamicSlice);
STABLEHLO_FACTORS(dynamicUpdateSlice);
STABLEHLO_FACTORS(einsum);
STABLEHLO_FACTORS(feature);
STABLEHLO_FACTORS(fft);
STABLEHLO_FACTORS(gather);
STABLEHLO_FACTORS(reduce);
STABLEHLO_FACTORS(reduceScatter);
STABLEHLO_FACTORS(reduceWindow);
STABLEHLO_FACTORS(reshape);
STABLEHLO_FACTORS(resize);
STABLEHLO_FACTORS(reverse);
STABLEHLO_FACTORS(rngBitGenerator);
STABLEHLO_FACTORS(scatter);
STABLEHLO_FACTORS(selectAndScatter);
STABLEHLO_FACTORS(sort);
STABLEHLO_FACTORS(statistics);
STABLEHLO_FACTORS(transpose);
STABLEHLO_FACTORS(triangularSolve);
#undef STABLEHLO_FACTORS

class CustomCallOp;
/// Whether parts of a call's results can be computed from parts of its operands, along its factors. Factors of other
/// calls only propagate shardings.
bool isComputedInParts(CustomCallOp call);

/// Whether the results that an op declares are compatible with those that its shape function infers.
template <typename OpT> class InferredResults : public OpTrait::TraitBase<OpT, InferredResults> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    SmallVector<Type> types;
    if (failed(OpT::inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
                                     op->getPropertiesStorage(), op->getRegions(), types)))
      return failure();
    if (!OpT::isCompatibleReturnTypes(types, op->getResultTypes()))
      return op->emitOpError() << "has results (" << op->getResultTypes() << "); expected (" << types << ")";
    return success();
  }
};

} // namespace mlir::stablehlo

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/StableHLO/IR/StableHLOAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/StableHLO/IR/StableHLOTypes.h.inc"

namespace mlir::stablehlo {
/// All ops of the dialect: Ops/<class>.h declares one, StableHLOOps.h all of them (tools/opgen/split.py).
void registerStableHLOOps(Dialect &dialect);
} // namespace mlir::stablehlo

#endif // TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLO_H
