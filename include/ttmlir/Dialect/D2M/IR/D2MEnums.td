//===- D2MEnums.td - enums of the D2M dialect --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_IR_D2MENUMS_TD
#define TTMLIR_DIALECT_D2M_IR_D2MENUMS_TD

include "mlir/IR/EnumAttr.td"

class D2M_I32Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::tt::d2m";
}

def D2M_DMAType : D2M_I32Enum<"DMAType", "Direction of a transfer.", [
    I32EnumAttrCase<"Read", 0, "read">,
    I32EnumAttrCase<"Write", 1, "write">,
    I32EnumAttrCase<"McastWrite", 2, "mcast_write">]>;

def D2M_ReduceDim : D2M_I32Enum<"ReduceDim", "The dimensions of a tile that are reduced: its rows, its columns, or both.", [
    I32EnumAttrCase<"R", 0, "R">,
    I32EnumAttrCase<"C", 1, "C">,
    I32EnumAttrCase<"RC", 2, "RC">]>;

def D2M_ResolutionStage : D2M_I32Enum<"ResolutionStage", "When an argument of a kernel is known.", [
    I32EnumAttrCase<"Compile", 0, "compile">,
    I32EnumAttrCase<"Runtime", 1, "runtime">]>;

def D2M_ThreadType : D2M_I32Enum<"ThreadType", "The task of a thread of a core.", [
    I32EnumAttrCase<"Compute", 0, "compute">,
    I32EnumAttrCase<"Datamovement", 1, "datamovement">,
    I32EnumAttrCase<"Unified", 2, "unified">]>;

def D2M_TileBcastType : D2M_I32Enum<"TileBcastType", "The part of a tile that is repeated.", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Col", 1, "col">,
    I32EnumAttrCase<"Row", 2, "row">,
    I32EnumAttrCase<"Scalar", 3, "scalar">]>;

#endif // TTMLIR_DIALECT_D2M_IR_D2MENUMS_TD
