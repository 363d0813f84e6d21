//===- Rows.td - ops without a class of their own ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_ROWS_TD
#define TTMLIR_DIALECT_FAMILIES_ROWS_TD

include "mlir/IR/OpBase.td"

/// Marks an op that no C++ names and that has no attributes. Marked ops that are equal except for their names share one
/// class, in which each is a name (tools/opgen/split.py).
def TT_Row : NativeOpTrait<"Row"> {
  let cppNamespace = "::mlir::tt::trait";
}

#endif // TTMLIR_DIALECT_FAMILIES_ROWS_TD
