// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=mesh-shape=8,4 --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @all_gather
func.func @all_gather(%a: tensor<1x1x256x512xf32>) -> tensor<1x1x256x512xf32> {
  // CHECK: mesh_shape = #ttnn<mesh_shape 8x4>
  // CHECK: "ttnn.distribute_tensor"(%arg0, %{{.*}}) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<shard, 2 : i64>, <shard, 3 : i64>]>}>
  %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: 2, 3>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 1, 8, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<1x1x256x512xf32>) -> tensor<1x1x32x128xf32>
  // CHECK: "ttnn.all_gather"
  %1 = "ttir.all_gather"(%0) <{all_gather_dim = 3 : si32, cluster_axis = 1 : ui32}> : (tensor<1x1x32x128xf32>) -> tensor<1x1x32x512xf32>
  // An axis that holds equal values is read at its first device.
  // CHECK: "ttnn.aggregate_tensor"{{.*}}dims = [2 : i32, 0 : i32], mesh_shape_override = [8 : i32, 1 : i32]
  %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: 2, -1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 1, 1, 8, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<1x1x32x512xf32>) -> tensor<1x1x256x512xf32>
  return %2 : tensor<1x1x256x512xf32>
}

// -----

// Of a tensor of one dimension, which the other axis has taken, nothing is left to join: -1.
// CHECK-LABEL: func.func @one_dimension
func.func @one_dimension(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<64xf32>) -> tensor<16xf32>
  // CHECK: "ttnn.aggregate_tensor"{{.*}}dims = [-1 : i32, 0 : i32], mesh_shape_override = [1 : i32, 4 : i32]
  %1 = "ttir.mesh_shard"(%0) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

func.func @wrong_count(%a: tensor<256x512xf32>) -> tensor<128x512xf32> {
  // expected-error@+1 {{'ttir.mesh_shard' is not lowered to TTNN: shard_shape splits dimension 0 into 2 parts but the mesh axes it is split along have 8 devices}}
  %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: 0, -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<256x512xf32>) -> tensor<128x512xf32>
  return %0 : tensor<128x512xf32>
}
