// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @concat_heads(%x: tensor<1x4x8x16xf32>) {
  // expected-error@+1 {{'ttnn.nlp_concat_heads_decode' op attribute 'num_heads' is 9; expected 1 to 8}}
  %r0 = "ttnn.nlp_concat_heads_decode"(%x) <{num_heads = 9 : ui32}> : (tensor<1x4x8x16xf32>) -> tensor<1x1x4x128xf32>
  return
}

// -----

func.func @concat_position(%x: tensor<2x4x8x16xf32>) {
  // expected-error@+1 {{'ttnn.nlp_concat_heads_decode' op operand 'input' has shape 2x4x8x16; expected one position, 1 x users x heads x size}}
  %r0 = "ttnn.nlp_concat_heads_decode"(%x) <{num_heads = 8 : ui32}> : (tensor<2x4x8x16xf32>) -> tensor<1x1x4x128xf32>
  return
}

// -----

func.func @create_divides(%x: tensor<1x1x4x20xf32>) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op the last size 20 of 'input' does not divide into 6 heads}}
  %r0, %r1, %r2 = "ttnn.nlp_create_qkv_heads_decode"(%x) <{num_heads = 2 : ui32}> : (tensor<1x1x4x20xf32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>)
  return
}

// -----

func.func @create_position(%x: tensor<1x2x4x18xf32>) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op operand 'input' has shape 1x2x4x18; expected one position, 1 x 1 x users x (heads * size)}}
  %r0, %r1, %r2 = "ttnn.nlp_create_qkv_heads_decode"(%x) <{num_heads = 2 : ui32}> : (tensor<1x2x4x18xf32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>)
  return
}

// -----

func.func @create_slice_alone(%x: tensor<1x1x4x18xf32>) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op has attribute 'slice_size' without operand 'batch_offset'}}
  %r0, %r1, %r2 = "ttnn.nlp_create_qkv_heads_decode"(%x) <{num_heads = 2 : ui32, slice_size = 2 : ui32}> : (tensor<1x1x4x18xf32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>)
  return
}

// -----

func.func @create_offset_alone(%x: tensor<1x1x4x18xf32>, %o: tensor<1xi32>) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op has operand 'batch_offset' without attribute 'slice_size'}}
  %r0, %r1, %r2 = "ttnn.nlp_create_qkv_heads_decode"(%x, %o) <{num_heads = 2 : ui32}> : (tensor<1x1x4x18xf32>, tensor<1xi32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>)
  return
}

// -----

func.func @create_slice(%x: tensor<1x1x4x18xf32>, %o: tensor<1xi32>) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op attribute 'slice_size' is 5; expected 1 to 4 users}}
  %r0, %r1, %r2 = "ttnn.nlp_create_qkv_heads_decode"(%x, %o) <{num_heads = 2 : ui32, slice_size = 5 : ui32}> : (tensor<1x1x4x18xf32>, tensor<1xi32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>)
  return
}

// -----

func.func @create_offset(%x: tensor<1x1x4x18xf32>, %o: tensor<1xf32>) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op operand 'batch_offset' is 'tensor<1xf32>'; expected an integer}}
  %r0, %r1, %r2 = "ttnn.nlp_create_qkv_heads_decode"(%x, %o) <{num_heads = 2 : ui32, slice_size = 2 : ui32}> : (tensor<1x1x4x18xf32>, tensor<1xf32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>)
  return
}

// -----

func.func @layer_weight(%x: tensor<4x8xf32>, %w: tensor<6xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distributed_layer_norm' op operand 'weight' has shape 6; expected 8}}
  %r0 = "ttnn.distributed_layer_norm"(%x, %w, %d) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> : (tensor<4x8xf32>, tensor<6xf32>, !ttnn.device) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_residual(%x: tensor<4x8xf32>, %r: tensor<8xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distributed_layer_norm' op operand 'residual' has shape 8; expected 4x8}}
  %r0 = "ttnn.distributed_layer_norm"(%x, %r, %d) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 0, 0, 1, 1>}> : (tensor<4x8xf32>, tensor<8xf32>, !ttnn.device) -> tensor<4x8xf32>
  return
}

// -----

