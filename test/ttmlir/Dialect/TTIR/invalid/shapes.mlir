// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// What the rules of lib/shapes refuse, of the dialects as of the runtime.

func.func @topk_of_none(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'ttir.topk' op attribute 'k' is 0; expected 1 to 3, the size of dimension 1}}
  %v, %i = "ttir.topk"(%x) <{k = 0 : i32}> : (tensor<4x3xf32>) -> (tensor<4x0xf32>, tensor<4x0xi32>)
  return
}

// -----

func.func @empty_transposed_convolution(%x: tensor<1x2x2x4xf32>, %w: tensor<4x3x1x1xf32>) {
  // expected-error@+1 {{'ttir.conv_transpose2d' op height of the result would be 0; expected 1 or more}}
  %0 = "ttir.conv_transpose2d"(%x, %w) <{dilation = 1 : i32, groups = 1 : i32, output_padding = 0 : i32, padding = array<i32: 1, 0, 1, 0>, stride = 1 : i32}> : (tensor<1x2x2x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x0x2x3xf32>
  return
}

// -----

func.func @decode_key_and_value(%q: tensor<1x2x4x8xf32>, %k: tensor<2x2x16x8xf32>, %v: tensor<2x2x17x8xf32>, %p: tensor<2xi32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention_decode' op operands 'key' and 'value' have shapes 2x2x16x8 and 2x2x17x8; they may differ only in the last size}}
  %0 = "ttir.scaled_dot_product_attention_decode"(%q, %k, %v, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<1x2x4x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x17x8xf32>, tensor<2xi32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

func.func @decode_users(%q: tensor<1x3x4x8xf32>, %k: tensor<2x2x16x8xf32>, %p: tensor<3xi32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention_decode' op batch sizes 3 of 'query' and 2 of 'key' differ}}
  %0 = "ttir.scaled_dot_product_attention_decode"(%q, %k, %k, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<1x3x4x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<3xi32>) -> tensor<1x3x4x8xf32>
  return
}

// -----

func.func @decode_positions(%q: tensor<1x2x4x8xf32>, %k: tensor<2x2x16x8xf32>, %p: tensor<3xi32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention_decode' op operand 'cur_pos_tensor' has shape 3; expected one position for each of 2 users}}
  %0 = "ttir.scaled_dot_product_attention_decode"(%q, %k, %k, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<1x2x4x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<3xi32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

func.func @paged_decode_users(%q: tensor<1x2x4x8xf32>, %k: tensor<6x2x32x8xf32>, %t: tensor<3x3xi32>) {
  // expected-error@+1 {{'ttir.paged_scaled_dot_product_attention_decode' op batch sizes 2 of 'query' and 3 of 'key' differ}}
  %0 = "ttir.paged_scaled_dot_product_attention_decode"(%q, %k, %k, %t, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0>}> : (tensor<1x2x4x8xf32>, tensor<6x2x32x8xf32>, tensor<6x2x32x8xf32>, tensor<3x3xi32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

func.func @paged_decode_pages(%q: tensor<1x2x4x8xf32>, %k: tensor<6x2x32x8xf32>, %v: tensor<7x2x32x8xf32>, %t: tensor<2x3xi32>) {
  // expected-error@+1 {{'ttir.paged_scaled_dot_product_attention_decode' op operands 'key' and 'value' have shapes 6x2x32x8 and 7x2x32x8; they may differ only in the last size}}
  %0 = "ttir.paged_scaled_dot_product_attention_decode"(%q, %k, %v, %t, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0>}> : (tensor<1x2x4x8xf32>, tensor<6x2x32x8xf32>, tensor<7x2x32x8xf32>, tensor<2x3xi32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

func.func @chunk_too_long(%q: tensor<2x4x97x8xf32>, %k: tensor<6x2x32x8xf32>, %t: tensor<2x3xi32>, %s: tensor<1xi32>) {
  // expected-error@+1 {{'ttir.chunked_scaled_dot_product_attention' op operand 'query' has 97 positions; expected at most 96, which the pages of a user hold}}
  %0 = "ttir.chunked_scaled_dot_product_attention"(%q, %k, %k, %t, %s, %q) : (tensor<2x4x97x8xf32>, tensor<6x2x32x8xf32>, tensor<6x2x32x8xf32>, tensor<2x3xi32>, tensor<1xi32>, tensor<2x4x97x8xf32>) -> tensor<2x4x97x8xf32>
  return
}

// -----

func.func @paged_update_positions(%c: tensor<8x4x32x64xf32>, %x: tensor<1x4x32x64xf32>, %at: tensor<1xi32>, %t: tensor<4x8xi32>) {
  // expected-error@+1 {{'ttir.paged_update_cache' op operand 'update_index' has shape 1; expected one position for each of 4 users}}
  "ttir.paged_update_cache"(%c, %x, %at, %t) : (tensor<8x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<1xi32>, tensor<4x8xi32>) -> ()
  return
}

// -----

func.func @paged_update_table(%c: tensor<8x4x32x64xf32>, %x: tensor<1x4x32x64xf32>, %at: tensor<4xi32>, %t: tensor<1x8xi32>) {
  // expected-error@+1 {{'ttir.paged_update_cache' op operand 'page_table' has shape 1x8; expected users x pages, for 4 users}}
  "ttir.paged_update_cache"(%c, %x, %at, %t) : (tensor<8x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<4xi32>, tensor<1x8xi32>) -> ()
  return
}

// -----

func.func @paged_update_heads(%c: tensor<8x4x32x64xf32>, %x: tensor<1x2x3x64xf32>, %at: tensor<2xi32>) {
  // expected-error@+1 {{'ttir.paged_update_cache' op operand 'input' has 3 heads; expected at least the 4 of 'cache'}}
  "ttir.paged_update_cache"(%c, %x, %at) : (tensor<8x4x32x64xf32>, tensor<1x2x3x64xf32>, tensor<2xi32>) -> ()
  return
}

// -----

func.func @paged_update_users(%c: tensor<3x4x32x64xf32>, %x: tensor<1x4x32x64xf32>, %at: tensor<4xi32>) {
  // expected-error@+1 {{'ttir.paged_update_cache' op operand 'cache' is of 3 users; expected 4, as 'input' has}}
  "ttir.paged_update_cache"(%c, %x, %at) : (tensor<3x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<4xi32>) -> ()
  return
}

// -----

func.func @paged_fill_room(%c: tensor<8x4x32x64xf32>, %x: tensor<1x4x65x64xf32>, %t: tensor<1x2xi32>) {
  // expected-error@+1 {{'ttir.paged_fill_cache' op operand 'page_table' has shape 1x2; expected users x pages with room for 65 positions in pages of 32}}
  "ttir.paged_fill_cache"(%c, %x, %t) : (tensor<8x4x32x64xf32>, tensor<1x4x65x64xf32>, tensor<1x2xi32>) -> ()
  return
}

// -----

func.func @update_users(%c: tensor<2x4x96x32xf32>, %x: tensor<2x4x1x32xf32>, %i: tensor<1xi32>) {
  // expected-error@+1 {{'ttir.update_cache' op operand 'input' has shape 2x4x1x32; expected one position, 1 x heads x users x size}}
  "ttir.update_cache"(%c, %x, %i) <{batch_offset = 0 : i32}> : (tensor<2x4x96x32xf32>, tensor<2x4x1x32xf32>, tensor<1xi32>) -> ()
  return
}

// -----

func.func @quantize_scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %z: tensor<3xi32>) {
  // expected-error@+1 {{'ttir.quantize_unrolled' op operand 'scale' has shape 2; expected 1 value, or 3 for the indices of dimension 1}}
  %0 = "ttir.quantize_unrolled"(%x, %s, %z) <{axis = 1 : i32}> : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @dequantize_without_axis(%x: tensor<2x3xi32>, %s: tensor<1xf32>, %z: tensor<3xi32>) {
  // expected-error@+1 {{'ttir.dequantize_unrolled' op operand 'zero_point' has shape 3; expected 1 value without an axis}}
  %0 = "ttir.dequantize_unrolled"(%x, %s, %z) : (tensor<2x3xi32>, tensor<1xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @requantize_axis(%x: tensor<2x3xi32>, %s: tensor<1xf32>, %z: tensor<1xi32>) {
  // expected-error@+1 {{'ttir.requantize_unrolled' op attribute 'axis' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttir.requantize_unrolled"(%x, %s, %z, %s, %z) <{axis = 2 : i32}> : (tensor<2x3xi32>, tensor<1xf32>, tensor<1xi32>, tensor<1xf32>, tensor<1xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @all_reduce_axis(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'ttir.all_reduce' op attribute 'cluster_axis' is 2; expected 0 or 1}}
  %0 = "ttir.all_reduce"(%x) <{cluster_axis = 2 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @distributed_norm_axis(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'ttir.distributed_rms_norm' op attribute 'cluster_axis' is 2; expected 0 or 1}}
  %0 = "ttir.distributed_rms_norm"(%x) <{cluster_axis = 2 : ui32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_twice(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'ttir.collective_broadcast' op attribute 'replica_groups' has chip 1 twice}}
  %0 = "ttir.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @broadcast_unknown(%x: tensor<4x4xf32>) {
    // expected-error@+1 {{'ttir.collective_broadcast' op attribute 'replica_groups' has chip 2; the mesh 1x2 has chips 0 to 1}}
    %0 = "ttir.collective_broadcast"(%x) <{replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return
  }
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @permute_unknown(%x: tensor<4x4xf32>) {
    // expected-error@+1 {{'ttir.collective_permute' op attribute 'source_target_pairs' has target 3; the mesh 1x2 has chips 0 to 1}}
    %0 = "ttir.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return
  }
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @permute_nowhere(%x: tensor<4x4xf32>) {
    // expected-error@+1 {{'ttnn.point_to_point' op attribute 'receiver_coord' is [0, 2]; expected row and column of a chip of the mesh 1x2}}
    %0 = "ttnn.point_to_point"(%x) <{sender_coord = array<i64: 0, 0>, receiver_coord = array<i64: 0, 2>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return
  }
}

// -----

func.func @rotary_rows(%x: tensor<1x2x6x8xf32>, %c: tensor<1x1x5x8xf32>) {
  // expected-error@+1 {{'ttnn.rotary_embedding' op operand 'cos_cache' has shape 1x1x5x8; expected at least 6 rows of 8}}
  %0 = "ttnn.rotary_embedding"(%x, %c, %c) : (tensor<1x2x6x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x2x6x8xf32>
  return
}
