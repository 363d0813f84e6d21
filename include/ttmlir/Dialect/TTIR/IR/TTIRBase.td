//===- TTIRBase.td - the TTIR dialect --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTIR_IR_TTIRBASE_TD
#define TTMLIR_DIALECT_TTIR_IR_TTIRBASE_TD

include "mlir/IR/OpBase.td"

def TTIR_Dialect : Dialect {
  let name = "ttir";
  let summary = "Tensor programs, before anything is decided about devices and memory.";
  let description = [{
    Values are ranked tensors of static shape. Element types are f32, f16, bf16, integers of 8 to 64 bits and i1. An op's
    result type follows from its operands and attributes; it may be declared with another element type, which the values
    are then rounded or converted to.
  }];
  let cppNamespace = "::mlir::tt::ttir";
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::quant::QuantDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerOps();
  }];
}

#endif // TTMLIR_DIALECT_TTIR_IR_TTIRBASE_TD
