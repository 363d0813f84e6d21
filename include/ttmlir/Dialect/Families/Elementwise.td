//===- Elementwise.td - elementwise ops ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Operands broadcast as in NumPy. The result has the element type of the first operand (of `second` in `where`) unless
// another one is declared; comparisons and logical ops return 0 or 1 in that type. TTNN's forms take an optional
// `dtype`: the data type of the result.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_ELEMENTWISE_TD
#define TTMLIR_DIALECT_FAMILIES_ELEMENTWISE_TD

include "ttmlir/Dialect/Families/Base.td"

class TT_ElementwiseOp<Dialect dialect, string mnemonic, dag operands, string text, dag attributes = (ins),
                       string rule = "elementwise", list<Trait> traits = [], string types = "">
    : TT_PureOp<dialect, mnemonic, operands, attributes, text, rule, !listconcat([TT_ElementwiseTrait], traits), types> {
  let description = [{
    Computed element by element. Operands broadcast by NumPy's rules: shapes are aligned at the last dimension, and a
    dimension of size 1 is repeated. The result has the broadcast shape and the element type that is declared for it.
    16-bit floats are computed as f32 and rounded once.
  }];
}

class TTIR_Elementwise<string mnemonic, dag operands, string text, dag attributes = (ins),
                       string rule = "elementwise", list<Trait> traits = [], string types = "">
    : TT_ElementwiseOp<TTIR_Dialect, mnemonic, operands, text, attributes, rule, traits, types>;

class TTNN_Elementwise<string mnemonic, dag operands, string text, dag attributes = (ins),
                       string rule = "elementwise", list<Trait> traits = [], string types = "">
    : TT_ElementwiseOp<TTNN_Dialect, mnemonic, operands, text, !con(attributes, (ins TT_DType:$dtype)), rule, traits, types>;

multiclass Elementwise<string mnemonic, dag operands, string text, dag attributes = (ins),
                       string rule = "elementwise", list<Trait> traits = [], string types = ""> {
  def TTIR_#NAME#Op : TTIR_Elementwise<mnemonic, operands, text, attributes, rule, traits, types>;
  def TTNN_#NAME#Op : TTNN_Elementwise<mnemonic, operands, text, attributes, rule, traits, types>;
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

defm Abs : Elementwise<"abs", TT_Unary, "Absolute value.", (ins),
    "elementwise", [TT_IdempotentTrait]>;
defm Acos : Elementwise<"acos", TT_Unary, "Arc cosine, in [0, pi]; NaN outside [-1, 1].">;
defm Asin : Elementwise<"asin", TT_Unary, "Arc sine, in [-pi/2, pi/2]; NaN outside [-1, 1].">;
defm Asinh : Elementwise<"asinh", TT_Unary, "Inverse hyperbolic sine.">;
defm Atan : Elementwise<"atan", TT_Unary, "Arc tangent, in [-pi/2, pi/2].">;
defm Atanh : Elementwise<"atanh", TT_Unary, "Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside [-1, 1].">;
defm BitcastConvert : Elementwise<"bitcast_convert", TT_Unary,
    "The same bits read as another type of the same width, which the result declares.", (ins),
    "elementwise",
    [TT_ReadsBits, PredOpTrait<"element types of input and result have the same width",
                 CPred<"::mlir::tt::shapes::haveSameElementWidth($_op.getOperand(0), $_op.getResult(0))">>]>;
defm BitwiseNot : Elementwise<"bitwise_not", TT_Unary, "Every bit inverted.", (ins),
    "elementwise", [TT_ReadsBits, TT_InvolutionTrait]>;
defm Cbrt : Elementwise<"cbrt", TT_Unary, "Cube root.">;
defm Ceil : Elementwise<"ceil", TT_Unary, "Smallest integer not below the input.", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentTrait]>;
let hasFolder = 1 in
defm ClampScalar : Elementwise<"clamp_scalar", TT_Unary, "min(max(input, min), max).",
    (ins TT_Number:$min, TT_Number:$max), "elementwise",
    [PredOpTrait<"attributes 'min' and 'max' have the same type",
                 CPred<"::llvm::cast<::mlir::TypedAttr>($min).getType() == ::llvm::cast<::mlir::TypedAttr>($max).getType()">>]>;
