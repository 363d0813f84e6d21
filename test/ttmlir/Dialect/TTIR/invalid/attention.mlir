// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @heads(%a0: tensor<1x8x64x32xf32>, %a1: tensor<1x3x64x32xf32>, %a2: tensor<1x3x64x32xf32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention' op 8 heads of 'query' are no multiple of 3 heads of 'key'}}
  %0 = "ttir.scaled_dot_product_attention"(%a0, %a1, %a2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x8x64x32xf32>, tensor<1x3x64x32xf32>, tensor<1x3x64x32xf32>) -> tensor<1x8x64x32xf32>
  return
}

// -----

func.func @batch(%a0: tensor<1x8x64x32xf32>, %a1: tensor<2x8x64x32xf32>, %a2: tensor<2x8x64x32xf32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention' op batch sizes 1 of 'query' and 2 of 'key' differ}}
  %0 = "ttir.scaled_dot_product_attention"(%a0, %a1, %a2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x8x64x32xf32>, tensor<2x8x64x32xf32>, tensor<2x8x64x32xf32>) -> tensor<1x8x64x32xf32>
  return
}

// -----

func.func @size(%a0: tensor<1x8x64x32xf32>, %a1: tensor<1x8x64x16xf32>, %a2: tensor<1x8x64x32xf32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention' op head sizes 32 of 'query' and 16 of 'key' differ}}
  %0 = "ttir.scaled_dot_product_attention"(%a0, %a1, %a2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x8x64x32xf32>, tensor<1x8x64x16xf32>, tensor<1x8x64x32xf32>) -> tensor<1x8x64x32xf32>
  return
}

// -----

func.func @key_value(%a0: tensor<1x8x64x32xf32>, %a1: tensor<1x8x64x32xf32>, %a2: tensor<1x8x32x32xf32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention' op operands 'key' and 'value' have shapes 1x8x64x32 and 1x8x32x32; they may differ only in the last size}}
  %0 = "ttir.scaled_dot_product_attention"(%a0, %a1, %a2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x8x64x32xf32>, tensor<1x8x64x32xf32>, tensor<1x8x32x32xf32>) -> tensor<1x8x64x32xf32>
  return
}

// -----

func.func @mask(%a0: tensor<1x8x64x32xf32>, %a1: tensor<1x8x64x32xf32>, %a2: tensor<1x8x64x32xf32>, %a3: tensor<1x1x64x32xf32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention' op operand 'attention_mask' has shape 1x1x64x32, which does not broadcast to 1x8x64x64}}
  %0 = "ttir.scaled_dot_product_attention"(%a0, %a1, %a2, %a3) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x64x32xf32>, tensor<1x8x64x32xf32>, tensor<1x8x64x32xf32>, tensor<1x1x64x32xf32>) -> tensor<1x8x64x32xf32>
  return
}

// -----

func.func @cache_size(%a0: tensor<1x4x96x32xf32>, %a1: tensor<1x4x64x16xf32>) {
  // expected-error@+1 {{'ttir.fill_cache' op head sizes 32 of 'cache' and 16 of 'input' differ}}
  "ttir.fill_cache"(%a0, %a1) <{batch_offset = 0 : i32}> : (tensor<1x4x96x32xf32>, tensor<1x4x64x16xf32>) -> ()
  return
}

// -----

func.func @cache_batch(%a0: tensor<1x4x96x32xf32>, %a1: tensor<1x4x64x32xf32>) {
  // expected-error@+1 {{'ttir.fill_cache' op attribute 'batch_offset' is 1; expected 0 to 0}}
  "ttir.fill_cache"(%a0, %a1) <{batch_offset = 1 : i32}> : (tensor<1x4x96x32xf32>, tensor<1x4x64x32xf32>) -> ()
  return
}

// -----

func.func @cache_users(%a0: tensor<4x4x96x32xf32>, %a1: tensor<3x4x64x32xf32>) {
  // expected-error@+1 {{'ttir.fill_cache' op operand 'input' has a batch of 3; expected at most 2, the batches of 'cache' from 'batch_offset' on}}
  "ttir.fill_cache"(%a0, %a1) <{batch_offset = 2 : i32}> : (tensor<4x4x96x32xf32>, tensor<3x4x64x32xf32>) -> ()
  return
}

// -----

func.func @cache_positions(%a0: tensor<1x4x96x32xf32>, %a1: tensor<1x4x97x32xf32>) {
  // expected-error@+1 {{'ttir.fill_cache' op operand 'input' has 97 positions; expected at most 96}}
  "ttir.fill_cache"(%a0, %a1) <{batch_offset = 0 : i32}> : (tensor<1x4x96x32xf32>, tensor<1x4x97x32xf32>) -> ()
  return
}

// -----

func.func @cache_heads(%a0: tensor<1x4x96x32xf32>, %a1: tensor<1x2x64x32xf32>) {
  // expected-error@+1 {{'ttir.fill_cache' op numbers of heads 4 of 'cache' and 2 of 'input' differ}}
  "ttir.fill_cache"(%a0, %a1) <{batch_offset = 0 : i32}> : (tensor<1x4x96x32xf32>, tensor<1x2x64x32xf32>) -> ()
  return
}

// -----

func.func @heads_rank(%a0: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'ttir.concatenate_heads' op operand 'input' is 'tensor<2x3x4xf32>'; expected rank 4}}
  %0 = "ttir.concatenate_heads"(%a0) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return
}

// -----

func.func @window(%a0: tensor<1x8x64x32xf32>) {
  // expected-error@+1 {{'ttir.scaled_dot_product_attention' op attribute 'sliding_window_size' is 0; expected a positive number}}
  %0 = "ttir.scaled_dot_product_attention"(%a0, %a0, %a0) <{sliding_window_size = 0 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x8x64x32xf32>, tensor<1x8x64x32xf32>, tensor<1x8x64x32xf32>) -> tensor<1x8x64x32xf32>
  return
}

// -----

func.func @window_of_pages(%q: tensor<1x2x4x16xf32>, %c: tensor<8x2x32x16xf32>, %t: tensor<2x3xi32>) {
  // expected-error@+1 {{'ttnn.paged_scaled_dot_product_attention_decode' op attribute 'sliding_window_size' is 0; expected a positive number}}
  %0 = "ttnn.paged_scaled_dot_product_attention_decode"(%q, %c, %c, %t) <{sliding_window_size = 0 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (tensor<1x2x4x16xf32>, tensor<8x2x32x16xf32>, tensor<8x2x32x16xf32>, tensor<2x3xi32>) -> tensor<1x2x4x16xf32>
  return
}
