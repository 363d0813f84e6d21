// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @ccl(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // CHECK: "ttir.mesh_shard"{{.*}} <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}>
  %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16x32xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.all_reduce"{{.*}} <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}>
  %1 = "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.all_gather"{{.*}} <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}>
  %2 = "ttir.all_gather"(%1) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<8x8xf32>) -> tensor<8x32xf32>
  // CHECK: "ttir.reduce_scatter"{{.*}} <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<max>, scatter_dim = 1 : si32}>
  %3 = "ttir.reduce_scatter"(%2) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<max>, scatter_dim = 1 : si32}> : (tensor<8x32xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.collective_permute"{{.*}} <{source_target_pairs = dense<{{.*}}> : tensor<2x2xi64>}>
  %4 = "ttir.collective_permute"(%3) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.mesh_shard"{{.*}} <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}>
  %5 = "ttir.mesh_shard"(%4) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<8x8xf32>) -> tensor<16x32xf32>
  return %5 : tensor<16x32xf32>
}
