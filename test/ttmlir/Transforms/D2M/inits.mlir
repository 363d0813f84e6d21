// RUN: ttmlir-opt %s --ttkernel-hoist-inits | FileCheck %s --check-prefix=HOIST
// RUN: ttmlir-opt %s --ttkernel-hoist-inits --ttkernel-dedup-inits | FileCheck %s --check-prefix=DEDUP
// RUN: ttmlir-opt %s --ttkernel-hoist-inits --ttkernel-dedup-inits --ttkernel-hoist-inits --ttkernel-dedup-inits | FileCheck %s --check-prefix=DEDUP

// The vector unit does one thing in both loops; the unpacker copies from two buffers.
// HOIST-LABEL: func.func @loop
// HOIST: ttkernel.add_binary_tile_init()
// HOIST-NEXT: scf.for
// HOIST-NEXT: scf.for
// HOIST-NEXT: ttkernel.copy_tile_init(%0)
// HOIST-NEXT: ttkernel.copy_tile(%0
// HOIST-NEXT: ttkernel.copy_tile_init(%1)
// HOIST-NEXT: ttkernel.copy_tile(%1
// HOIST-NEXT: ttkernel.add_binary_tile(
// HOIST: ttkernel.add_binary_tile_init()
// HOIST-NEXT: ttkernel.add_binary_tile(
// HOIST-NEXT: ttkernel.exp_tile_init()
// HOIST-NEXT: ttkernel.exp_tile(
// HOIST-NEXT: ttkernel.exp_tile_init()
// HOIST-NEXT: ttkernel.exp_tile(
// DEDUP-LABEL: func.func @loop
// DEDUP-COUNT-1: ttkernel.add_binary_tile_init()
// DEDUP: ttkernel.copy_tile_init(%0)
// DEDUP: ttkernel.copy_tile_init(%1)
// DEDUP: }
// DEDUP-NEXT: }
// DEDUP-NEXT: ttkernel.add_binary_tile(
// DEDUP-NEXT: ttkernel.exp_tile_init()
// DEDUP-NEXT: ttkernel.exp_tile(
// DEDUP-NEXT: ttkernel.exp_tile(
func.func @loop() {
  %0 = ttkernel.get_compile_time_arg_val(0) : !ttkernel.cb<1024, !ttcore.tile<32x32, f32>>
  %1 = ttkernel.get_compile_time_arg_val(1) : !ttkernel.cb<1024, !ttcore.tile<32x32, f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      ttkernel.copy_tile_init(%0) : (!ttkernel.cb<1024, !ttcore.tile<32x32, f32>>) -> ()
      ttkernel.copy_tile(%0, %i, %c0) : (!ttkernel.cb<1024, !ttcore.tile<32x32, f32>>, index, index) -> ()
      ttkernel.copy_tile_init(%1) : (!ttkernel.cb<1024, !ttcore.tile<32x32, f32>>) -> ()
      ttkernel.copy_tile(%1, %j, %c1) : (!ttkernel.cb<1024, !ttcore.tile<32x32, f32>>, index, index) -> ()
      ttkernel.add_binary_tile_init() : () -> ()
      ttkernel.add_binary_tile(%c0, %c1, %c0) : (index, index, index) -> ()
    }
  }
  ttkernel.add_binary_tile_init() : () -> ()
  ttkernel.add_binary_tile(%c0, %c1, %c0) : (index, index, index) -> ()
  ttkernel.exp_tile_init() : () -> ()
  ttkernel.exp_tile(%c0) : (index) -> ()
  ttkernel.exp_tile_init() : () -> ()
  ttkernel.exp_tile(%c1) : (index) -> ()
  return
}
