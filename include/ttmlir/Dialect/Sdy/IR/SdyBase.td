//===- SdyBase.td - the Shardy dialect ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_IR_SDYBASE_TD
#define TTMLIR_DIALECT_SDY_IR_SDYBASE_TD

include "mlir/IR/OpBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let summary = "Describes the sharding of tensors over the axes of a mesh of devices.";
  let description = [{
    A `sdy.sharding` attribute on a function argument or result, or (one for each value) on an op, says along which mesh
    axes each dimension is split. It is checked against the mesh and the tensor wherever it stands.
  }];
  let cppNamespace = "::mlir::sdy";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

#endif // TTMLIR_DIALECT_SDY_IR_SDYBASE_TD
