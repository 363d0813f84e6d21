//===- Elementwise.td - elementwise StableHLO ops ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_ELEMENTWISE_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_ELEMENTWISE_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// Operands have one shape and element type; nothing broadcasts. `infer` is the shape function of the family.
class StableHLO_Elementwise<string mnemonic, list<Trait> traits = [], string infer = "inferElementwise">
    : StableHLO_InferredOp<mnemonic, !listconcat([Pure, Elementwise], traits)> {
  let extraClassDefinition = inferenceBody # [{
    ::llvm::LogicalResult $cppClass::inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
                                                ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return }] # infer # [{(location, getOperationName(), adaptor.getOperands(), types);
    }
  }];
}

class StableHLO_Unary<string mnemonic, Type tensor, string text, list<Trait> traits = []>
    : StableHLO_Elementwise<mnemonic, traits> {
  let summary = text;
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

/// A function, by its name in ttmlir/scalars/Functions.h, whose accuracy can be requested.
class StableHLO_Transcendental<string mnemonic, string function, string text>
    : StableHLO_Unary<mnemonic, StableHLO_FloatComplexOrQuantizedTensor, text, [TT_Computes<function>]> {
  let arguments = (ins StableHLO_FloatComplexOrQuantizedTensor:$operand,
      DefaultValuedOptionalAttr<StableHLO_ResultAccuracyAttr,
                                "::mlir::stablehlo::ResultAccuracyMode::DEFAULT">:$result_accuracy);
}

/// A part of a complex number; for a real one, the number itself or zero.
class StableHLO_ComplexPart<string mnemonic, string text>
    : StableHLO_Elementwise<mnemonic, [TT_LinearInFirst, TT_ReplacedEarly], "inferRealElementwise"> {
  let summary = text;
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

class StableHLO_Binary<string mnemonic, Type tensor, string text, list<Trait> traits = []>
    : StableHLO_Elementwise<mnemonic, traits> {
  let summary = text;
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def StableHLO_CbrtOp : StableHLO_Transcendental<"cbrt", "cbrt", "Cube root.">;
def StableHLO_CosineOp : StableHLO_Transcendental<"cosine", "cos", "Cosine of an angle in radians.">;
def StableHLO_ExpOp : StableHLO_Transcendental<"exponential", "exp", "e to the power of the operand.">;
def StableHLO_Expm1Op : StableHLO_Transcendental<"exponential_minus_one", "expm1", "e^operand - 1, accurate near 0.">;
def StableHLO_LogOp : StableHLO_Transcendental<"log", "log", "Natural logarithm.">;
def StableHLO_Log1pOp : StableHLO_Transcendental<"log_plus_one", "log1p", "log(1 + operand), accurate near 0.">;
def StableHLO_LogisticOp : StableHLO_Transcendental<"logistic", "sigmoid", "1 / (1 + e^-operand).">;
def StableHLO_RsqrtOp : StableHLO_Transcendental<"rsqrt", "rsqrt", "1 / sqrt(operand).">;
def StableHLO_SineOp : StableHLO_Transcendental<"sine", "sin", "Sine of an angle in radians.">;
def StableHLO_SqrtOp : StableHLO_Transcendental<"sqrt", "sqrt", "Square root.">;
def StableHLO_TanOp : StableHLO_Transcendental<"tan", "tan", "Tangent of an angle in radians.">;
def StableHLO_TanhOp : StableHLO_Transcendental<"tanh", "tanh", "Hyperbolic tangent.">;

def StableHLO_CeilOp : StableHLO_Unary<"ceil", StableHLO_FloatOrQuantizedTensor, "Smallest whole number not below the operand.",
                                       [TT_Computes<"ceil">]>;
def StableHLO_ClzOp : StableHLO_Unary<"count_leading_zeros", StableHLO_IntTensor, "Number of leading zero bits.",
                                      [TT_Computes<"count_leading_zeros">]>;
def StableHLO_FloorOp : StableHLO_Unary<"floor", StableHLO_FloatOrQuantizedTensor, "Largest whole number not above the operand.",
                                        [TT_Computes<"floor">]>;
def StableHLO_NegOp : StableHLO_Unary<"negate", StableHLO_NumberTensor, "The operand times -1.",
                                     [TT_LinearInFirst, TT_Computes<"neg">]>;
def StableHLO_NotOp : StableHLO_Unary<"not", StableHLO_PredOrIntTensor, "Logical not of i1, bitwise not of integers.",
                                      [TT_Computes<"bitwise_not", "logical_not">]>;
def StableHLO_PopulationCountOp : StableHLO_Unary<"popcnt", StableHLO_IntTensor, "Number of one bits.",
                                                  [TT_Computes<"popcount">]>;
def StableHLO_RoundOp
    : StableHLO_Unary<"round_nearest_afz", StableHLO_FloatOrQuantizedTensor, "Nearest whole number, halves away from zero.",
                      [TT_Computes<"round">]>;
def StableHLO_RoundNearestEvenOp
    : StableHLO_Unary<"round_nearest_even", StableHLO_FloatOrQuantizedTensor, "Nearest whole number, halves to the even one.",
                      [TT_Computes<"round_even">]>;
def StableHLO_SignOp : StableHLO_Unary<"sign", StableHLO_SignedNumberTensor, "-1, 0 or 1; x / |x| if complex.",
                                       [TT_Computes<"sign_or_self">]>;

def StableHLO_ImagOp : StableHLO_ComplexPart<"imag", "Imaginary part.">;
def StableHLO_RealOp : StableHLO_ComplexPart<"real", "Real part.">;

def StableHLO_AbsOp : StableHLO_Elementwise<"abs", [TT_Computes<"abs">], "inferRealElementwise"> {
  let summary = "Absolute value; of a complex number, its distance from zero.";
  let arguments = (ins StableHLO_SignedNumberTensor:$operand);
  let results = (outs StableHLO_SignedRealTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_IsFiniteOp : StableHLO_Elementwise<"is_finite", [TT_Computes<"isfinite">], "inferPredElementwise"> {
  let summary = "False for NaN and infinities.";
  let arguments = (ins StableHLO_FloatOrQuantizedTensor:$x);
  let results = (outs StableHLO_PredTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// Quantized elements are converted by uniform_quantize and uniform_dequantize.
def StableHLO_ConvertOp : StableHLO_Op<"convert", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "Converts elements to the element type of the result.";
  let description = "To i1: whether the element differs from zero. From i1: 0 or 1. From complex: the real part.";
  let arguments = (ins StableHLO_PlainTensor:$operand);
  let results = (outs StableHLO_PlainTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_UniformQuantizeOp
    : StableHLO_Op<"uniform_quantize", [Pure, Elementwise, TT_ChangesQuantization, TT_ReplacedEarly,
                                      SameOperandsAndResultShape]> {
  let summary = "The nearest quantized values of floats, or of values quantized otherwise.";
  let arguments = (ins StableHLO_QuantizableTensor:$operand);
  let results = (outs StableHLO_QuantizedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasVerifier = 1;
}

def StableHLO_UniformDequantizeOp : StableHLO_Elementwise<"uniform_dequantize",
                                                          [TT_ChangesQuantization, TT_ReplacedEarly], "inferExpressedElementwise"> {
  let summary = "The floats that quantized values stand for.";
  let arguments = (ins StableHLO_QuantizedTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_ReducePrecisionOp : StableHLO_Elementwise<"reduce_precision"> {
  let summary = "Rounds elements to a smaller float format and back.";
  let description = "Written as `stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>`.";
  let arguments = (ins StableHLO_FloatOrQuantizedTensor:$operand, ConfinedAttr<I32Attr, [IntPositive]>:$exponent_bits,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$mantissa_bits);
  let results = (outs StableHLO_FloatOrQuantizedTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict `:`
    custom<SameOperandsAndResultType>(type($operand), type($output))
  }];
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

def StableHLO_AddOp : StableHLO_Binary<"add", StableHLO_AnyTensor, "Sum; logical or of i1.",
                                      [Commutative, TT_Linear, TT_Computes<"add", "logical_or">, TT_Neutral<"-0.0", "0", 1>]>;
def StableHLO_AndOp : StableHLO_Binary<"and", StableHLO_PredOrIntTensor, "Logical or bitwise and.",
                                       [Commutative, TT_Computes<"bitwise_and", "logical_and">,
                                        TT_Neutral<"NAN", "-1", 1, "0">, TT_KeepsEqual]>;
def StableHLO_Atan2Op
    : StableHLO_Binary<"atan2", StableHLO_FloatComplexOrQuantizedTensor, "Angle of the point (rhs, lhs), -pi to pi.",
                       [TT_Computes<"atan2">]>;
def StableHLO_DivOp
    : StableHLO_Binary<"divide", StableHLO_NumberTensor, "Quotient, of integers rounded toward zero.",
                       [TT_LinearInFirst, TT_Divides, TT_Computes<"divide">, TT_Neutral<"1", "1">]>;
def StableHLO_MaxOp : StableHLO_Binary<"maximum", StableHLO_Tensor, "The larger; NaN if either is.",
                                       [Commutative, TT_Computes<"maximum", "logical_or">,
                                        TT_Neutral<"-INFINITY", "-INFINITY", 1>, TT_KeepsEqual]>;
def StableHLO_MinOp : StableHLO_Binary<"minimum", StableHLO_Tensor, "The smaller; NaN if either is.",
                                       [Commutative, TT_Computes<"minimum", "logical_and">,
                                        TT_Neutral<"INFINITY", "INFINITY", 1>, TT_KeepsEqual]>;
def StableHLO_MulOp : StableHLO_Binary<"multiply", StableHLO_Tensor, "Product; logical and of i1.",
                                      [Commutative, TT_LinearInEach, TT_Computes<"multiply", "logical_and">,
                                       TT_Neutral<"1", "1", 1, "0">]>;
def StableHLO_OrOp : StableHLO_Binary<"or", StableHLO_PredOrIntTensor, "Logical or bitwise or.",
                                      [Commutative, TT_Computes<"bitwise_or", "logical_or">,
                                       TT_Neutral<"NAN", "0", 1, "-1">, TT_KeepsEqual]>;
def StableHLO_PowOp : StableHLO_Binary<"power", StableHLO_NumberTensor, "lhs to the power of rhs.">;
def StableHLO_RemOp
    : StableHLO_Binary<"remainder", StableHLO_NumberTensor, "Remainder with the sign of lhs.",
                       [TT_Divides, TT_Computes<"truncated_remainder">]>;
def StableHLO_ShiftLeftOp : StableHLO_Binary<"shift_left", StableHLO_IntTensor, "lhs shifted left by rhs bits.",
                                             [TT_Computes<"logical_left_shift">, TT_Neutral<"NAN", "0">]>;
def StableHLO_ShiftRightArithmeticOp
    : StableHLO_Binary<"shift_right_arithmetic", StableHLO_IntTensor, "lhs shifted right, copies of its sign coming in.",
                       [TT_Computes<"right_shift">, TT_Neutral<"NAN", "0">]>;
def StableHLO_ShiftRightLogicalOp
    : StableHLO_Binary<"shift_right_logical", StableHLO_IntTensor, "lhs shifted right, zeros coming in.",
                       [TT_Computes<"logical_right_shift">, TT_Neutral<"NAN", "0">]>;
def StableHLO_SubtractOp : StableHLO_Binary<"subtract", StableHLO_NumberTensor, "lhs - rhs.",
                                           [TT_Linear, TT_Computes<"subtract">, TT_Neutral<"0.0", "0">]>;
def StableHLO_XorOp
    : StableHLO_Binary<"xor", StableHLO_PredOrIntTensor, "Logical or bitwise exclusive or.",
                       [Commutative, TT_Computes<"bitwise_xor", "logical_xor">, TT_Neutral<"NAN", "0", 1>]>;

def StableHLO_CompareOp : StableHLO_Elementwise<"compare", [], "inferPredElementwise"> {
  let summary = "Compares elements.";
  let description = "Written as `stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`.";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
                       StableHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_PredTensor);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ComplexOp : StableHLO_Elementwise<"complex", [TT_ReplacedEarly], "inferComplexElementwise"> {
  let summary = "Complex numbers with the real parts lhs and the imaginary parts rhs.";
  let arguments = (ins StableHLO_Float32Or64Tensor:$lhs, StableHLO_Float32Or64Tensor:$rhs);
  let results = (outs StableHLO_ComplexTensor:$result);
  let assemblyFormat = "operands attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))";
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

def StableHLO_SelectOp : StableHLO_InferredOp<"select", [Pure, TT_MovesValues, TT_Pointwise, TT_Computes<"where">]> {
  let summary = "on_true where pred holds, on_false elsewhere; pred may be a scalar.";
  let arguments = (ins StableHLO_PredTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))
  }];
}

def StableHLO_ClampOp : StableHLO_InferredOp<"clamp", [Pure, TT_Pointwise]> {
  let summary = "The operand, moved into [min, max]; both bounds may be scalars.";
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_ELEMENTWISE_TD
