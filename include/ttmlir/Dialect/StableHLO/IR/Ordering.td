//===- Ordering.td - StableHLO ops that order elements -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_ORDERING_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_ORDERING_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_SortOp
    : StableHLO_InferredOp<"sort", [TT_AppliesRegion, TT_MovesValues, TT_Factors<"::mlir::stablehlo::sortFactors">, RecursiveMemoryEffects, RecursivelySpeculatable,
                                    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "The inputs along a dimension in the order that a comparator gives.";
  let description = [{
    The region takes two elements of each input, `(a0, b0, a1, b1, ...)`, and says whether those of `a` come before those
    of `b`. All inputs are put in the same order.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$comparator);
  let hasRegionVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_ORDERING_TD
