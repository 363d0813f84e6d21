// SPDX-License-Identifier: Apache-2.0
// Results of ops with ttcore.grid get shards on that grid; what does not take them reads a copy in DRAM.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --ttnn-requested-grids | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=optimization-level=2 | FileCheck %s --check-prefix=LEVEL

// CHECK-DAG: #[[$DRAM:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CHECK-DAG: #[[$ROW:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x2>, memref<2x2x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>>
// CHECK-DAG: #[[$BLOCKS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x4>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (3,1)>]>>
// CHECK-DAG: #[[$HEIGHT:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>>
// LEVEL-DAG: #[[$BLOCKS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x4>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (3,1)>]>>

// A product has a config for its grid. What is on the same cores reads the shards; what is on others, and the caller,
// read a copy.
// CHECK-LABEL: @chain
// CHECK: %[[P:.*]] = "ttnn.matmul"({{.*}}compute_with_storage_grid_size = #ttnn.core_coord<2, 1>{{.*}}per_core_m = 2, per_core_n = 2{{.*}} -> tensor<64x128xbf16, #[[$ROW]]>
// CHECK: %[[A:.*]] = "ttnn.multiply"(%[[P]], %[[P]]) {{.*}} -> tensor<64x128xbf16, #[[$ROW]]>
// CHECK: %[[C:.*]] = "ttnn.to_memory_config"(%[[A]]) : {{.*}} -> tensor<64x128xbf16, #[[$DRAM]]>
// CHECK: %[[N:.*]] = "ttnn.neg"(%[[C]]) {{.*}} -> tensor<64x128xbf16, #[[$BLOCKS]]>
// CHECK: %[[R:.*]] = "ttnn.to_memory_config"(%[[N]]) : {{.*}} -> tensor<64x128xbf16, #[[$DRAM]]>
// CHECK: return %[[R]]
// LEVEL-LABEL: @chain
// LEVEL: "ttnn.neg"({{.*}} -> tensor<64x128xbf16, #[[$BLOCKS]]>
func.func @chain(%x: tensor<64x256xbf16>, %w: tensor<256x128xbf16>) -> tensor<64x128xbf16> {
  %0 = "ttir.matmul"(%x, %w) {ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  %1 = "ttir.multiply"(%0, %0) {ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x128xbf16>, tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %2 = "ttir.neg"(%1) {ttcore.grid = #ttcore.grid<2x4>} : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  return %2 : tensor<64x128xbf16>
}

// An activation is fused into a product unless they request different grids.
// CHECK-LABEL: @fused
// CHECK: "ttnn.matmul"({{.*}}activation = "relu"{{.*}} -> tensor<64x128xbf16, #[[$BLOCKS]]>
// CHECK: "ttnn.matmul"({{.*}} -> tensor<64x128xbf16, #[[$BLOCKS]]>
// CHECK: "ttnn.relu"({{.*}} -> tensor<64x128xbf16, #[[$ROW]]>
func.func @fused(%x: tensor<64x256xbf16>, %w: tensor<256x128xbf16>) -> (tensor<64x128xbf16>, tensor<64x128xbf16>) {
  %0 = "ttir.matmul"(%x, %w) {ttcore.grid = #ttcore.grid<2x4>} : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  %1 = "ttir.relu"(%0) : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %y = "ttir.abs"(%x) : (tensor<64x256xbf16>) -> tensor<64x256xbf16>
  %2 = "ttir.matmul"(%y, %w) {ttcore.grid = #ttcore.grid<2x4>} : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  %3 = "ttir.relu"(%2) {ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  return %1, %3 : tensor<64x128xbf16>, tensor<64x128xbf16>
}

// Kernels of softmax have shards by height only. Ops that move values ignore the attribute, and so do ops on constants,
// which are evaluated once.
// CHECK-LABEL: @other_kinds
// CHECK: "ttnn.softmax"({{.*}} -> tensor<64x128xbf16, #[[$HEIGHT]]>
// CHECK: "ttnn.transpose"
// CHECK-NOT: to_memory_config
func.func @other_kinds(%x: tensor<64x128xbf16>, %w: tensor<64x128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> (tensor<64x128xbf16>, tensor<128x64xbf16>) {
  %0 = "ttir.softmax"(%x) {dimension = 1 : si32, ttcore.grid = #ttcore.grid<2x1>} : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %1 = "ttir.exp"(%w) {ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %2 = "ttir.add"(%0, %1) : (tensor<64x128xbf16>, tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %3 = "ttir.transpose"(%x) {dim0 = 0 : si32, dim1 = 1 : si32, ttcore.grid = #ttcore.grid<1x2>} : (tensor<64x128xbf16>) -> tensor<128x64xbf16>
  return %2, %3 : tensor<64x128xbf16>, tensor<128x64xbf16>
}
