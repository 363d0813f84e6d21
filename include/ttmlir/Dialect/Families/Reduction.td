//===- Reduction.td - reductions, scans and orderings -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_REDUCTION_TD
#define TTMLIR_DIALECT_FAMILIES_REDUCTION_TD

include "ttmlir/Dialect/Families/Base.td"

// Reduces the dimensions of `dim_arg`, or all if it is absent; `keep_dim` keeps them with size 1.
class TT_ReductionOp<Dialect dialect, string mnemonic, string text, dag extra = (ins), list<Trait> traits = []>
    : TT_PureOp<dialect, mnemonic, TT_Unary, !con((ins BoolAttr:$keep_dim, OptionalAttr<I32ArrayAttr>:$dim_arg), extra),
                text, "reduction", !listconcat([TT_ReductionTrait], traits)> {
  let description = [{
    Combines the elements of the dimensions in `dim_arg`; without it, of all dimensions. Negative dimensions count from the
    end. With `keep_dim` a reduced dimension keeps size 1, else it is removed. Sums accumulate in f32.
  }];
  let hasFolder = 1;
}

// An op over the dimension `dim` that keeps the shape.
class TT_AlongDimOp<Dialect dialect, string mnemonic, string text, Attr dimension>
    : TT_PureOp<dialect, mnemonic, TT_Unary, (ins dimension:$dim), text,
                "alongDim"> {
  let description = [{
    Works on each row along `dim` by itself; the shape stays. A negative `dim` counts from the end.
  }];
}

class TT_SortOp<Dialect dialect, Attr dimension>
    : TT_PureOp<dialect, "sort", TT_Unary, (ins dimension:$dim, TT_Bool<"false">:$descending, TT_Bool<"false">:$stable),
                "The values in order along `dim`, and where they were.",
                "sort", [TT_KeepsRange], "input i32"> {
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
}

class TT_TopKOp<Dialect dialect, Attr dimension>
    : TT_PureOp<dialect, "topk", (ins AnyRankedTensor:$input_tensor),
                (ins I32Attr:$k, dimension:$dim, TT_Bool<"true">:$largest, TT_Bool<"false">:$sorted),
                "The k largest (or smallest) values along `dim`, and where they were.",
                "topk", [TT_KeepsRange], "input_tensor i32"> {
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
}

def TTIR_SumOp : TT_ReductionOp<TTIR_Dialect, "sum", "Sum.">;
def TTIR_MeanOp : TT_ReductionOp<TTIR_Dialect, "mean", "Arithmetic mean.">;
def TTIR_MaxOp : TT_ReductionOp<TTIR_Dialect, "max", "Greatest value.", (ins), [TT_KeepsRange]>;
def TTIR_MinOp : TT_ReductionOp<TTIR_Dialect, "min", "Smallest value.", (ins), [TT_KeepsRange]>;
def TTIR_ProdOp : TT_ReductionOp<TTIR_Dialect, "prod", "Product.">;
def TTIR_ReduceAndOp : TT_ReductionOp<TTIR_Dialect, "reduce_and",
    "1 where no value is 0, else 0.", (ins), [TT_KeepsRange]>;
def TTIR_ReduceOrOp : TT_ReductionOp<TTIR_Dialect, "reduce_or",
    "1 where a value is not 0, else 0.", (ins), [TT_KeepsRange]>;
def TTIR_ArgMaxOp : TT_PureOp<TTIR_Dialect, "argmax", TT_Unary,
    (ins BoolAttr:$keep_dim, OptionalAttr<I32ArrayAttr>:$dim_arg),
    "Position of the first greatest value, along one dimension or, without `dim_arg`, in the whole tensor (row-major).",
    "argmax", [TT_ReductionTrait, TT_KeepsRange], "i32">;

def TTIR_CumSumOp : TT_AlongDimOp<TTIR_Dialect, "cumsum", "Sum of the values up to and including each one.", I64Attr>;
def TTNN_CumSumOp : TT_AlongDimOp<TTNN_Dialect, "cumsum", "Sum of the values up to and including each one.", SI32Attr>;
def TTIR_CumProdOp : TT_AlongDimOp<TTIR_Dialect, "cumprod", "Product of the values up to and including each one.", I64Attr>;
def TTNN_CumProdOp : TT_AlongDimOp<TTNN_Dialect, "cumprod", "Product of the values up to and including each one.", SI32Attr>;

def TTIR_SortOp : TT_SortOp<TTIR_Dialect, DefaultValuedAttr<SI32Attr, "-1">>;
def TTNN_SortOp : TT_SortOp<TTNN_Dialect, DefaultValuedAttr<SI8Attr, "-1">>;
def TTIR_TopKOp : TT_TopKOp<TTIR_Dialect, DefaultValuedAttr<I32Attr, "-1">>;
def TTNN_TopKOp : TT_TopKOp<TTNN_Dialect, DefaultValuedAttr<SI32Attr, "-1">>;

#endif // TTMLIR_DIALECT_FAMILIES_REDUCTION_TD
