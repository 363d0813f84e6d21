// RUN: ttmlir-opt %s --split-input-file --ttir-micro-batches="count=4" | FileCheck %s

// Whatever rows have with each other: broadcasts, attributes with the size of the batch, constants for all of its rows.
// CHECK-LABEL: func.func @shapes(
// CHECK-SAME: tensor<2x6xf32> {ttcore.micro_batch}, %{{.*}}: tensor<6xf32>) -> (tensor<6x4xf32> {ttcore.micro_batch}
// CHECK-SAME: ttcore.micro_batches = 4 : i64
func.func @shapes(%x: tensor<8x6xf32>, %bias: tensor<6xf32>) -> tensor<24x4xf32> {
  // CHECK: "ttir.add"{{.*}} : (tensor<2x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  %0 = "ttir.add"(%x, %bias) : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  // CHECK: %[[ONES:.*]] = "ttir.ones"() <{shape = array<i32: 2, 6>}>
  // CHECK: "ttir.multiply"(%{{.*}}, %[[ONES]])
  %ones = "ttir.ones"() <{shape = array<i32: 8, 6>}> : () -> tensor<8x6xf32>
  %1 = "ttir.multiply"(%0, %ones) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: "ttir.constant"() <{value = dense<2.000000e+00> : tensor<2x6xf32>}>
  %two = "ttir.constant"() <{value = dense<2.0> : tensor<8x6xf32>}> : () -> tensor<8x6xf32>
  %2 = "ttir.maximum"(%two, %1) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: "ttir.concat"{{.*}} -> tensor<2x12xf32>
  %3 = "ttir.concat"(%1, %2) <{dim = 1 : si32}> : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x12xf32>
  // CHECK: "ttir.slice_static"{{.*}} <{begins = [0 : i32, 0 : i32], ends = [2 : i32, 12 : i32]
  %4 = "ttir.slice_static"(%3) <{begins = [0 : i32, 0 : i32], ends = [8 : i32, 12 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x12xf32>) -> tensor<8x12xf32>
  // CHECK: "ttir.reshape"{{.*}} <{shape = [6 : i32, 4 : i32]}>
  %5 = "ttir.reshape"(%4) <{shape = [24 : i32, 4 : i32]}> : (tensor<8x12xf32>) -> tensor<24x4xf32>
  return %5 : tensor<24x4xf32>
}

// -----

// Inputs are cut, other arguments are not, nor is what depends on them alone.
// CHECK-LABEL: func.func @inputs(
// CHECK-SAME: %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<2x8xf32> {{[^}]*}}ttcore.micro_batch}
// CHECK-SAME: -> (tensor<2x8xf32> {ttcore.micro_batch}, tensor<8x8xf32>)
func.func @inputs(%w: tensor<8x8xf32>, %x: tensor<8x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: "ttir.exp"{{.*}} -> tensor<8x8xf32>
  %0 = "ttir.exp"(%w) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.matmul"{{.*}} -> tensor<2x8xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Each chip of a row of two has half of the rows of a micro-batch, and of the columns after the exchange.
// CHECK-LABEL: func.func @on_a_mesh(%arg0: tensor<2x8xf32> {ttcore.micro_batch}) -> (tensor<2x8xf32> {ttcore.micro_batch})
// CHECK: "ttir.mesh_shard"{{.*}} : (tensor<2x8xf32>) -> tensor<1x8xf32>
// CHECK: "ttir.all_to_all"{{.*}} : (tensor<1x8xf32>) -> tensor<2x4xf32>
// CHECK: "ttir.all_reduce"{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: "ttir.mesh_shard"{{.*}} : (tensor<2x4xf32>) -> tensor<2x8xf32>
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @on_a_mesh(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = "ttir.all_to_all"(%0) <{split_dim = 1 : si32, concat_dim = 0 : si32, split_count = 2 : si32, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %2 = "ttir.all_reduce"(%1) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = "ttir.mesh_shard"(%2) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<8x4xf32>) -> tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}

// -----

// Shards of other dimensions may come from the caller.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: tensor<2x4xf32, #ttcore.tensor_mesh<"mesh">>
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @columns(%x: tensor<8x4xf32, #ttcore.tensor_mesh<"mesh">> {ttcore.shard_dims = array<i64: -1, 1>}) -> tensor<8x4xf32, #ttcore.tensor_mesh<"mesh">> {
    %0 = "ttir.exp"(%x) : (tensor<8x4xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<8x4xf32, #ttcore.tensor_mesh<"mesh">>
    return %0 : tensor<8x4xf32, #ttcore.tensor_mesh<"mesh">>
  }
}

// -----

// Rows of positions and of values.
// CHECK-LABEL: func.func @places(
// CHECK-SAME: tensor<2x6xf32> {ttcore.micro_batch}{{.*}}) -> (tensor<4x6xf32> {ttcore.micro_batch}
func.func @places(%x: tensor<8x6xf32>) -> tensor<16x6xf32> {
  // CHECK: "ttir.sort"{{.*}} -> (tensor<2x6xf32>, tensor<2x6xi32>)
  %values, %places = "ttir.sort"(%x) <{dim = 1 : si32, descending = false, stable = true}> : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xi32>)
  // CHECK: "ttir.gather"{{.*}} : (tensor<2x6xf32>, tensor<2x6xi32>) -> tensor<2x6xf32>
  %0 = "ttir.gather"(%x, %places) <{dim = 1 : i32}> : (tensor<8x6xf32>, tensor<8x6xi32>) -> tensor<8x6xf32>
  // CHECK: "ttir.scatter"{{.*}} -> tensor<2x6xf32>
  %1 = "ttir.scatter"(%x, %places, %0) <{dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}> : (tensor<8x6xf32>, tensor<8x6xi32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: "ttir.rearrange"{{.*}} -> tensor<2x6x1xf32>
  %2 = "ttir.rearrange"(%1) <{pattern = "b c -> b c 1"}> : (tensor<8x6xf32>) -> tensor<8x6x1xf32>
  // CHECK: "ttir.squeeze"{{.*}} -> tensor<2x6xf32>
  %3 = "ttir.squeeze"(%2) <{dim = 2 : si32}> : (tensor<8x6x1xf32>) -> tensor<8x6xf32>
  // CHECK: "ttir.repeat_interleave"{{.*}} -> tensor<4x6xf32>
  %4 = "ttir.repeat_interleave"(%3) <{repeats = 2 : ui32, dim = 0 : si32}> : (tensor<8x6xf32>) -> tensor<16x6xf32>
  return %4 : tensor<16x6xf32>
}
