// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --stablehlo-to-ttir-pipeline | FileCheck %s

// CHECK-LABEL: func.func @sampling
func.func @sampling(%v: tensor<4x16xbf16>, %i: tensor<4x16xi32>, %k: tensor<4xi32>, %p: tensor<4xbf16>) -> tensor<4xi32> {
  // CHECK: "ttir.sampling"(%arg0, %arg1, %arg2, %arg3, %arg3) <{seed = 7 : ui32}>
  %0 = stablehlo.custom_call @tt.sampling(%v, %i, %k, %p, %p) {mhlo.frontend_attributes = {seed = "7"}} : (tensor<4x16xbf16>, tensor<4x16xi32>, tensor<4xi32>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @sparse
func.func @sparse(%a: tensor<2x3x8x16xf32>, %b: tensor<1x4x16x8xf32>, %s: tensor<2x3x1x4xf32>) -> tensor<2x3x1x4x8x8xf32> {
  // CHECK: "ttir.sparse_matmul"(%arg0, %arg1, %arg2) <{is_input_a_sparse = false, is_input_b_sparse = true, nnz = 5 : i64}>
  %0 = stablehlo.custom_call @tt.sparse_matmul(%a, %b, %s) {mhlo.frontend_attributes = {nnz = "5"}} : (tensor<2x3x8x16xf32>, tensor<1x4x16x8xf32>, tensor<2x3x1x4xf32>) -> tensor<2x3x1x4x8x8xf32>
  return %0 : tensor<2x3x1x4x8x8xf32>
}

// -----

// Experts lie on both axes of the mesh: what those of other columns made is added.
// CHECK-LABEL: func.func @experts
func.func @experts(%x: tensor<2x1x3x8xbf16>, %w: tensor<2x1x3x2xi32>, %m: tensor<1x1x8x4xi32>, %t: tensor<1x4x3x8xbf16>) -> (tensor<2x4x3x8xbf16>, tensor<1x4x3x2xbf16>) {
  // CHECK: %[[SENT:.*]], %[[ALL:.*]] = "ttir.all_to_all_dispatch"(%arg0, %arg1, %arg2) <{cluster_axis = 0 : i64, num_devices = 2 : i64}>
  %0:2 = stablehlo.custom_call @tt.all_to_all_dispatch(%x, %w, %m) {mhlo.frontend_attributes = {num_devices = "2", cluster_axis = "0"}} : (tensor<2x1x3x8xbf16>, tensor<2x1x3x2xi32>, tensor<1x1x8x4xi32>) -> (tensor<1x4x3x8xbf16>, tensor<1x4x3x2xi32>)
  // CHECK: "ttir.moe_expert_token_remap"(%arg3, %arg2, %[[ALL]]) <{reduction_size = 16 : i64}>
  %1:2 = stablehlo.custom_call @tt.moe_expert_token_remap(%t, %m, %0#1) : (tensor<1x4x3x8xbf16>, tensor<1x1x8x4xi32>, tensor<1x4x3x2xi32>) -> (tensor<1x4x3x2xbf16>, tensor<1x1x1x2xui16>)
  %2 = stablehlo.concatenate %0#0, %0#0, dim = 0 : (tensor<1x4x3x8xbf16>, tensor<1x4x3x8xbf16>) -> tensor<2x4x3x8xbf16>
  // CHECK: %[[OWN:.*]] = "ttir.all_to_all_combine"({{.*}}, %[[ALL]], %arg2) <{cluster_axis = 0 : i64, num_devices = 2 : i64, num_experts_per_tok = 2 : i64, output_shard_dim = 1 : i64}>
  // CHECK: "ttir.all_reduce"(%[[OWN]]) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}>
  %3 = stablehlo.custom_call @tt.all_to_all_combine(%2, %0#1, %m) {mhlo.frontend_attributes = {num_devices = "2", cluster_axis = "0", output_shard_dim = "1"}} : (tensor<2x4x3x8xbf16>, tensor<1x4x3x2xi32>, tensor<1x1x8x4xi32>) -> tensor<2x2x3x8xbf16>
  %4 = stablehlo.concatenate %3, %3, dim = 1 : (tensor<2x2x3x8xbf16>, tensor<2x2x3x8xbf16>) -> tensor<2x4x3x8xbf16>
  return %4, %1#0 : tensor<2x4x3x8xbf16>, tensor<1x4x3x2xbf16>
}

// -----

// CHECK-LABEL: func.func @adamw
func.func @adamw(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: "ttir.adamw"(%arg0, %arg1, %arg2, %arg3) <{beta1 = {{.*}}lr = 1.000000e-03 : f32, stochastic_rounding = false
  %0:3 = stablehlo.custom_call @tenstorrent.adamw(%p, %g, %m, %v) {tt.composite_attributes = {lr = 1.0e-3 : f64, beta1 = 0.9 : f32, beta2 = 0.999 : f32, beta1_pow = 0.9 : f32, beta2_pow = 0.999 : f32, epsilon = 1.0e-8 : f32, weight_decay = 0.0 : f32}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x8x16xf32>, %g: tensor<1x4x8x16xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>) {
  // CHECK: %[[O:.*]], %[[S:.*]] = "ttir.sdpa_fw"(%arg0, %arg1, %arg1) <{dropout_probability = 0.000000e+00 : f32, mask_type = #ttcore.attention_mask_type<causal>, return_intermediates = true}>
  %0:2 = stablehlo.custom_call @tenstorrent.sdpa_fw(%q, %k, %k) : (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x4x8x64xf32>)
  // CHECK: "ttir.sdpa_bw"(%arg2, %[[O]], %arg0, %arg1, %arg1, %[[S]]) <{dropout_probability = 0.000000e+00 : f32, mask_type = #ttcore.attention_mask_type<causal>}>
  %1:3 = stablehlo.custom_call @tenstorrent.sdpa_bw(%g, %0#0, %q, %k, %k, %0#1) {tt.composite_attributes = {mask_type = 1 : i64}} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x4x8x64xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>)
  return %1#0, %1#1 : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>
}
