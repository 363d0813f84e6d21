// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefix=TTNN

// TTNN's op writes to its operands; TTIR's does not, so copies are written to, and the arguments stay.
// TTNN-LABEL: @adamw
func.func @adamw(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>, %m: tensor<4x8xf32>, %v: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: %param_out, %exp_avg_out, %exp_avg_sq_out = "ttir.adamw"
  // TTNN: %[[P:.*]] = "ttnn.assign"(%arg0)
  // TTNN: %[[M:.*]] = "ttnn.assign"(%arg2)
  // TTNN: %[[V:.*]] = "ttnn.assign"(%arg3)
  // TTNN: "ttnn.adamw"(%[[P]], %arg1, %[[M]], %[[V]])
  %0, %1, %2 = "ttir.adamw"(%p, %g, %m, %v) <{beta1 = 0.9 : f32, beta1_pow = 0.9 : f32, beta2 = 0.999 : f32, beta2_pow = 0.999 : f32, epsilon = 1.0e-8 : f32, lr = 1.0e-3 : f32, weight_decay = 0.0 : f32}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return %0, %1, %2, %p : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// TTNN-LABEL: @attention
func.func @attention(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x8x16xf32>, %g: tensor<1x4x8x16xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>) {
  // CHECK: %output, %intermediates = "ttir.sdpa_fw"
  // TTNN: "ttnn.sdpa_fw"{{.*}}mask_type = #ttcore.attention_mask_type<causal>
  %o, %s = "ttir.sdpa_fw"(%q, %k, %k) <{return_intermediates = true}> : (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x4x8x64xf32>)
  // CHECK: %grad_query, %grad_key, %grad_value = "ttir.sdpa_bw"
  // TTNN: "ttnn.sdpa_bw"
  %dq, %dk, %dv = "ttir.sdpa_bw"(%g, %o, %q, %k, %k, %s) <{mask_type = #ttcore.attention_mask_type<causal>}> : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x4x8x64xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>)
  return %dq, %dk : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>
}

func.func @sampling(%values: tensor<5x33xbf16>, %indices: tensor<5x33xi32>, %k: tensor<5xi32>, %p: tensor<5xbf16>) -> tensor<5xi32> {
  // CHECK: "ttir.sampling"{{.*}} <{seed = 7 : ui32}>
  // TTNN: "ttnn.sampling"{{.*}} <{seed = 7 : ui32}>
  %0 = "ttir.sampling"(%values, %indices, %k, %p, %p) <{seed = 7 : ui32}> : (tensor<5x33xbf16>, tensor<5x33xi32>, tensor<5xi32>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @router(%x: tensor<32x64xbf16>, %w: tensor<64x128xbf16>, %b: tensor<32x128xbf16>) -> tensor<32x4xui16> {
  // CHECK: %expert_indices, %expert_weights = "ttir.topk_router_gpt"
  // TTNN: "ttnn.topk_router_gpt"{{.*}} <{k = 4 : i32, num_experts = 128 : i32}>
  %0, %1 = "ttir.topk_router_gpt"(%x, %w, %b) <{k = 4 : i32, num_experts = 128 : i32}> : (tensor<32x64xbf16>, tensor<64x128xbf16>, tensor<32x128xbf16>) -> (tensor<32x4xui16>, tensor<32x4xbf16>)
  return %0 : tensor<32x4xui16>
}
func.func @sparse(%a: tensor<2x3x8x16xf32>, %b: tensor<1x4x16x8xf32>, %which: tensor<2x3x1x4xf32>) -> tensor<2x3x1x4x8x8xf32> {
  // CHECK: "ttir.sparse_matmul"{{.*}} <{is_input_a_sparse = false, is_input_b_sparse = true, nnz = 5 : i64}>
  // TTNN: "ttnn.sparse_matmul"
  %0 = "ttir.sparse_matmul"(%a, %b, %which) <{nnz = 5 : i64}> : (tensor<2x3x8x16xf32>, tensor<1x4x16x8xf32>, tensor<2x3x1x4xf32>) -> tensor<2x3x1x4x8x8xf32>
  return %0 : tensor<2x3x1x4x8x8xf32>
}

// Statistics of each row may be in 32 columns, one tile, as well as in 64.
// CHECK-LABEL: @statistics_in_one_tile
func.func @statistics_in_one_tile(%q: tensor<1x4x32x16xf32>, %g: tensor<1x4x32x16xf32>) -> (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) {
  // CHECK: "ttir.sdpa_fw"{{.*}} -> (tensor<1x4x32x16xf32>, tensor<1x4x32x32xf32>)
  // CHECK: "ttir.sdpa_bw"
  %o, %s = "ttir.sdpa_fw"(%q, %q, %q) <{return_intermediates = true}> : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) -> (tensor<1x4x32x16xf32>, tensor<1x4x32x32xf32>)
  %0:3 = "ttir.sdpa_bw"(%g, %o, %q, %q, %q, %s) <{mask_type = #ttcore.attention_mask_type<causal>}> : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x32xf32>) -> (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>)
  return %o, %0#0 : tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>
}
