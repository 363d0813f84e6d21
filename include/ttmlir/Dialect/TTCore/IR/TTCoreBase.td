//===- TTCoreBase.td - the TTCore dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCOREBASE_TD
#define TTMLIR_DIALECT_TTCORE_IR_TTCOREBASE_TD

include "mlir/IR/OpBase.td"

def TTCore_Dialect : Dialect {
  let name = "ttcore";
  let summary = "Holds what all dialects share: devices, systems, meshes, tiles and data formats.";
  let cppNamespace = "::mlir::tt::ttcore";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class TTCore_Op<string mnemonic, list<Trait> traits = []> : Op<TTCore_Dialect, mnemonic, traits>;

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCOREBASE_TD
