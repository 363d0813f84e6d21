// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @uneven(%a0: tensor<16x30xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op dimension 1 of size 30 does not divide into 4 shards}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16x30xf32>) -> tensor<8x7xf32>
  return
}

// -----

func.func @result(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op result is 'tensor<16x16xf32>'; expected shape 16x32}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<8x8xf32>) -> tensor<16x16xf32>
  return
}

// -----

func.func @shard_shape_rank(%a0: tensor<16x32xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op attribute 'shard_shape' has 1 numbers; expected one per dimension, 2}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16x32xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @identity_without_shape(%a0: tensor<16x32xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op attribute 'shard_shape' has 0 numbers; expected one per dimension, 2}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64>, shard_type = #ttcore.shard_type<identity>}> : (tensor<16x32xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @identity_of_another_shape(%a0: tensor<16x32xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op result is 'tensor<8x32xf32>'; expected shape 16x32}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<16x32xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @shard_count(%a0: tensor<16x32xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op attribute 'shard_shape' is 0 for dimension 1; expected 1 or more}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 0>, shard_type = #ttcore.shard_type<identity>}> : (tensor<16x32xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @shard_dims(%a0: tensor<16x32xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op attribute 'shard_dims' has 2; expected -1 to 1}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, 2>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16x32xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @overflow(%a0: tensor<16xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op dimension 0 of the result does not fit into 64 bits}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: 0, -1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 9223372036854775807>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @replicated(%a0: tensor<16x32xf32>) {
  // expected-error@+1 {{'ttir.mesh_shard' op result is 'tensor<8x32xf32>'; expected shape 16x32}}
  %0 = "ttir.mesh_shard"(%a0) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<16x32xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @gather_multiple(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.all_gather' op dimension 1 has sizes 8 and 20; expected a multiple, one part per chip}}
  %0 = "ttir.all_gather"(%a0) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<8x8xf32>) -> tensor<8x20xf32>
  return
}

// -----

func.func @gather_other_dim(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.all_gather' op has input and result of shapes 8x8 and 16x8; they may differ only in dimension 1}}
  %0 = "ttir.all_gather"(%a0) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<8x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @gather_dim(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.all_gather' op attribute 'all_gather_dim' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttir.all_gather"(%a0) <{all_gather_dim = 2 : si32, cluster_axis = 1 : ui32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatter_multiple(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.reduce_scatter' op dimension 0 has sizes 3 and 8; expected a multiple, one part per chip}}
  %0 = "ttir.reduce_scatter"(%a0) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 0 : si32}> : (tensor<8x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @pairs(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'ttir.collective_permute' op attribute 'source_target_pairs' has target 1 twice}}
  %0 = "ttir.collective_permute"(%a0) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pairs_shape(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'ttir.collective_permute' op attribute 'source_target_pairs' is no list of pairs of chips}}
  %0 = "ttir.collective_permute"(%a0) <{source_target_pairs = dense<[0, 1]> : tensor<2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pairs_negative(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'ttir.collective_permute' op attribute 'source_target_pairs' has source -1; expected 0 or more}}
  %0 = "ttir.collective_permute"(%a0) <{source_target_pairs = dense<[[-1, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_to_all(%a0: tensor<7x8xf32>) {
  // expected-error@+1 {{'ttir.all_to_all' op dimension 0 of size 7 does not divide into 2 parts}}
  %0 = "ttir.all_to_all"(%a0) <{concat_dim = 1 : si32, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : si32, split_dim = 0 : si32}> : (tensor<7x8xf32>) -> tensor<7x8xf32>
  return
}

// -----

func.func @all_to_all_groups(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.all_to_all' op attribute 'replica_groups' is no list of groups of 4 chips, as 'split_count' says}}
  %0 = "ttir.all_to_all"(%a0) <{concat_dim = 1 : si32, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 4 : si32, split_dim = 0 : si32}> : (tensor<8x8xf32>) -> tensor<2x32xf32>
  return
}

// -----

func.func @groups(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'ttir.collective_broadcast' op attribute 'replica_groups' is no list of groups of chips}}
  %0 = "ttir.collective_broadcast"(%a0) <{replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>} {
  func.func @gather_mesh(%a: tensor<8x8xf32>) {
    // expected-error@+1 {{'ttir.all_gather' op result is 'tensor<8x16xf32>'; expected shape 8x32}}
    %0 = "ttir.all_gather"(%a) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<8x8xf32>) -> tensor<8x16xf32>
    return
  }
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>} {
  func.func @gather_axis(%a: tensor<8x8xf32>) {
    // expected-error@+1 {{'ttir.all_gather' op attribute 'cluster_axis' is 2, but the mesh is 2x4}}
    %0 = "ttir.all_gather"(%a) <{all_gather_dim = 1 : si32, cluster_axis = 2 : ui32}> : (tensor<8x8xf32>) -> tensor<8x16xf32>
    return
  }
}

// -----

func.func @no_groups(%a0: tensor<8x8xf32>) {
  // expected-error@+1 {{'ttir.all_to_all' op attribute 'replica_groups' is no list of groups of 2 chips, as 'split_count' says}}
  %0 = "ttir.all_to_all"(%a0) <{concat_dim = 1 : si32, replica_groups = dense<> : tensor<0x2xi64>, split_count = 2 : si32, split_dim = 0 : si32}> : (tensor<8x8xf32>) -> tensor<4x16xf32>
  return
}
