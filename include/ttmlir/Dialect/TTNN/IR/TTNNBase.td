//===- TTNNBase.td - the TTNN dialect ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNBASE_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNBASE_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def TTNN_Dialect : Dialect {
  let name = "ttnn";
  let summary = "Calls of the TTNN op library, on tensors with a place in memory.";
  let description = [{
    Every op is one call of the TTNN library. The encoding of a tensor type (`#ttnn.ttnn_layout`) says in which data
    format, order and memory the tensor lies; a result's encoding is what the call must produce.
  }];
  let cppNamespace = "::mlir::tt::ttnn";
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class TTNN_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<TTNN_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// An integer of at least 0. MLIR's own parser reads -1 of an unsigned type as its greatest number.
class TTNN_Unsigned<string type> : AttrParameter<type, ""> {
  let parser = "parseUnsigned<" # type # ">($_parser)";
}
class TTNN_OptionalUnsigned<string type> : OptionalParameter<"std::optional<" # type # ">"> {
  let parser = "parseUnsigned<" # type # ">($_parser)";
}
def TTNN_UInt32 : TTNN_Unsigned<"uint32_t">;
def TTNN_UInt64 : TTNN_Unsigned<"uint64_t">;
def TTNN_OptionalUInt32 : TTNN_OptionalUnsigned<"uint32_t">;

class TTNN_EnumAttr<EnumAttrInfo info, string attrMnemonic> : EnumAttr<TTNN_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNBASE_TD