defm Cos : Elementwise<"cos", TT_Unary, "Cosine of an angle in radians.", (ins),
    "elementwise", [TT_PeriodicTrait]>;
defm Erf : Elementwise<"erf", TT_Unary, "Error function.">;
defm Erfc : Elementwise<"erfc", TT_Unary, "1 - erf(input), accurate for large inputs.">;
defm Exp : Elementwise<"exp", TT_Unary, "e^input.">;
defm Expm1 : Elementwise<"expm1", TT_Unary, "e^input - 1, accurate near 0.">;
defm Floor : Elementwise<"floor", TT_Unary, "Greatest integer not above the input.", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentTrait]>;
defm Gelu : Elementwise<"gelu", TT_Unary, "input * (1 + erf(input / sqrt(2))) / 2.">;
defm Hardsigmoid : Elementwise<"hardsigmoid", TT_Unary, "min(max(input / 6 + 1/2, 0), 1).">;
defm IsFinite : Elementwise<"isfinite", TT_Unary, "1 where the input is neither infinite nor NaN, else 0.", (ins),
    "elementwise", [TT_KeepsRange]>;
defm LeakyRelu : Elementwise<"leaky_relu", TT_Unary, "input where it is positive, else parameter * input.",
    (ins F32Attr:$parameter)>;
defm Log : Elementwise<"log", TT_Unary, "Natural logarithm; -Inf at 0, NaN below.">;
defm Log1p : Elementwise<"log1p", TT_Unary, "log(1 + input), accurate near 0.">;
defm Log2 : Elementwise<"log2", TT_Unary, "Logarithm to base 2; -Inf at 0, NaN below.">;
defm LogicalNot : Elementwise<"logical_not", TT_Unary, "1 where the input is 0, else 0.", (ins),
    "elementwise", [TT_ComputesTruth]>;
defm Mish : Elementwise<"mish", TT_Unary, "input * tanh(log(1 + e^input)).">;
defm Neg : Elementwise<"neg", TT_Unary, "-input.", (ins),
    "elementwise", [TT_InvolutionTrait]>;
defm Reciprocal : Elementwise<"reciprocal", TT_Unary, "1 / input.">;
defm Relu : Elementwise<"relu", TT_Unary, "max(input, 0).", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentTrait]>;
defm Relu6 : Elementwise<"relu6", TT_Unary, "min(max(input, 0), 6).", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentTrait]>;
defm Rsqrt : Elementwise<"rsqrt", TT_Unary, "1 / sqrt(input); NaN below 0.">;
defm Sigmoid : Elementwise<"sigmoid", TT_Unary, "1 / (1 + e^-input).">;
defm Sign : Elementwise<"sign", TT_Unary, "-1, 0 or 1.", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentTrait]>;
defm Silu : Elementwise<"silu", TT_Unary, "input * sigmoid(input).">;
defm Sin : Elementwise<"sin", TT_Unary, "Sine of an angle in radians.", (ins),
    "elementwise", [TT_PeriodicTrait]>;
defm Sqrt : Elementwise<"sqrt", TT_Unary, "Square root; NaN below 0.">;
defm Tan : Elementwise<"tan", TT_Unary, "Tangent of an angle in radians.", (ins),
    "elementwise", [TT_PeriodicTrait]>;
defm Tanh : Elementwise<"tanh", TT_Unary, "Hyperbolic tangent.">;

def TTIR_Exp2Op : TTIR_Elementwise<"exp2", TT_Unary, "2^input.">;
def TTIR_FracOp : TTIR_Elementwise<"frac", TT_Unary, "input - trunc(input).">;
def TTIR_SeluOp : TTIR_Elementwise<"selu", TT_Unary,
    "scale * input where it is positive, else scale * alpha * (e^input - 1).",
    (ins TT_F32<"1.0507009873390197">:$scale, TT_F32<"1.6732635498046875">:$alpha)>;
