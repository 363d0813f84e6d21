// RUN: ttmlir-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: ttmlir-opt %s --allow-unregistered-dialect | ttmlir-opt --allow-unregistered-dialect | FileCheck %s
// RUN: ttmlir-opt %s --allow-unregistered-dialect --mlir-print-op-generic | ttmlir-opt --allow-unregistered-dialect | FileCheck %s
// RUN: ttmlir-opt %s --allow-unregistered-dialect --emit-bytecode | ttmlir-opt --allow-unregistered-dialect | FileCheck %s

// Every attribute kind, in the spelling that the ecosystem's IR uses.

// CHECK: #mmio = #ttcore.memory_space<mmio>
// CHECK-DAG: #ttcore.arch<blackhole>
// CHECK-DAG: #ttcore.supportedDataTypes<bfp_bf4>
// CHECK-DAG: #ttcore<core_coord 3x5>
// CHECK-DAG: #ttcore.core_range<(0,1), (3,5)>
// CHECK-DAG: #ttcore.grid<4x6, virt_to_physical_map = (d0, d1) -> (0, d0, d1), physical_to_virt_map = (d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #ttcore<chip_coord 0x1x2x3>
// CHECK-DAG: #ttcore.meshes<[<"mesh" = 2x4>, <"side" = 1x8>]>
// CHECK-DAG: #ttcore.fabric_connection_config<noc_index = noc1, topology = linear, cluster_axis = 1, routing_mode = bidir_line_mesh, num_links = 2>
// CHECK-DAG: #ttcore.shard_type<identity>
module attributes {
  t.arch = #ttcore.arch<blackhole>, t.format = #ttcore.supportedDataTypes<bfp_bf4>,
  t.core = #ttcore<core_coord 3x5>, t.range = #ttcore.core_range<(0,1), (3,5)>, t.space = #ttcore.memory_space<mmio>,
  t.grid = #ttcore.grid<4x6, virt_to_physical_map = (d0, d1) -> (0, d0, d1), physical_to_virt_map = (d0, d1, d2) -> (d1, d2)>,
  t.chip = #ttcore<chip_coord 0x1x2x3>, ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>, <"side" = 1x8>]>,
  t.fabric = #ttcore.fabric_connection_config<noc_index = noc1, topology = linear, cluster_axis = 1, routing_mode = bidir_line_mesh, num_links = 2>,
  t.shard = #ttcore.shard_type<identity>
} {
  // CHECK: !ttcore.tile<32x32, bfp_bf8>
  func.func private @tiles(tensor<3x5x!ttcore.tile<32x32, bfp_bf8>>)
  // CHECK: ttcore.runtime_tensor_sharding = #ttcore<runtime_tensor_sharding shard_status = <presharded>, local_shape = tensor<8x16xf32>>
  // CHECK: ttcore.argument_type = #ttcore.argument_type<parameter>
  func.func private @arguments(
      tensor<16x64xf32> {ttcore.runtime_tensor_sharding = #ttcore<runtime_tensor_sharding shard_status = <presharded>, local_shape = tensor<8x16xf32>>},
      tensor<6xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
  // CHECK: ttcore.device_module {
  // CHECK-NEXT: builtin.module {
  ttcore.device_module {
    builtin.module {
    }
  }
}
