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

class TTNN_EnumAttr<EnumAttrInfo info, string attrMnemonic> : EnumAttr<TTNN_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNBASE_TD