func.func @rms_residual(%x: tensor<4x8xf32>, %r: tensor<8xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.distributed_rms_norm' op operand 'residual' has shape 8; expected 4x8}}
  %r0 = "ttnn.distributed_rms_norm"(%x, %r, %d) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 1>}> : (tensor<4x8xf32>, tensor<8xf32>, !ttnn.device) -> tensor<4x8xf32>
  return
}

// -----

func.func @rms_sums(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'ttnn.rms_norm_pre_all_gather' op result is 'tensor<4x64xf32>'; expected shape 4x32}}
  %r0 = "ttnn.rms_norm_pre_all_gather"(%x) <{}> : (tensor<4x8xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @rms_sums_residual(%x: tensor<4x8xf32>, %r: tensor<2x8xf32>) {
  // expected-error@+1 {{'ttnn.rms_norm_pre_all_gather' op operand 'residual' has shape 2x8; expected 4x8}}
  %r0 = "ttnn.rms_norm_pre_all_gather"(%x, %r) <{}> : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @layer_sums(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'ttnn.layer_norm_pre_all_gather' op result is 'tensor<4x32xf32>'; expected shape 4x64}}
  %r0 = "ttnn.layer_norm_pre_all_gather"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @post_stats(%x: tensor<4x8xf32>, %s: tensor<4x32xf32>) {
  // expected-error@+1 {{'ttnn.layer_norm_post_all_gather' op operand 'stats' has shape 4x32; expected 4x64 for each chip, side by side}}
  %r0 = "ttnn.layer_norm_post_all_gather"(%x, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<4x8xf32>, tensor<4x32xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @post_weight(%x: tensor<4x8xf32>, %s: tensor<4x64xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'ttnn.layer_norm_post_all_gather' op operand 'bias' has shape 4; expected 8}}
  %r0 = "ttnn.layer_norm_post_all_gather"(%x, %s, %b) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<4x8xf32>, tensor<4x64xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @latent_size(%q: tensor<1x4x8x24xf32>, %k: tensor<1x1x8x24xf32>) {
  // expected-error@+1 {{'ttnn.flash_mla_prefill' op attribute 'head_dim_v' is 25; expected 1 to 24}}
  %r0 = "ttnn.flash_mla_prefill"(%q, %k) <{head_dim_v = 25 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4x8x24xf32>, tensor<1x1x8x24xf32>) -> tensor<1x4x8x25xf32>
  return
}

// -----

func.func @latent_key(%q: tensor<1x4x8x24xf32>, %k: tensor<1x1x8x16xf32>) {
  // expected-error@+1 {{'ttnn.flash_mla_prefill' op operand 'key' has shape 1x1x8x16; expected heads of 24}}
  %r0 = "ttnn.flash_mla_prefill"(%q, %k) <{head_dim_v = 8 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4x8x24xf32>, tensor<1x1x8x16xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @latent_value(%q: tensor<1x4x8x24xf32>, %k: tensor<1x1x8x24xf32>, %v: tensor<1x1x8x24xf32>) {
  // expected-error@+1 {{'ttnn.flash_mla_prefill' op operand 'value' has shape 1x1x8x24; expected 1x1x8x8}}
  %r0 = "ttnn.flash_mla_prefill"(%q, %k, %v) <{head_dim_v = 8 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x4x8x24xf32>, tensor<1x1x8x24xf32>, tensor<1x1x8x24xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @latent_result(%q: tensor<1x4x8x24xf32>, %k: tensor<1x1x8x24xf32>) {
  // expected-error@+1 {{'ttnn.flash_mla_prefill' op result is 'tensor<1x4x8x24xf32>'; expected shape 1x4x8x8}}
  %r0 = "ttnn.flash_mla_prefill"(%q, %k) <{head_dim_v = 8 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4x8x24xf32>, tensor<1x1x8x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @residual_norm(%x: tensor<4x8xf32>, %r: tensor<8xf32>) {
  // expected-error@+1 {{'ttnn.dit_rms_norm_unary_fused' op operand 'residual_input' has shape 8; expected 4x8}}
  %r0 = "ttnn.dit_rms_norm_unary_fused"(%x, %r) <{operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}
