//===- TTMetalEnums.td - enums of the TTMetal dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTMETAL_IR_TTMETALENUMS_TD
#define TTMLIR_DIALECT_TTMETAL_IR_TTMETALENUMS_TD

include "mlir/IR/EnumAttr.td"

class TTMetal_I32Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::tt::ttmetal";
  let genSpecializedAttr = 0;
}

def TTMetal_MathFidelity : TTMetal_I32Enum<"MathFidelity", "Phases of a product.", [
    I32EnumAttrCase<"LoFi", 0>, I32EnumAttrCase<"HiFi2", 2>, I32EnumAttrCase<"HiFi3", 3>,
    I32EnumAttrCase<"HiFi4", 4>]>;
def TTMetal_NocIndex : TTMetal_I32Enum<"NocIndex", "One of the two networks.", [
    I32EnumAttrCase<"Noc0", 0, "noc0">, I32EnumAttrCase<"Noc1", 1, "noc1">]>;
def TTMetal_KernelArgType : TTMetal_I32Enum<"KernelArgType", "The property of an operand that a kernel argument holds.", [
    I32EnumAttrCase<"CBPort", 0, "cb_port">, I32EnumAttrCase<"BufferAddress", 1, "buffer_address">,
    I32EnumAttrCase<"TensorAccessorArgs", 6, "tensor_accessor_args">]>;
def TTMetal_UnpackToDestMode : TTMetal_I32Enum<"UnpackToDestMode", "The path of f32 tiles to registers of 32 bits.", [
    I32EnumAttrCase<"Fp32", 0, "fp32">, I32EnumAttrCase<"Default", 1, "default">]>;

#endif // TTMLIR_DIALECT_TTMETAL_IR_TTMETALENUMS_TD
