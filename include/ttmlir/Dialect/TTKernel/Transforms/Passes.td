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

def TTKernelHoistInits : Pass<"ttkernel-hoist-inits", "::mlir::func::FuncOp"> {
  let summary = "Hoist inits of units out of loops";
  let description = [{
    A loop whose inits of a unit are all the same one, with operands from outside of it, keeps the unit as it is. The
    units are unpacker with matrix unit (`copy_tile_init`, `reduce_init`, ...) and vector unit (`sigmoid_tile_init`).

    Before:
    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      ttkernel.sigmoid_tile_init() : () -> ()
      ttkernel.sigmoid_tile(%c0) : (index) -> ()
    }
    ```
    After:
    ```mlir
    ttkernel.sigmoid_tile_init() : () -> ()
    scf.for %i = %c0 to %c4 step %c1 {
      ttkernel.sigmoid_tile(%c0) : (index) -> ()
    }
    ```
  }];
}

def TTKernelDedupInits : Pass<"ttkernel-dedup-inits", "::mlir::func::FuncOp"> {
  let summary = "Erase redundant inits";
  let description = [{
    Before:
    ```mlir
    ttkernel.exp_tile_init() : () -> ()
    ttkernel.exp_tile(%c0) : (index) -> ()
    ttkernel.exp_tile_init() : () -> ()
    ttkernel.exp_tile(%c1) : (index) -> ()
    ```
    After:
    ```mlir
    ttkernel.exp_tile_init() : () -> ()
    ttkernel.exp_tile(%c0) : (index) -> ()
    ttkernel.exp_tile(%c1) : (index) -> ()
    ```
  }];
}

def TTKernelInsertDeviceZoneScopes : Pass<"insert-device-zone-scopes", "::mlir::func::FuncOp"> {
  let summary = "Insert zones of the profiler around the ops of kernels";
  let description = [{
    The timeline of a core shows the zones of its kernels (docs/profiler.md). Traits select ops: those of the matrix
    unit (`fpu`) and of the vector unit (`sfpu`, of which `unary`, `binary` and `ternary`), `init`, transfers and
    semaphores (`trid-noc`), tilize and untilize (`layout`), `all`; by default, `device-zone` selects all but inits and
    circular buffers.

    Before:
    ```mlir
    ttkernel.exp_tile(%c0) : (index) -> ()
    ```
    After:
    ```mlir
    emitc.verbatim "{ DeviceZoneScopedN(\"exp_tile\");"
    ttkernel.exp_tile(%c0) : (index) -> ()
    emitc.verbatim "}"
    ```
  }];
  let options = [ListOption<"traitNames", "traits", "std::string", "Traits of the ops that get a zone">];
  let dependentDialects = ["::mlir::emitc::EmitCDialect"];
}

#endif // TTMLIR_DIALECT_TTKERNEL_TRANSFORMS_PASSES_TD