def TTIR_SignbitOp : TTIR_Elementwise<"signbit", TT_Unary,
    "1 where the sign bit is set, -0 and -NaN included, else 0.", (ins), "elementwise", [TT_KeepsRange]>;
def TTIR_SoftsignOp : TTIR_Elementwise<"softsign", TT_Unary, "input / (1 + |input|).">;
def TTIR_SquareOp : TTIR_Elementwise<"square", TT_Unary, "input * input.">;
def TTIR_TruncOp : TTIR_Elementwise<"trunc", TT_Unary, "The input without its fraction.", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentTrait]>;
def TTIR_TypecastOp : TTIR_Elementwise<"typecast", TT_Unary, "The values in the element type that the result declares.",
    (ins TT_Bool<"false">:$conservative_folding)> {
  let hasFolder = 1;
}
def TTNN_TypecastOp : TTNN_Elementwise<"typecast", TT_Unary, "The values in the data type that the result declares."> {
  let hasFolder = 1;
}
def TTNN_PowScalarOp : TTNN_Elementwise<"pow_scalar", (ins AnyRankedTensor:$lhs), "lhs^rhs, for one exponent.",
    (ins TT_Number:$rhs)> {
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

defm Add : Elementwise<"add", TT_Binary, "lhs + rhs.", (ins),
    "elementwise", [TT_FoldsNeutral<"-0.0", "0", 1>]>;
defm Atan2 : Elementwise<"atan2", TT_Binary, "Angle of the point (rhs, lhs), in [-pi, pi].">;
defm BitwiseAnd : Elementwise<"bitwise_and", TT_Binary, "Bits set in both.", (ins),
    "elementwise", [TT_ReadsBits, TT_IdempotentOperandsTrait, TT_FoldsNeutral<"NAN", "-1", 1, "0">]>;
defm BitwiseOr : Elementwise<"bitwise_or", TT_Binary, "Bits set in either.", (ins),
    "elementwise", [TT_ReadsBits, TT_IdempotentOperandsTrait, TT_FoldsNeutral<"NAN", "0", 1, "-1">]>;
defm BitwiseXor : Elementwise<"bitwise_xor", TT_Binary, "Bits set in exactly one.", (ins),
    "elementwise", [TT_ReadsBits, TT_FoldsNeutral<"NAN", "0", 1>, TT_CancellingTrait]>;
defm Equal : Elementwise<"eq", TT_Binary, "1 where lhs = rhs, else 0.", (ins),
    "elementwise", [TT_Compares]>;
defm GeluBackward : Elementwise<"gelu_bw", TT_Binary,
    "Gradient of gelu: lhs is the incoming gradient, rhs the input of gelu.",
    (ins DefaultValuedAttr<StrAttr, "\"none\"">:$approximate),
    "geluBackward">;
defm GreaterEqual : Elementwise<"ge", TT_Binary, "1 where lhs >= rhs, else 0.", (ins),
    "elementwise", [TT_Compares]>;
defm GreaterThan : Elementwise<"gt", TT_Binary, "1 where lhs > rhs, else 0.", (ins),
    "elementwise", [TT_Compares]>;
defm LessEqual : Elementwise<"le", TT_Binary, "1 where lhs <= rhs, else 0.", (ins),
    "elementwise", [TT_Compares]>;
defm LessThan : Elementwise<"lt", TT_Binary, "1 where lhs < rhs, else 0.", (ins),
    "elementwise", [TT_Compares]>;
defm LogicalAnd : Elementwise<"logical_and", TT_Binary, "1 where neither is 0, else 0.", (ins),
    "elementwise", [TT_ComputesTruth, TT_IdempotentOperandsTrait]>;
defm LogicalLeftShift : Elementwise<"logical_left_shift", TT_Binary, "lhs << rhs, zeros coming in.", (ins),
    "integerElementwise", [TT_FoldsNeutral<"NAN", "0">]>;
defm LogicalOr : Elementwise<"logical_or", TT_Binary, "1 where one is not 0, else 0.", (ins),
    "elementwise", [TT_ComputesTruth, TT_IdempotentOperandsTrait]>;
defm LogicalRightShift : Elementwise<"logical_right_shift", TT_Binary, "lhs >> rhs, zeros coming in.", (ins),
    "integerElementwise", [TT_FoldsNeutral<"NAN", "0">]>;
defm LogicalXor : Elementwise<"logical_xor", TT_Binary, "1 where exactly one is 0, else 0.", (ins),
    "elementwise", [TT_ComputesTruth]>;
defm Maximum : Elementwise<"maximum", TT_Binary, "The greater of both.", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentOperandsTrait]>;
defm Minimum : Elementwise<"minimum", TT_Binary, "The smaller of both.", (ins),
    "elementwise", [TT_KeepsRange, TT_IdempotentOperandsTrait]>;
