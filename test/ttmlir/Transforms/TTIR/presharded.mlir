// RUN: ttmlir-opt %s --ttir-localize-presharded --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @both(%arg0: tensor<4x4xf32, #ttcore.tensor_mesh<"line">> {ttcore.shard_dims = array<i64: -1, 0>}) -> tensor<4x4xf32>
// CHECK-NEXT: "ttir.exp"(%arg0)
// CHECK-NEXT: return
module attributes {ttcore.meshes = #ttcore.meshes<[<"line" = 1x2>]>} {
  func.func @both(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = "ttir.exp"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
}

// -----

// CHECK-LABEL: func.func @unused(%arg0: tensor<4x4xf32, #ttcore.tensor_mesh<"line">>
// CHECK-SAME: %arg1: tensor<8x4xf32>
module attributes {ttcore.meshes = #ttcore.meshes<[<"line" = 1x2>]>} {
  func.func @unused(%a: tensor<8x4xf32> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<4x4xf32>>, ttcore.shard_dims = array<i64: -1, 0>, ttcore.shard_status = #ttcore.shard_status<presharded>},
                    %b: tensor<8x4xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x4xf32> {
    return %b : tensor<8x4xf32>
  }
}

// -----

// An argument that no axis splits: one number for all dimensions, or none.
// CHECK-LABEL: func.func @whole(%arg0: tensor<8x4xf32
// CHECK-SAME: %arg1: tensor<4xf32
// CHECK-NEXT: "ttir.add"(%arg0, %arg1)
// CHECK-NEXT: return
module attributes {ttcore.meshes = #ttcore.meshes<[<"line" = 1x2>]>} {
  func.func @whole(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
    %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = "ttir.mesh_shard"(%b) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64>, shard_type = #ttcore.shard_type<identity>}> : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "ttir.add"(%0, %1) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %3 = "ttir.mesh_shard"(%2) <{shard_dims = array<i64>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}

// -----

func.func @mixed(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "ttir.mesh_shard"(%a) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  // expected-error@+1 {{uses argument 0, which arrives in shards of type 'tensor<4x4xf32>'; expected only identity mesh_shards of that type}}
  %1 = "ttir.exp"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
