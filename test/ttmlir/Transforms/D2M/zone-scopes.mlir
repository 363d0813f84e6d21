// RUN: ttmlir-opt %s --insert-device-zone-scopes | FileCheck %s
// RUN: ttmlir-opt %s --insert-device-zone-scopes=traits=unary,init | FileCheck %s --check-prefix=TRAITS
// RUN: not ttmlir-opt %s --insert-device-zone-scopes=traits=vector 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: error: 'vector' is no trait of kernels; expected fpu, sfpu, init, unary, binary, ternary, device-zone, trid-noc, layout, all

!cb = !ttkernel.cb<1024, !ttcore.tile<32x32, f32>>

// Results of ops are known outside of a zone, so that only ops without them have one.
// CHECK-LABEL: @computes
// TRAITS-LABEL: @computes
func.func private @computes() attributes {d2m.thread = #d2m.thread<compute>} {
  %0 = ttkernel.get_compile_time_arg_val(0) : !cb
  %c0 = arith.constant 0 : index
  // CHECK: ttkernel.cb_wait_front
  // CHECK-NEXT: ttkernel.copy_tile_init
  // CHECK-NEXT: emitc.verbatim "{ DeviceZoneScopedN(\22copy_tile\22);"
  // CHECK-NEXT: ttkernel.copy_tile(
  // CHECK-NEXT: emitc.verbatim "}"
  // TRAITS: emitc.verbatim "{ DeviceZoneScopedN(\22copy_tile_init\22);"
  // TRAITS-NEXT: ttkernel.copy_tile_init
  // TRAITS-NEXT: emitc.verbatim "}"
  // TRAITS-NEXT: ttkernel.copy_tile(
  ttkernel.cb_wait_front(%0, %c0) : (!cb, index) -> ()
  ttkernel.copy_tile_init(%0) : (!cb) -> ()
  ttkernel.copy_tile(%0, %c0, %c0) : (!cb, index, index) -> ()
  // CHECK-NEXT: emitc.verbatim "{ DeviceZoneScopedN(\22exp_tile\22);"
  // CHECK-NEXT: ttkernel.exp_tile(
  // CHECK-NEXT: emitc.verbatim "}"
  // CHECK-NEXT: emitc.verbatim "{ DeviceZoneScopedN(\22add_binary_tile\22);"
  // TRAITS: DeviceZoneScopedN(\22exp_tile\22)
  // TRAITS-NOT: DeviceZoneScopedN(\22add_binary_tile\22)
  "ttkernel.exp_tile"(%c0) : (index) -> ()
  "ttkernel.add_binary_tile"(%c0, %c0, %c0) : (index, index, index) -> ()
  return
}

// CHECK-LABEL: @moves
func.func private @moves() attributes {d2m.thread = #d2m.thread<datamovement>} {
  %c0 = arith.constant 0 : index
  // CHECK: emitc.verbatim "{ DeviceZoneScopedN(\22noc_async_read\22);"
  ttkernel.noc_async_read(%c0, %c0, %c0) : (index, index, index) -> ()
  // CHECK: emitc.verbatim "{ DeviceZoneScopedN(\22noc_async_read_barrier\22);"
  ttkernel.noc_async_read_barrier() : () -> ()
  return
}
