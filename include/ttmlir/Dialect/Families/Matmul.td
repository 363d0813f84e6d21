//===- Matmul.td - matrix products -----------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Shapes follow torch.matmul: batch dimensions broadcast, a vector is a row on the left and a column on the right.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_MATMUL_TD
#define TTMLIR_DIALECT_FAMILIES_MATMUL_TD

include "ttmlir/Dialect/Families/Base.td"

defvar TT_MatmulAttributes = (ins TT_Bool<"false">:$transpose_a, TT_Bool<"false">:$transpose_b);

class TT_MatmulOp<Dialect dialect, dag extra = (ins)>
    : TT_PureOp<dialect, "matmul", (ins AnyRankedTensor:$a, AnyRankedTensor:$b), !con(TT_MatmulAttributes, extra),
                "Matrix product; `transpose_a` and `transpose_b` swap the last two dimensions of an operand first.",
                "matmul", [TT_SumsProducts, TT_TakesWeight]> {
  let description = [{
    The last two dimensions are matrices; the others are batches and broadcast. An operand of rank 1 is a row on the left and
    a column on the right, and its dimension is not in the result. Products accumulate in f32.
  }];
}

class TT_LinearOp<Dialect dialect, string rule, dag extra = (ins)>
    : TT_PureOp<dialect, "linear", (ins AnyRankedTensor:$a, AnyRankedTensor:$b, Optional<AnyRankedTensor>:$bias),
                !con(TT_MatmulAttributes, extra), "Matrix product, plus a bias that broadcasts.",
                rule, [TT_SumsProducts, TT_TakesWeight]> {
  let description = [{
    As `matmul`, with `bias` broadcast to the product and added before the result is rounded.
  }];
}

def TTIR_MatmulOp : TT_MatmulOp<TTIR_Dialect>;
def TTIR_LinearOp : TT_LinearOp<TTIR_Dialect, "matmul">;
def TTIR_DotGeneralOp : TT_PureOp<TTIR_Dialect, "dot_general", TT_Binary,
    (ins DenseI64ArrayAttr:$batch_dims_lhs, DenseI64ArrayAttr:$contract_dims_lhs, DenseI64ArrayAttr:$batch_dims_rhs,
         DenseI64ArrayAttr:$contract_dims_rhs),
    "Sum of products over the contracted dimensions; the result has the batch dimensions, then what is left of lhs, "
    "then of rhs.",
    "dotGeneral", [TT_SumsProducts, TT_TakesWeight]>;

#endif // TTMLIR_DIALECT_FAMILIES_MATMUL_TD
