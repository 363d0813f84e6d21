//===- D2MBase.td - the D2M dialect ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_IR_D2MBASE_TD
#define TTMLIR_DIALECT_D2M_IR_D2MBASE_TD

include "mlir/IR/OpBase.td"

def D2M_Dialect : Dialect {
  let name = "d2m";
  let summary = "Direct to metal: what the cores of a chip compute, tile by tile, and what they move.";
  let description = [{
    A `d2m.generic` runs on a grid of cores. Each of its regions is the program of one thread of every core: data
    movement between memories, or computation on tiles. Threads hand tiles to each other through circular buffers
    (`!d2m.cb`).
  }];
  let cppNamespace = "::mlir::tt::d2m";
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

/// Ops that run on a compute thread only, or on a data movement thread only. Threads that are not split yet run both.
def D2M_GenericRegionComputeOpTrait : NativeOpTrait<"ComputeThreadOp"> {
  let cppNamespace = "::mlir::tt::d2m";
}
def D2M_GenericRegionDatamovementOpTrait : NativeOpTrait<"DatamovementThreadOp"> {
  let cppNamespace = "::mlir::tt::d2m";
}
/// Ops that the fusion of elementwise generics does not move.
def D2M_SkipOpEltwiseFusionTrait : NativeOpTrait<"SkipEltwiseFusion"> {
  let cppNamespace = "::mlir::tt::d2m";
}
/// Ops on two tiles that the matrix unit has, too: for tiles of circular buffers of at most 16 bits.
def D2M_MatrixUnitTrait : NativeOpTrait<"OnMatrixUnit"> {
  let cppNamespace = "::mlir::tt::d2m";
}

#endif // TTMLIR_DIALECT_D2M_IR_D2MBASE_TD
