// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

// CHECK-LABEL: @heads
func.func @heads(%x: tensor<1x1x32x768xbf16>, %first: tensor<1xi32>) -> (tensor<1x1x32x512xbf16>, tensor<1x8x8x64xbf16>) {
  // CHECK: "ttnn.nlp_create_qkv_heads_decode"(%arg0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}>
  %q, %k, %v = "ttnn.nlp_create_qkv_heads_decode"(%x) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<1x1x32x768xbf16>) -> (tensor<1x32x8x64xbf16>, tensor<1x32x2x64xbf16>, tensor<1x32x2x64xbf16>)
  // CHECK: "ttnn.nlp_create_qkv_heads_decode"(%arg0, %arg1) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32, overlap_qk_coregrid = false, slice_size = 8 : ui32}>
  %qs, %ks, %vs = "ttnn.nlp_create_qkv_heads_decode"(%x, %first) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32, overlap_qk_coregrid = false, slice_size = 8 : ui32}> : (tensor<1x1x32x768xbf16>, tensor<1xi32>) -> (tensor<1x8x8x64xbf16>, tensor<1x8x2x64xbf16>, tensor<1x8x2x64xbf16>)
  // CHECK: "ttnn.nlp_concat_heads_decode"{{.*}} <{num_heads = 8 : ui32}>
  %0 = "ttnn.nlp_concat_heads_decode"(%q) <{num_heads = 8 : ui32}> : (tensor<1x32x8x64xbf16>) -> tensor<1x1x32x512xbf16>
  return %0, %qs : tensor<1x1x32x512xbf16>, tensor<1x8x8x64xbf16>
}

// CHECK-LABEL: @norms
func.func @norms(%x: tensor<4x32x64xbf16>, %w: tensor<64xbf16>, %b: tensor<64xbf16>, %device: !ttnn.device) -> (tensor<4x32x64xbf16>, tensor<4x32x32xbf16>) {
  // CHECK: "ttnn.distributed_layer_norm"{{.*}} <{cluster_axis = 1 : ui32, epsilon = 9.99999974E-6 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %0 = "ttnn.distributed_layer_norm"(%x, %w, %b, %x, %device) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<4x32x64xbf16>, tensor<64xbf16>, tensor<64xbf16>, tensor<4x32x64xbf16>, !ttnn.device) -> tensor<4x32x64xbf16>
  // CHECK: "ttnn.distributed_rms_norm"{{.*}} <{cluster_axis = 0 : ui32, epsilon = 9.99999996E-13 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>, topology = #ttcore.topology<ring>}>
  %1 = "ttnn.distributed_rms_norm"(%0, %w, %device) <{cluster_axis = 0 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>, topology = #ttcore.topology<ring>}> : (tensor<4x32x64xbf16>, tensor<64xbf16>, !ttnn.device) -> tensor<4x32x64xbf16>
  // CHECK: "ttnn.rms_norm_pre_all_gather"(%{{.*}}, %arg0) <{use_2d_core_grid = true}>
  %2 = "ttnn.rms_norm_pre_all_gather"(%1, %x) <{use_2d_core_grid = true}> : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>) -> tensor<4x32x32xbf16>
  // CHECK: "ttnn.layer_norm_pre_all_gather"
  %3 = "ttnn.layer_norm_pre_all_gather"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16>
  // CHECK: "ttnn.layer_norm_post_all_gather"{{.*}} <{epsilon = 9.99999996E-13 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  %4 = "ttnn.layer_norm_post_all_gather"(%1, %3, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>, tensor<64xbf16>) -> tensor<4x32x64xbf16>
  return %4, %2 : tensor<4x32x64xbf16>, tensor<4x32x32xbf16>
}

// CHECK-LABEL: @latent
func.func @latent(%q: tensor<1x4x64x24xbf16>, %k: tensor<1x1x64x24xbf16>, %token: tensor<1x2x4x24xbf16>, %pages: tensor<6x1x32x24xbf16>, %table: tensor<2x3xi32>, %positions: tensor<2xi32>) -> (tensor<1x4x64x16xbf16>, tensor<1x2x4x16xbf16>) {
  // CHECK: "ttnn.flash_mla_prefill"(%arg0, %arg1) <{head_dim_v = 16 : ui32, is_causal = true, operandSegmentSizes = array<i32: 1, 1, 0, 0>}>
  %0 = "ttnn.flash_mla_prefill"(%q, %k) <{head_dim_v = 16 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4x64x24xbf16>, tensor<1x1x64x24xbf16>) -> tensor<1x4x64x16xbf16>
  // CHECK: "ttnn.paged_flash_multi_latent_attention_decode"(%arg2, %arg3, %arg4, %arg5) <{head_dim_v = 16 : ui32, is_causal = true, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 0>, scale = 5.000000e-01 : f32}>
  %1 = "ttnn.paged_flash_multi_latent_attention_decode"(%token, %pages, %table, %positions) <{head_dim_v = 16 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 0>, scale = 0.5 : f32}> : (tensor<1x2x4x24xbf16>, tensor<6x1x32x24xbf16>, tensor<2x3xi32>, tensor<2xi32>) -> tensor<1x2x4x16xbf16>
  // CHECK: "ttnn.dit_rms_norm_unary_fused"(%{{.*}}) <{activation = "silu", epsilon = 9.99999974E-6 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
  %2 = "ttnn.dit_rms_norm_unary_fused"(%0) <{activation = "silu", operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x4x64x16xbf16>) -> tensor<1x4x64x16xbf16>
  return %2, %1 : tensor<1x4x64x16xbf16>, tensor<1x2x4x16xbf16>
}
