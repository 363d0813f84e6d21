// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-be-pipeline --convert-d2m-to-ttkernel --ttkernel-control-dst-section | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: func.func @program(%arg0: memref<512x32xbf16>, %arg1: memref<512x32xbf16>) -> memref<512x32xbf16>
// CHECK: %[[ROWS:.*]] = ttmetal.create_buffer {address = 103712 : i64} : memref<8x1x64x32xbf16, #ttcore.shard<64x2, 1>, #l1>
// CHECK-NEXT: ttmetal.enqueue_write_buffer %arg0, %[[ROWS]]
// CHECK-NEXT: %[[TILES:.*]] = ttmetal.create_buffer {address = 107808 : i64}
// CHECK-NEXT: ttmetal.enqueue_program(%[[ROWS]], %[[TILES]]) cbs(%[[ROWS]], %[[TILES]]) {cb_ports = array<i64: 0, 1>
// CHECK-SAME: #ttmetal.noc_config<@{{.*}}, <0x0, 8x1>, <ct_args = [<cb_port[0]>, <cb_port[1]>]>, noc0>
// CHECK-SAME: #ttmetal.noc_config<@{{.*}}, noc1>
// CHECK-SAME: #ttmetal.compute_config<@{{.*}}, <0x0, 8x1>, <ct_args = [<cb_port[0]>, <cb_port[1]>]>, HiFi4, fp32_dest_acc_en = false, dst_full_sync_en = false, math_approx_mode = false>
// CHECK-NEXT: ttmetal.deallocate_buffer %[[ROWS]]
// CHECK: ttmetal.enqueue_read_buffer
// CHECK: ttmetal.finish
// CHECK-NEXT: return
// CHECK-NOT: d2m.generic
// CHECK-NOT: ttkernel.

// KERNEL: ttkernel.get_compile_time_arg_val(2) : !ttkernel.cb<2048, !ttcore.tile<32x32, bf16>>
// KERNEL: ttkernel.init_sfpu(%[[A:.*]], %[[O:.*]]) :
// KERNEL: ttkernel.cb_wait_front(%[[A]], %c2
// KERNEL: scf.for %[[I:.*]] =
// KERNEL: scf.for %[[J:.*]] =
// KERNEL: ttkernel.tile_regs_acquire()
// KERNEL: ttkernel.copy_tile_init(%[[A]])
// KERNEL: ttkernel.copy_tile(%[[A]], %{{.*}}, %c0
// KERNEL: ttkernel.copy_tile(%{{.*}}, %{{.*}}, %c1
// KERNEL: ttkernel.binary_max_tile_init()
// KERNEL-NEXT: ttkernel.binary_max_tile(%c0{{.*}}, %c1{{.*}}, %c0{{.*}})
// KERNEL: ttkernel.tile_regs_commit()
// KERNEL-NEXT: ttkernel.tile_regs_wait()
// KERNEL: ttkernel.pack_tile(%c0{{.*}}, %[[O]], %{{.*}})
// KERNEL-NEXT: ttkernel.tile_regs_release()
// KERNEL: ttkernel.cb_push_back(%[[O]]
// KERNEL: ttkernel.cb_pop_front(%[[A]]
func.func @program(%x: tensor<512x32xbf16>, %y: tensor<512x32xbf16>) -> tensor<512x32xbf16> {
  %0 = "ttir.maximum"(%x, %y) : (tensor<512x32xbf16>, tensor<512x32xbf16>) -> tensor<512x32xbf16>
  return %0 : tensor<512x32xbf16>
}
