//===- ChloOps.td - ops of the CHLO dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_CHLO_IR_CHLOOPS_TD
#define TTMLIR_DIALECT_CHLO_IR_CHLOOPS_TD

include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOBase.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let summary = "What frameworks export beside StableHLO: functions that it is made to compute.";
  let cppNamespace = "::mlir::chlo";
}

class CHLO_Op<string mnemonic, string text, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let summary = text;
  let description = "As CHLO names it: operands, attributes and result types are those of the dialect's public definition.";
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

class CHLO_Unary<string mnemonic, Type tensor, string text>
    : CHLO_Op<mnemonic, text, [Elementwise, SameOperandsAndResultType]> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class CHLO_FloatOrComplex<string mnemonic, string text>
    : CHLO_Unary<mnemonic, StableHLO_FloatOrComplexTensor, text>;
class CHLO_Float<string mnemonic, string text> : CHLO_Unary<mnemonic, StableHLO_FloatTensor, text>;

def CHLO_AcosOp : CHLO_FloatOrComplex<"acos", "Angle whose cosine is the operand, in radians.">;
def CHLO_AcoshOp : CHLO_FloatOrComplex<"acosh", "Inverse of the hyperbolic cosine.">;
def CHLO_AsinOp : CHLO_FloatOrComplex<"asin", "Angle whose sine is the operand, in radians.">;
def CHLO_AsinhOp : CHLO_FloatOrComplex<"asinh", "Inverse of the hyperbolic sine.">;
def CHLO_AtanOp : CHLO_FloatOrComplex<"atan", "Angle whose tangent is the operand, in radians.">;
def CHLO_AtanhOp : CHLO_FloatOrComplex<"atanh", "Inverse of the hyperbolic tangent.">;
def CHLO_BesselI1eOp : CHLO_FloatOrComplex<"bessel_i1e", "Modified Bessel function of order 1, times e^-|operand|.">;
def CHLO_ConjOp : CHLO_FloatOrComplex<"conj", "The conjugate of a complex number.">;
def CHLO_CoshOp : CHLO_FloatOrComplex<"cosh", "Hyperbolic cosine.">;
def CHLO_DigammaOp : CHLO_Float<"digamma", "Derivative of lgamma.">;
def CHLO_ErfOp : CHLO_Float<"erf", "Error function.">;
def CHLO_ErfInvOp : CHLO_Float<"erf_inv", "Inverse of the error function.">;
def CHLO_ErfcOp : CHLO_Float<"erfc", "1 - erf(operand), accurate for large operands.">;
def CHLO_LgammaOp : CHLO_Float<"lgamma", "Logarithm of the absolute value of the gamma function.">;
def CHLO_SinhOp : CHLO_FloatOrComplex<"sinh", "Hyperbolic sine.">;
def CHLO_SquareOp : CHLO_FloatOrComplex<"square", "operand * operand.">;
def CHLO_TanOp : CHLO_FloatOrComplex<"tan", "Tangent of an angle in radians.">;

/// A question about each element; the result is i1.
class CHLO_Predicate<string mnemonic, string text>
    : CHLO_Op<mnemonic, text, [Elementwise, SameOperandsAndResultShape, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let arguments = (ins StableHLO_FloatTensor:$operand);
  let results = (outs StableHLO_PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return detail::inferPredicate(location, getOperationName(), operands, types);
    }
  }];
}

def CHLO_IsInfOp : CHLO_Predicate<"is_inf", "Whether the operand is infinite.">;
def CHLO_IsNegInfOp : CHLO_Predicate<"is_neg_inf", "Whether the operand is negative infinity.">;
def CHLO_IsPosInfOp : CHLO_Predicate<"is_pos_inf", "Whether the operand is positive infinity.">;

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

def CHLO_TopKOp : CHLO_Op<"top_k", "The k largest elements along the last dimension, and where they are.",
                          [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs StableHLO_Tensor:$values, StableHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->`
    `(` type($values) `,` type($indices) `)`
  }];
}

#endif // TTMLIR_DIALECT_CHLO_IR_CHLOOPS_TD
