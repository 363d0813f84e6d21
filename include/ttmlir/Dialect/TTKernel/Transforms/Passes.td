//===- Passes.td - passes on TTKernel ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTKERNEL_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_TTKERNEL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TTKernelControlDstSection : Pass<"ttkernel-control-dst-section", "::mlir::func::FuncOp"> {
  let summary = "Synchronize the destination registers between math and packer";
  let description = [{
    Before:
    ```mlir
    ttkernel.tile_regs_acquire() : () -> ()
    ttkernel.sigmoid_tile(%c0) : (index) -> ()
    ttkernel.pack_tile(%c0, %cb, %i) : (index, !cb, index) -> ()
    ```
    After:
    ```mlir
    ttkernel.tile_regs_acquire() : () -> ()
    ttkernel.sigmoid_tile(%c0) : (index) -> ()
    ttkernel.tile_regs_commit() : () -> ()
    ttkernel.tile_regs_wait() : () -> ()
    ttkernel.pack_tile(%c0, %cb, %i) : (index, !cb, index) -> ()
    ttkernel.tile_regs_release() : () -> ()
    ```
  }];
}

#endif // TTMLIR_DIALECT_TTKERNEL_TRANSFORMS_PASSES_TD
