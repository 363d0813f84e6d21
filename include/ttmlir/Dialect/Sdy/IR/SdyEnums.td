//===- SdyEnums.td - enums of the Shardy dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_IR_SDYENUMS_TD
#define TTMLIR_DIALECT_SDY_IR_SDYENUMS_TD

include "mlir/IR/EnumAttr.td"

class Sdy_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::sdy";
}

def Sdy_PropagationDirection : Sdy_Enum<"PropagationDirection", "which way shardings may pass", [
  I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>, I32EnumAttrCase<"BACKWARD", 2>,
  I32EnumAttrCase<"BOTH", 3>]>;
def Sdy_ReductionOp : Sdy_Enum<"ReductionOp", "how partial values are combined", [
  I32EnumAttrCase<"SUM", 0, "sum">, I32EnumAttrCase<"MAX", 1, "max">, I32EnumAttrCase<"MIN", 2, "min">]>;

#endif // TTMLIR_DIALECT_SDY_IR_SDYENUMS_TD
