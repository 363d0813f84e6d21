// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#g = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @ccl(%x: tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l> {
  // CHECK: "ttnn.all_gather"{{.*}} <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32, num_links = 1 : ui32, topology = #ttcore.topology<linear>}>
  %0 = "ttnn.all_gather"(%x) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32, num_links = 1 : ui32, topology = #ttcore.topology<linear>}> : (tensor<64x32xf32, #l>) -> tensor<64x128xf32, #g>
  // CHECK: "ttnn.reduce_scatter"{{.*}} <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 1 : si32}>
  %1 = "ttnn.reduce_scatter"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 1 : si32}> : (tensor<64x128xf32, #g>) -> tensor<64x32xf32, #l>
  // CHECK: "ttnn.all_reduce"{{.*}} <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}>
  %2 = "ttnn.all_reduce"(%1) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
  return %2 : tensor<64x32xf32, #l>
}

#row = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @sends(%x: tensor<64x32xf32, #l>) -> tensor<32x64xf32, #row> {
  // CHECK: "ttnn.collective_permute"{{.*}} <{source_target_pairs = array<i64: 0, 1, 1, 0>}>
  %0 = "ttnn.collective_permute"(%x) <{source_target_pairs = array<i64: 0, 1, 1, 0>}> : (tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
  // CHECK: "ttnn.all_to_all"{{.*}} <{concat_dim = 1 : si32, replica_groups = array<i64: 0, 1>, split_count = 2 : si32, split_dim = 0 : si32}>
  %1 = "ttnn.all_to_all"(%0) <{concat_dim = 1 : si32, replica_groups = array<i64: 0, 1>, split_count = 2 : si32, split_dim = 0 : si32}> : (tensor<64x32xf32, #l>) -> tensor<32x64xf32, #row>
  return %1 : tensor<32x64xf32, #row>
}
