// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

!cb = !ttkernel.cb<2048, !ttcore.tile<32x32, bf16>>

// CHECK-LABEL: func.func private @kernel() attributes {d2m.thread = #d2m.thread<compute>}
func.func private @kernel() attributes {d2m.thread = #d2m.thread<compute>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: ttkernel.get_compile_time_arg_val(0) : !ttkernel.cb<2048, !ttcore.tile<32x32, bf16>>
  %in = ttkernel.get_compile_time_arg_val(0) : !cb
  %out = ttkernel.get_compile_time_arg_val(1) : !cb
  ttkernel.init_sfpu(%in, %out) : (!cb, !cb) -> ()
  // CHECK: ttkernel.cb_wait_front(%{{.*}}, %{{.*}}) : (!ttkernel.cb<2048, !ttcore.tile<32x32, bf16>>, index) -> ()
  ttkernel.cb_wait_front(%in, %c1) : (!cb, index) -> ()
  ttkernel.cb_reserve_back(%out, %c1) : (!cb, index) -> ()
  ttkernel.tile_regs_acquire() : () -> ()
  ttkernel.copy_tile_init(%in) : (!cb) -> ()
  ttkernel.copy_tile(%in, %c0, %c0) : (!cb, index, index) -> ()
  // CHECK: ttkernel.sigmoid_tile_init() : () -> ()
  ttkernel.sigmoid_tile_init() : () -> ()
  // CHECK: ttkernel.sigmoid_tile(%{{.*}}) : (index) -> ()
  ttkernel.sigmoid_tile(%c0) : (index) -> ()
  ttkernel.add_binary_tile_init() : () -> ()
  ttkernel.add_binary_tile(%c0, %c1, %c0) : (index, index, index) -> ()
  ttkernel.where_tile(%c0, %c1, %c1, %c0) : (index, index, index, index) -> ()
  // CHECK: ttkernel.check_positions_tile(%{{.*}}) {op_name = "ttir.gather", size = 4 : i64} :
  ttkernel.check_positions_tile(%c0, %c1, %c1, %c0) {op_name = "ttir.gather", size = 4 : i64} : (index, index, index, index) -> ()
  // CHECK: ttkernel.clamp_tile(%{{.*}}) {max = 6.000000e+00 : f32, min = -1.000000e+00 : f32} : (index) -> ()
  ttkernel.clamp_tile(%c0) {min = -1.0 : f32, max = 6.0 : f32} : (index) -> ()
  ttkernel.fill_tile(%c1) {value = 0.5 : f32} : (index) -> ()
  // CHECK: ttkernel.typecast_tile(%{{.*}}) {from = #ttcore.supportedDataTypes<f32>, to = #ttcore.supportedDataTypes<bf16>} : (index) -> ()
  ttkernel.typecast_tile(%c0) {from = #ttcore.supportedDataTypes<f32>, to = #ttcore.supportedDataTypes<bf16>} : (index) -> ()
  ttkernel.tile_regs_commit() : () -> ()
  ttkernel.tile_regs_wait() : () -> ()
  ttkernel.pack_tile(%c0, %out, %c0) : (index, !cb, index) -> ()
  ttkernel.tile_regs_release() : () -> ()
  ttkernel.tilize_init(%in, %c1, %out) : (!cb, index, !cb) -> ()
  ttkernel.tilize_block(%in, %c1, %out) : (!cb, index, !cb) -> ()
  ttkernel.untilize_init(%in) : (!cb) -> ()
  ttkernel.untilize_block(%in, %c1, %out) : (!cb, index, !cb) -> ()
  ttkernel.cb_pop_front(%in, %c1) : (!cb, index) -> ()
  ttkernel.cb_push_back(%out, %c1) : (!cb, index) -> ()
  return
}
