// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @dispatch_metadata(%x: tensor<2x3x1x8xbf16>, %which: tensor<2x3x1x2xi32>, %scores: tensor<2x3x1x2xbf16>, %where: tensor<1x1x16x8xi32>, %buffer: tensor<1x12x8xbf16>) -> tensor<1x12x2xbf16> {
  // CHECK: %dispatched, %indices, %scores = "ttnn.all_to_all_dispatch_metadata"(%arg0, %arg1, %arg2, %arg3, %arg4)
  %sent, %all, %of = "ttnn.all_to_all_dispatch_metadata"(%x, %which, %scores, %where, %buffer) <{cluster_axis = 0 : i64, num_devices = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0>}> : (tensor<2x3x1x8xbf16>, tensor<2x3x1x2xi32>, tensor<2x3x1x2xbf16>, tensor<1x1x16x8xi32>, tensor<1x12x8xbf16>) -> (tensor<1x12x8xbf16>, tensor<1x12x2xi32>, tensor<1x12x2xbf16>)
  return %of : tensor<1x12x2xbf16>
}
func.func @indexer(%q: tensor<2x3x5x8xbf16>, %k: tensor<2x1x7x8xbf16>, %w: tensor<2x3x5x1xbf16>) -> tensor<2x1x5x7xbf16> {
  // CHECK: "ttnn.indexer_score_dsa"{{.*}} <{chunk_start_idx = 2 : ui32}>
  %0 = "ttnn.indexer_score_dsa"(%q, %k, %w) <{chunk_start_idx = 2 : ui32}> : (tensor<2x3x5x8xbf16>, tensor<2x1x7x8xbf16>, tensor<2x3x5x1xbf16>) -> tensor<2x1x5x7xbf16>
  return %0 : tensor<2x1x5x7xbf16>
}

func.func @weights(%w: tensor<2x8x64x128xbf16>, %v: tensor<2x8x128x64xbf16>, %b: tensor<2x8x128xbf16>, %c: tensor<2x8x64xbf16>, %dev: !ttnn.device) -> tensor<2x8x64x256xbf16> {
  // CHECK: "ttnn.prepare_moe_compute_w0_w1_weights"
  %0 = "ttnn.prepare_moe_compute_w0_w1_weights"(%w, %w, %dev) <{hidden_size = 64 : ui32, intermediate_size = 128 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> : (tensor<2x8x64x128xbf16>, tensor<2x8x64x128xbf16>, !ttnn.device) -> tensor<2x8x64x256xbf16>
  %1 = "ttnn.prepare_moe_compute_w0_w1_weights"(%w, %w, %b, %b, %dev) <{hidden_size = 64 : ui32, intermediate_size = 128 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<2x8x64x128xbf16>, tensor<2x8x64x128xbf16>, tensor<2x8x128xbf16>, tensor<2x8x128xbf16>, !ttnn.device) -> tensor<2x8x65x256xbf16>
  // CHECK: "ttnn.prepare_moe_compute_w2_weights"
  %2 = "ttnn.prepare_moe_compute_w2_weights"(%v, %dev) <{hidden_size = 64 : ui32, intermediate_size = 128 : ui32}> : (tensor<2x8x128x64xbf16>, !ttnn.device) -> tensor<2x8x128x64xbf16>
  %3 = "ttnn.prepare_moe_compute_w2_weights"(%v, %c, %dev) <{hidden_size = 64 : ui32, intermediate_size = 128 : ui32}> : (tensor<2x8x128x64xbf16>, tensor<2x8x64xbf16>, !ttnn.device) -> tensor<2x8x129x64xbf16>
  return %0 : tensor<2x8x64x256xbf16>
}
func.func @moe_compute(%x: tensor<1x32x64xbf16>, %which: tensor<1x32x4xui16>, %scores: tensor<1x32x4xbf16>, %where: tensor<1x8xui16>, %w: tensor<4x8x64x256xbf16>, %v: tensor<4x8x128x64xbf16>, %dev: !ttnn.device) -> tensor<4x32x64xbf16> {
  // CHECK: %[[S:.*]] = "ttnn.allocate_moe_compute_semaphore"
  %s = "ttnn.allocate_moe_compute_semaphore"(%dev) <{hidden_size = 64 : ui32, mux_core_range_set = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (1,0)>]>, output_height_shard_dim = 4 : ui32}> : (!ttnn.device) -> !ttnn.global_semaphore
  // CHECK: "ttnn.moe_compute"({{.*}}, %[[S]],{{.*}}has_bias = false
  %0 = "ttnn.moe_compute"(%x, %which, %scores, %where, %w, %v, %s, %dev) <{cluster_axis = 0 : ui32, has_bias = false, intermediate_size = 128 : ui32, layer_id = 3 : ui32, mux_core_range_set = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (1,0)>]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 1, 1>, output_height_shard_dim = 4 : ui32}> : (tensor<1x32x64xbf16>, tensor<1x32x4xui16>, tensor<1x32x4xbf16>, tensor<1x8xui16>, tensor<4x8x64x256xbf16>, tensor<4x8x128x64xbf16>, !ttnn.global_semaphore, !ttnn.device) -> tensor<4x32x64xbf16>
  return %0 : tensor<4x32x64xbf16>
}

// Read and written only.
func.func @moe_gpt(%x: tensor<32x64xbf16>, %which: tensor<32x4xui16>, %scores: tensor<32x4xbf16>, %where: tensor<1x1x8x1xui16>, %w: tensor<8x64x256xbf16>, %v: tensor<8x128x64xbf16>) -> tensor<4x32x64xbf16> {
  // CHECK: %token_counts, %activation_records, %token_indices, %tilize_out, %tilize_out_rm = "ttnn.moe_gpt"
  %0:5 = "ttnn.moe_gpt"(%x, %which, %scores, %where, %w, %v) : (tensor<32x64xbf16>, tensor<32x4xui16>, tensor<32x4xbf16>, tensor<1x1x8x1xui16>, tensor<8x64x256xbf16>, tensor<8x128x64xbf16>) -> (tensor<8xui32>, tensor<32x4xui32>, tensor<32x4xui32>, tensor<32x64xbf16>, tensor<32x64xbf16>)
  // CHECK: "ttnn.selective_reduce_combine"
  %1 = "ttnn.selective_reduce_combine"(%0#4, %0#1, %0#2, %0#0) <{hidden_size = 64 : ui32, batch_size = 32 : ui32, seq_size = 1 : ui32, select_experts_k = 4 : ui32, experts = 8 : ui32}> : (tensor<32x64xbf16>, tensor<32x4xui32>, tensor<32x4xui32>, tensor<8xui32>) -> tensor<4x32x64xbf16>
  return %1 : tensor<4x32x64xbf16>
}
