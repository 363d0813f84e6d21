// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#full = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x256xf32, #sys>>
#part = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, mesh = <"mesh">, memref<64x64xf32, #sys>>
func.func @dist(%x: tensor<64x256xf32, #full>) -> tensor<64x256xf32, #full> {
  // CHECK: "ttnn.get_device"{{.*}} <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x4>}>
  %dev = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x4>}> : () -> !ttnn.device
  // CHECK: "ttnn.distribute_tensor"{{.*}} <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>}>
  %0 = "ttnn.distribute_tensor"(%x, %dev) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate>, <shard, 1 : i64>]>}> : (tensor<64x256xf32, #full>, !ttnn.device) -> tensor<64x64xf32, #part>
  // CHECK: "ttnn.aggregate_tensor"{{.*}} <{composer_config = #ttnn.mesh_composer_config<dims = [0 : i32, 1 : i32]>}>
  %1 = "ttnn.aggregate_tensor"(%0, %dev) <{composer_config = #ttnn.mesh_composer_config<dims = [0 : i32, 1 : i32]>}> : (tensor<64x64xf32, #part>, !ttnn.device) -> tensor<64x256xf32, #full>
  return %1 : tensor<64x256xf32, #full>
}
