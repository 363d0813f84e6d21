// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="mesh-shape=2,4" | FileCheck %s --check-prefix=TTNN

// Tokens of the four devices of a row; eight devices have two experts each.
// TTNN-LABEL: @there_and_back
func.func @there_and_back(%x: tensor<2x1x3x8xbf16>, %which: tensor<2x1x3x2xui16>, %where: tensor<1x1x16x8xui16>) -> tensor<2x2x3x8xbf16> {
  // CHECK: %dispatched, %metadata = "ttir.all_to_all_dispatch"
  // TTNN: "ttnn.all_to_all_dispatch"{{.*}} <{cluster_axis = 1 : i64, num_devices = 4 : i64}>
  %sent, %all = "ttir.all_to_all_dispatch"(%x, %which, %where) <{cluster_axis = 1 : i64, num_devices = 4 : i64}> : (tensor<2x1x3x8xbf16>, tensor<2x1x3x2xui16>, tensor<1x1x16x8xui16>) -> (tensor<1x8x3x8xbf16>, tensor<1x8x3x2xui16>)
  %two = "ttir.concat"(%sent, %sent) <{dim = 0 : si32}> : (tensor<1x8x3x8xbf16>, tensor<1x8x3x8xbf16>) -> tensor<2x8x3x8xbf16>
  // TTNN: "ttnn.all_to_all_combine"{{.*}} <{cluster_axis = 1 : i64, num_devices = 4 : i64, num_experts_per_tok = 2 : i64, output_shard_dim = 1 : i64}>
  %back = "ttir.all_to_all_combine"(%two, %all, %where) <{cluster_axis = 1 : i64, num_devices = 4 : i64, num_experts_per_tok = 2 : i64, output_shard_dim = 1 : i64}> : (tensor<2x8x3x8xbf16>, tensor<1x8x3x2xui16>, tensor<1x1x16x8xui16>) -> tensor<2x2x3x8xbf16>
  return %back : tensor<2x2x3x8xbf16>
}

// TTNN-LABEL: @scores
func.func @scores(%x: tensor<2x3x1x8xbf16>, %which: tensor<2x3x1x2xi32>, %scores: tensor<2x3x1x2xbf16>, %where: tensor<1x1x16x8xi32>) -> (tensor<1x12x2xbf16>, tensor<1x1x1x2xui16>) {
  // CHECK: %dispatched, %indices, %scores = "ttir.all_to_all_dispatch_metadata"
  // TTNN: "ttnn.all_to_all_dispatch_metadata"
  %sent, %all, %of = "ttir.all_to_all_dispatch_metadata"(%x, %which, %scores, %where) <{cluster_axis = 0 : i64, num_devices = 2 : i64}> : (tensor<2x3x1x8xbf16>, tensor<2x3x1x2xi32>, tensor<2x3x1x2xbf16>, tensor<1x1x16x8xi32>) -> (tensor<1x12x8xbf16>, tensor<1x12x2xi32>, tensor<1x12x2xbf16>)
  %all4 = "ttir.reshape"(%all) <{shape = [1 : i32, 4 : i32, 3 : i32, 2 : i32]}> : (tensor<1x12x2xi32>) -> tensor<1x4x3x2xi32>
  %table = "ttir.ones"() <{shape = array<i32: 1, 4, 3, 16>}> : () -> tensor<1x4x3x16xbf16>
  // CHECK: %mapping, %reduced = "ttir.moe_expert_token_remap"
  // TTNN: "ttnn.moe_expert_token_remap"{{.*}} <{reduction_size = 16 : i64}>
  %mine, %present = "ttir.moe_expert_token_remap"(%table, %where, %all4) <{reduction_size = 16 : i64}> : (tensor<1x4x3x16xbf16>, tensor<1x1x16x8xi32>, tensor<1x4x3x2xi32>) -> (tensor<1x4x3x2xbf16>, tensor<1x1x1x2xui16>)
  return %of, %present : tensor<1x12x2xbf16>, tensor<1x1x1x2xui16>
}

// Weights are brought into the order of the kernel; those that stay the same are brought once.
// TTNN-LABEL: @compute
func.func @compute(%x: tensor<1x8x64xbf16>, %which: tensor<1x8x4xui16>, %scores: tensor<1x8x4xbf16>, %where: tensor<1x16xui16>, %w: tensor<2x2x64x128xbf16>, %v: tensor<2x2x128x64xbf16>, %b: tensor<2x2x128xbf16>, %c: tensor<2x2x64xbf16>) -> tensor<4x4x64xbf16> {
  // CHECK: "ttir.moe_compute"{{.*}}activation_function = #ttcore.moe_activation_function<swiglu>{{.*}}layer_id = 1 : ui32
  // TTNN-DAG: "ttnn.prepare_moe_compute_w0_w1_weights"{{.*}} -> tensor<2x2x65x256xbf16
  // TTNN-DAG: "ttnn.prepare_moe_compute_w2_weights"{{.*}} -> tensor<2x2x129x64xbf16
  // TTNN: "ttnn.moe_compute"{{.*}}activation_function = #ttcore.moe_activation_function<swiglu>, cluster_axis = 0 : ui32, has_bias = true, intermediate_size = 128 : ui32, layer_id = 1 : ui32, mux_core_range_set = #ttnn.core_range_set<>
  %0 = "ttir.moe_compute"(%x, %which, %scores, %where, %w, %w, %v, %b, %b, %c) <{activation_function = #ttcore.moe_activation_function<swiglu>, layer_id = 1 : ui32, output_height_shard_dim = 4 : ui32, intermediate_size = 128 : ui32, cluster_axis = 0 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>}> : (tensor<1x8x64xbf16>, tensor<1x8x4xui16>, tensor<1x8x4xbf16>, tensor<1x16xui16>, tensor<2x2x64x128xbf16>, tensor<2x2x64x128xbf16>, tensor<2x2x128x64xbf16>, tensor<2x2x128xbf16>, tensor<2x2x128xbf16>, tensor<2x2x64xbf16>) -> tensor<4x4x64xbf16>
  return %0 : tensor<4x4x64xbf16>
}
