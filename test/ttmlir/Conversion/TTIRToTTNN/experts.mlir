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
func.func @scores(%x: tensor<2x3x1x8xbf16>, %which: tensor<2x3x1x2xi32>, %scores: tensor<2x3x1x2xbf16>, %where: tensor<1x1x16x8xi32>) -> (tensor<1x4x3x2xbf16>, tensor<1x1x1x2xui16>) {
  // CHECK: %dispatched, %indices, %scores = "ttir.all_to_all_dispatch_metadata"
  // TTNN: "ttnn.all_to_all_dispatch_metadata"
  %sent, %all, %of = "ttir.all_to_all_dispatch_metadata"(%x, %which, %scores, %where) <{cluster_axis = 0 : i64, num_devices = 2 : i64}> : (tensor<2x3x1x8xbf16>, tensor<2x3x1x2xi32>, tensor<2x3x1x2xbf16>, tensor<1x1x16x8xi32>) -> (tensor<1x4x3x8xbf16>, tensor<1x4x3x2xi32>, tensor<1x4x3x2xbf16>)
  %table = "ttir.ones"() <{shape = array<i32: 1, 4, 3, 16>}> : () -> tensor<1x4x3x16xbf16>
  // CHECK: %mapping, %reduced = "ttir.moe_expert_token_remap"
  // TTNN: "ttnn.moe_expert_token_remap"{{.*}} <{reduction_size = 16 : i64}>
  %mine, %present = "ttir.moe_expert_token_remap"(%table, %where, %all) <{reduction_size = 16 : i64}> : (tensor<1x4x3x16xbf16>, tensor<1x1x16x8xi32>, tensor<1x4x3x2xi32>) -> (tensor<1x4x3x2xbf16>, tensor<1x1x1x2xui16>)
  return %of, %present : tensor<1x4x3x2xbf16>, tensor<1x1x1x2xui16>
}
