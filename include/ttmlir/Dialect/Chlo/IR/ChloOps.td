//===- ChloOps.td - ops of the CHLO dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_CHLO_IR_CHLOOPS_TD
#define TTMLIR_DIALECT_CHLO_IR_CHLOOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Families/Facts.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOBase.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let summary = "Functions that frameworks export in addition to StableHLO.";
  let cppNamespace = "::mlir::chlo";
  let useDefaultAttributePrinterParser = 1;
}

// The same as in StableHLO, printed with this dialect's name.
class CHLO_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::chlo";
  let genSpecializedAttr = 0;
}
def CHLO_ComparisonDirection : CHLO_Enum<"ComparisonDirection", "which comparison", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
  I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def CHLO_ComparisonType : CHLO_Enum<"ComparisonType", "how elements are ordered", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def CHLO_Precision : CHLO_Enum<"Precision", "precision of an operand of a product", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def CHLO_PrecisionAttr : EnumAttr<Chlo_Dialect, CHLO_Precision, "precision">;
def CHLO_PrecisionConfigAttr : TypedArrayAttrBase<CHLO_PrecisionAttr, "precision of each operand">;

def CHLO_RaggedDotDimensionNumbers
    : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "The roles of the dimensions of the operands of a product of groups.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhsBatchingDimensions,
                        ArrayRefParameter<"int64_t">:$rhsBatchingDimensions,
                        ArrayRefParameter<"int64_t">:$lhsContractingDimensions,
                        ArrayRefParameter<"int64_t">:$rhsContractingDimensions,
                        ArrayRefParameter<"int64_t">:$lhsRaggedDimensions,
                        ArrayRefParameter<"int64_t">:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
}

def CHLO_ComparisonDirectionAttr : EnumAttr<Chlo_Dialect, CHLO_ComparisonDirection, "comparison_direction">;
def CHLO_ComparisonTypeAttr : EnumAttr<Chlo_Dialect, CHLO_ComparisonType, "comparison_type">;

class CHLO_Op<string mnemonic, string text, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let summary = text;
  let description = "Op of CHLO: operands, attributes and result types are those of the dialect's public definition.";
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

class CHLO_Unary<string mnemonic, Type tensor, string text, list<Trait> traits = []>
    : CHLO_Op<mnemonic, text, !listconcat([Elementwise, SameOperandsAndResultType], traits)> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class CHLO_FloatOrComplex<string mnemonic, string text, list<Trait> traits = []>
    : CHLO_Unary<mnemonic, StableHLO_FloatOrComplexTensor, text, traits>;
class CHLO_Float<string mnemonic, string text, list<Trait> traits = []>
    : CHLO_Unary<mnemonic, StableHLO_FloatTensor, text, traits>;

def CHLO_AcosOp : CHLO_FloatOrComplex<"acos", "Angle whose cosine is the operand, in radians.", [TT_Computes<"acos">]>;
def CHLO_AcoshOp : CHLO_FloatOrComplex<"acosh", "Inverse of the hyperbolic cosine.">;
def CHLO_AsinOp : CHLO_FloatOrComplex<"asin", "Angle whose sine is the operand, in radians.", [TT_Computes<"asin">]>;
def CHLO_AsinhOp : CHLO_FloatOrComplex<"asinh", "Inverse of the hyperbolic sine.", [TT_Computes<"asinh">]>;
def CHLO_AtanOp : CHLO_FloatOrComplex<"atan", "Angle whose tangent is the operand, in radians.", [TT_Computes<"atan">]>;
def CHLO_AtanhOp : CHLO_FloatOrComplex<"atanh", "Inverse of the hyperbolic tangent.", [TT_Computes<"atanh">]>;
def CHLO_BesselI1eOp : CHLO_FloatOrComplex<"bessel_i1e", "Modified Bessel function of order 1, times e^-|operand|.">;
def CHLO_ConjOp : CHLO_FloatOrComplex<"conj", "The conjugate of a complex number.">;
def CHLO_CoshOp : CHLO_FloatOrComplex<"cosh", "Hyperbolic cosine.">;
def CHLO_DigammaOp : CHLO_Float<"digamma", "Derivative of lgamma.">;
def CHLO_ErfOp : CHLO_Float<"erf", "Error function.", [TT_Computes<"erf">]>;
def CHLO_ErfInvOp : CHLO_Float<"erf_inv", "Inverse of the error function.">;
def CHLO_ErfcOp : CHLO_Float<"erfc", "1 - erf(operand), accurate for large operands.", [TT_Computes<"erfc">]>;
def CHLO_LgammaOp : CHLO_Float<"lgamma", "Logarithm of the absolute value of the gamma function.">;
def CHLO_SinhOp : CHLO_FloatOrComplex<"sinh", "Hyperbolic sine.">;
def CHLO_SquareOp : CHLO_FloatOrComplex<"square", "operand * operand.">;
/// Computes (Re(u v), |asinh(Im(conj(u) v))|) with u = sqrt(1 - z) and v = sqrt(1 + z). asin z follows by atan2(Re z,
/// Re(u v)) and the sign of Im z (W. Kahan, "Branch cuts for complex elementary functions", 1987).
def CHLO_AsinAcosKernelOp
    : CHLO_Unary<"_asin_acos_kernel", StableHLO_ComplexTensor, "Common part of asin and acos of a complex number.",
                 [TT_ReplacedEarly]>;