defm Multiply : Elementwise<"multiply", TT_Binary, "lhs * rhs.", (ins),
    "elementwise", [TT_FoldsNeutral<"1", "1", 1, "0">]>;
defm NotEqual : Elementwise<"ne", TT_Binary, "1 where lhs differs from rhs, else 0.", (ins),
    "elementwise", [TT_Compares]>;
defm Remainder : Elementwise<"remainder", TT_Binary, "Remainder of lhs / rhs.", (ins),
    "elementwise", [TT_KeepsRange, TT_Divides]>;
defm Subtract : Elementwise<"subtract", TT_Binary, "lhs - rhs.", (ins),
    "elementwise", [TT_FoldsNeutral<"0.0", "0">, TT_CancellingTrait]>;

defvar TT_QuotientText = "lhs / rhs; integers are divided towards 0.";
defvar TT_QuotientFacts = [TT_Divides, TT_FoldsNeutral<"1", "1">];
def TTIR_DivOp : TTIR_Elementwise<"div", TT_Binary, TT_QuotientText, (ins), "elementwise", TT_QuotientFacts>;
def TTNN_DivideOp : TTNN_Elementwise<"divide", TT_Binary, TT_QuotientText, (ins), "elementwise", TT_QuotientFacts>;
defvar TT_PowerFacts = [TT_FoldsNeutral<"NAN", "1">];
def TTIR_PowOp : TTIR_Elementwise<"pow", TT_Binary, "lhs^rhs.", (ins), "elementwise", TT_PowerFacts>;
def TTNN_PowTensorOp : TTNN_Elementwise<"pow_tensor", TT_Binary, "lhs^rhs.", (ins), "elementwise", TT_PowerFacts>;
def TTIR_RightShiftOp : TTIR_Elementwise<"right_shift", TT_Binary, "lhs >> rhs, copies of the sign bit coming in.", (ins),
    "integerElementwise", [TT_KeepsRange, TT_FoldsNeutral<"NAN", "0">]>;

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

let hasFolder = 1 in
defm Where : Elementwise<"where", TT_Ternary, "second where first is not 0, else third.", (ins),
    "elementwise", [TT_MovesValues], "second">;
defm ClampTensor : Elementwise<"clamp_tensor",
    (ins AnyRankedTensor:$input, AnyRankedTensor:$min, AnyRankedTensor:$max), "min(max(input, min), max).", (ins),
    "elementwise", [TT_KeepsRange]>;

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

class TT_DropoutOp<Dialect dialect> : Op<dialect, "dropout", [
    TT_InferShape<TT_Unary, "same">]> {
  let summary = "Zero with probability `prob`, else scale * input.";
  let arguments = !con(TT_Unary, (ins TT_F32<"0.0">:$prob, TT_F32<"1.0">:$scale,
                                      DefaultValuedAttr<UI32Attr, "0">:$seed, TT_Bool<"true">:$use_per_device_seed));
  let results = (outs Res<AnyRankedTensor, "", [MemAlloc]>:$result);
}

def TTIR_DropoutOp : TT_DropoutOp<TTIR_Dialect>;
def TTNN_DropoutOp : TT_DropoutOp<TTNN_Dialect>;

#endif // TTMLIR_DIALECT_FAMILIES_ELEMENTWISE_TD
