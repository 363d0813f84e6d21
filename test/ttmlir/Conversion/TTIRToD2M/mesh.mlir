// RUN: ttmlir-opt %s --d2m-fe-pipeline="mesh-shape=2,4" | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="mesh-shape=2,4" | FileCheck %s --check-prefix=METAL
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="mesh-shape=2,4" | ttmlir-translate --ttkernel-to-cpp | FileCheck %s --check-prefix=CPP

// The host divides the argument, and chips send their parts to those of their row.
// CHECK-LABEL: func.func @gathered
// CHECK-SAME: %[[X:.*]]: memref<64x128xf32>
// CHECK-SAME: -> (memref<32x128xf32> {ttmetal.distributed})
// CHECK: %[[PART:.*]] = d2m.mesh_shard %[[X]] {{.*}} : memref<64x128xf32> -> memref<32x32xf32>
// CHECK: d2m.to_device %[[PART]]
// CHECK: d2m.mesh_position
// CHECK: d2m.dma_write %{{.*}} startDevice

// METAL: ttmetal.mesh_shard %{{.*}} : memref<64x128xf32> -> memref<32x32xf32>
// CPP: experimental::get_my_device_id()
// CPP: experimental::fabric_fast_write_any_len(
func.func @gathered(%x: tensor<64x128xf32>) -> tensor<32x128xf32> {
  %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<64x128xf32>) -> tensor<32x32xf32>
  %1 = "ttir.all_gather"(%0) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<32x32xf32>) -> tensor<32x128xf32>
  return %1 : tensor<32x128xf32>
}

// The parts of a result are joined by the host.
// CHECK-LABEL: func.func @joined
// CHECK-NOT: ttmetal.distributed
// CHECK: d2m.to_host %{{.*}}, %[[HOST:.*]] layout
// CHECK: %[[WHOLE:.*]] = d2m.mesh_shard %[[HOST]] {{.*}} : memref<32x32xf32> -> memref<64x128xf32>
// CHECK: return %[[WHOLE]]
func.func @joined(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<64x128xf32>) -> tensor<32x32xf32>
  %1 = "ttir.exp"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}

// A row of the table is read at an index that the kernel has read.
// CHECK-LABEL: func.func @rows
// CHECK: d2m.dma_read
// CHECK: memref.load %{{.*}} : memref<{{.*}}xi32
// CHECK: d2m.dma_read
func.func @rows(%i: tensor<6xi32>, %table: tensor<40x96xf32>) -> tensor<6x96xf32> {
  %0 = "ttir.embedding"(%i, %table) : (tensor<6xi32>, tensor<40x96xf32>) -> tensor<6x96xf32>
  return %0 : tensor<6x96xf32>
}
