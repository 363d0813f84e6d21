// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#l1 = #ttcore.memory_space<l1>
!rows = memref<1x2x32x32xf32, #ttcore.shard<128x4, 1>, #l1>
#cores = #ttmetal.core_range<0x0, 1x2>
#args = #ttmetal.kernel_args<ct_args = [<cb_port[0]>, <cb_port[1]>]>

func.func private @mover() attributes {d2m.thread = #d2m.thread<datamovement>} {
  return
}
func.func private @math() attributes {d2m.thread = #d2m.thread<compute>} {
  return
}

// CHECK-LABEL: func.func @program
func.func @program(%x: memref<20x50xf32>) -> memref<20x50xf32> {
  // CHECK: %[[A:.*]] = ttmetal.create_buffer {address = 1024 : i64} : memref<1x2x32x32xf32, #ttcore.shard<128x4, 1>, #l1>
  %a = ttmetal.create_buffer {address = 1024 : i64} : !rows
  %b = ttmetal.create_buffer {address = 5120 : i64} : !rows
  // CHECK: ttmetal.enqueue_write_buffer %{{.*}}, %[[A]] : memref<20x50xf32>, memref<1x2x32x32xf32
  ttmetal.enqueue_write_buffer %x, %a : memref<20x50xf32>, !rows
  // CHECK: ttmetal.enqueue_program(%{{.*}}, %{{.*}}) cbs(%{{.*}}, %{{.*}}) {cb_ports = array<i64: 0, 1>, kernelConfigs = [
  // CHECK-SAME: #ttmetal.noc_config<@mover, <0x0, 1x2>, <ct_args = [<cb_port[0]>, <cb_port[1]>]>, noc0>
  // CHECK-SAME: #ttmetal.compute_config<@math, <0x0, 1x2>, <ct_args = [<cb_port[0]>, <cb_port[1]>]>, HiFi4, fp32_dest_acc_en = true, dst_full_sync_en = false, math_approx_mode = false>
  ttmetal.enqueue_program(%a, %b) cbs(%a, %b) {cb_ports = array<i64: 0, 1>, kernelConfigs = [
    #ttmetal.noc_config<@mover, #cores, #args, noc0>,
    #ttmetal.compute_config<@math, #cores, #args, HiFi4, fp32_dest_acc_en = true, dst_full_sync_en = false, math_approx_mode = false>
  ]} : (!rows, !rows) cbs(!rows, !rows)
  %y = memref.alloc() : memref<20x50xf32>
  // CHECK: ttmetal.enqueue_read_buffer
  ttmetal.enqueue_read_buffer %b, %y : !rows, memref<20x50xf32>
  // CHECK: ttmetal.deallocate_buffer %[[A]]
  ttmetal.deallocate_buffer %a : !rows
  // CHECK: ttmetal.finish
  ttmetal.finish
  return %y : memref<20x50xf32>
}

// CHECK-LABEL: func.func @on_a_mesh
func.func @on_a_mesh(%x: memref<64x128xf32>) -> memref<32x32xf32> {
  // CHECK: ttmetal.mesh_shard %{{.*}} {shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>} : memref<64x128xf32> -> memref<32x32xf32>
  %part = ttmetal.mesh_shard %x {shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>} : memref<64x128xf32> -> memref<32x32xf32>
  return %part : memref<32x32xf32>
}
