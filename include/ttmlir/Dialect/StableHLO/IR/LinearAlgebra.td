//===- LinearAlgebra.td - StableHLO linear algebra and transforms *- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_LINEARALGEBRA_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_LINEARALGEBRA_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_CholeskyOp : StableHLO_Op<"cholesky", [TT_Factors<"::mlir::stablehlo::choleskyFactors">, Pure, SameOperandsAndResultType]> {
  let summary = "The triangular factor of a batch of positive definite matrices.";
  let arguments = (ins StableHLO_FloatComplexOrQuantizedTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs StableHLO_FloatComplexOrQuantizedTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_TriangularSolveOp : StableHLO_Op<"triangular_solve", [Pure, TT_Factors<"::mlir::stablehlo::triangularSolveFactors">]> {
  let summary = "Solves systems with a batch of triangular matrices.";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$a, StableHLO_FloatOrComplexTensor:$b, BoolAttr:$left_side,
                       BoolAttr:$lower, BoolAttr:$unit_diagonal, StableHLO_TransposeAttr:$transpose_a);
  let results = (outs StableHLO_FloatOrComplexTensor);
  let hasVerifier = 1;
}

def StableHLO_FftOp : StableHLO_Op<"fft", [Pure, TT_ReplacedEarly, TT_Factors<"::mlir::stablehlo::fftFactors">]> {
  let summary = "A Fourier transform of the last dimensions.";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs StableHLO_FloatOrComplexTensor);
  let assemblyFormat = [{
    $operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure, TT_Factors<"::mlir::stablehlo::einsumFactors">]> {
  let summary = "A product and sum of two tensors by letters.";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure, TT_Factors<"::mlir::stablehlo::einsumFactors">]> {
  let summary = "A sum and transposition of a tensor by letters.";
  let arguments = (ins StableHLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_LINEARALGEBRA_TD