def CHLO_TanOp : CHLO_FloatOrComplex<"tan", "Tangent of an angle in radians.", [TT_Computes<"tan">]>;

/// A predicate on each element; the result is i1.
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

def CHLO_IsInfOp : CHLO_Predicate<"is_inf", "Returns true where the operand is infinite.">;
def CHLO_IsNegInfOp : CHLO_Predicate<"is_neg_inf", "Returns true where the operand is negative infinity.">;
def CHLO_IsPosInfOp : CHLO_Predicate<"is_pos_inf", "Returns true where the operand is positive infinity.">;

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

def CHLO_TopKOp : CHLO_Op<"top_k", "The k largest elements along the last dimension, and where they are.",
                          [DeclareOpInterfaceMethods<InferTypeOpInterface>,
                           TT_Factors<"::mlir::tt::resizeFactors">]> {
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs StableHLO_Tensor:$values, StableHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->`
    `(` type($values) `,` type($indices) `)`
  }];
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

class CHLO_Binary<string mnemonic, Type tensor, string text, dag operands = (ins tensor:$x, tensor:$y)>
    : CHLO_Op<mnemonic, text, [Elementwise, SameOperandsAndResultType]> {
  let arguments = operands;
  let results = (outs tensor:$result);
}
def CHLO_MulhiOp : CHLO_Binary<"mulhi", StableHLO_IntTensor, "The upper half of the bits of a product.",
                               (ins StableHLO_IntTensor:$lhs, StableHLO_IntTensor:$rhs)> {
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}
def CHLO_NextAfterOp : CHLO_Binary<"next_after", StableHLO_FloatTensor, "The next number from x towards y."> {
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y) `->` type(results)";
}
def CHLO_PolygammaOp : CHLO_Binary<"polygamma", StableHLO_FloatTensor, "The n-th derivative of digamma.",
                                   (ins StableHLO_FloatTensor:$n, StableHLO_FloatTensor:$x)> {
  let assemblyFormat = "$n `,` $x attr-dict `:` type($n) `,` type($x) `->` type(results)";
}
def CHLO_ZetaOp : CHLO_Binary<"zeta", StableHLO_FloatTensor, "Hurwitz zeta function.",
                              (ins StableHLO_FloatTensor:$x, StableHLO_FloatTensor:$q)> {
  let assemblyFormat = "$x `,` $q attr-dict `:` type($x) `,` type($q) `->` type(results)";
}

/// Dimensions of size 1 are repeated. The operand of smaller rank has the last dimensions, or those of
/// `broadcast_dimensions`.
class CHLO_Broadcasting<string mnemonic, string text, Type tensor = StableHLO_Tensor, Type gives = tensor>
    : CHLO_Op<mnemonic, text> {
  let arguments = (ins tensor:$lhs, tensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs gives);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type(results)";
  let hasVerifier = 1;
}
def CHLO_BroadcastAddOp : CHLO_Broadcasting<"broadcast_add", "stablehlo.add with broadcasting.">;
def CHLO_BroadcastAndOp : CHLO_Broadcasting<"broadcast_and", "stablehlo.and with broadcasting.">;
def CHLO_BroadcastAtan2Op : CHLO_Broadcasting<"broadcast_atan2", "stablehlo.atan2 with broadcasting.">;
def CHLO_BroadcastComplexOp : CHLO_Broadcasting<"broadcast_complex", "stablehlo.complex with broadcasting.",
                                                StableHLO_FloatTensor, StableHLO_ComplexTensor>;
def CHLO_BroadcastDivOp : CHLO_Broadcasting<"broadcast_divide", "stablehlo.divide with broadcasting.">;
def CHLO_BroadcastMaxOp : CHLO_Broadcasting<"broadcast_maximum", "stablehlo.maximum with broadcasting.">;
def CHLO_BroadcastMinOp : CHLO_Broadcasting<"broadcast_minimum", "stablehlo.minimum with broadcasting.">;
def CHLO_BroadcastMulOp : CHLO_Broadcasting<"broadcast_multiply", "stablehlo.multiply with broadcasting.">;
def CHLO_BroadcastNextAfterOp : CHLO_Broadcasting<"broadcast_next_after", "chlo.next_after with broadcasting.">;
def CHLO_BroadcastOrOp : CHLO_Broadcasting<"broadcast_or", "stablehlo.or with broadcasting.">;
def CHLO_BroadcastPolygammaOp : CHLO_Broadcasting<"broadcast_polygamma", "chlo.polygamma with broadcasting.">;
def CHLO_BroadcastPowOp : CHLO_Broadcasting<"broadcast_power", "stablehlo.power with broadcasting.">;
def CHLO_BroadcastRemOp : CHLO_Broadcasting<"broadcast_remainder", "stablehlo.remainder with broadcasting.">;
def CHLO_BroadcastShiftLeftOp : CHLO_Broadcasting<"broadcast_shift_left", "stablehlo.shift_left with broadcasting.">;
def CHLO_BroadcastShiftRightArithmeticOp
    : CHLO_Broadcasting<"broadcast_shift_right_arithmetic", "stablehlo.shift_right_arithmetic with broadcasting.">;
def CHLO_BroadcastShiftRightLogicalOp
    : CHLO_Broadcasting<"broadcast_shift_right_logical", "stablehlo.shift_right_logical with broadcasting.">;
def CHLO_BroadcastSubOp : CHLO_Broadcasting<"broadcast_subtract", "stablehlo.subtract with broadcasting.">;
def CHLO_BroadcastXorOp : CHLO_Broadcasting<"broadcast_xor", "stablehlo.xor with broadcasting.">;
def CHLO_BroadcastZetaOp : CHLO_Broadcasting<"broadcast_zeta", "chlo.zeta with broadcasting.">;

def CHLO_BroadcastCompareOp
    : CHLO_Broadcasting<"broadcast_compare", "stablehlo.compare with broadcasting.", StableHLO_Tensor,
                        StableHLO_PredTensor> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       CHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
}

def CHLO_BroadcastSelectOp : CHLO_Op<"broadcast_select", "stablehlo.select with broadcasting."> {
  let arguments = (ins StableHLO_PredTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:` `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->`
    type(results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

def CHLO_ConstantOp : CHLO_Op<"constant", "A tensor known at compile time.",
                              [ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_StaticTensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def CHLO_ConstantLikeOp : CHLO_Op<"constant_like", "A number in the shape of the operand."> {
  let arguments = (ins StableHLO_Tensor:$operand, TypedAttrInterface:$value);
  let results = (outs StableHLO_Tensor);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products of groups
//===----------------------------------------------------------------------===//

def CHLO_RaggedDotOp : CHLO_Op<"ragged_dot", "dot_general of groups of different sizes."> {
  let description = [{
    The ragged dimension of lhs falls into groups, one after the other, of `group_sizes` elements. What it is makes the
    result:
    * a free dimension [m]: lhs [b, m, k], rhs [g, b, k, n]; each row is multiplied by the rhs of its group: [b, m, n];
      rows after the last group are 0;
    * a contracting one [k]: lhs [b, m, k], rhs [b, k, n]; a product for each group: [g, b, m, n];
    * a batching one: as dot_general.
    `group_sizes` is [g], or [b, g] with sizes for each batch.
  }];
  let arguments = (ins StableHLO_PlainTensor:$lhs, StableHLO_PlainTensor:$rhs, StableHLO_IntTensor:$group_sizes,
                       CHLO_RaggedDotDimensionNumbers:$ragged_dot_dimension_numbers,
                       OptionalAttr<CHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs StableHLO_PlainTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

def CHLO_ScanOp : Op<Chlo_Dialect, "scan", [AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
                                            RecursiveMemoryEffects]> {
  let summary = "A region along a dimension, with values carried from one index to the next.";
  let description = [{
    The region takes a slice of each input, without the dimension, and what is carried; it returns a slice of each
    output, and what is carried on. `scan_dim_size` is needed where there are no inputs.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$inits,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scan_dim_size,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs, Variadic<StableHLO_Tensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of times that the region is computed; dynamic where it is unknown.
    int64_t getScanSize();
  }];
}

#endif // TTMLIR_DIALECT_CHLO_IR_CHLOOPS_TD
