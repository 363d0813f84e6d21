// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @split_width(%a0: tensor<2x8x50xf32>) {
  // expected-error@+1 {{'ttir.split_query_key_value_and_split_heads' op the last size 50 of 'input_tensor' does not divide into 12 heads}}
  %0:3 = "ttir.split_query_key_value_and_split_heads"(%a0) <{num_heads = 4 : ui32, transpose_key = false}> : (tensor<2x8x50xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>)
  return
}

// -----

func.func @split_no_heads(%a0: tensor<2x8x48xf32>) {
  // expected-error@+1 {{'ttir.split_query_key_value_and_split_heads' op has 0 query and 0 key heads; expected 1 or more}}
  %0:3 = "ttir.split_query_key_value_and_split_heads"(%a0) <{num_heads = 0 : ui32, transpose_key = false}> : (tensor<2x8x48xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>)
  return
}

// -----

func.func @split_key_value(%a0: tensor<2x8x16xf32>, %a1: tensor<2x8x12xf32>) {
  // expected-error@+1 {{'ttir.split_query_key_value_and_split_heads' op operand 'kv_input_tensor' has shape 2x8x12; expected 2x8x4 times the head size 4}}
  %0:3 = "ttir.split_query_key_value_and_split_heads"(%a0, %a1) <{num_heads = 4 : ui32, num_kv_heads = 2 : ui32, transpose_key = false}> : (tensor<2x8x16xf32>, tensor<2x8x12xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>)
  return
}

// -----

func.func @split_transposed(%a0: tensor<2x8x48xf32>) {
  // expected-error@+1 {{'ttir.split_query_key_value_and_split_heads' op result 1 is 'tensor<2x4x8x4xf32>'; expected shape 2x4x4x8}}
  %0:3 = "ttir.split_query_key_value_and_split_heads"(%a0) <{num_heads = 4 : ui32, transpose_key = true}> : (tensor<2x8x48xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>)
  return
}

// -----

func.func @paged_cache(%a0: tensor<8x4x32x64xf32>, %a1: tensor<1x4x32x32xf32>, %a2: tensor<1x8xi32>) {
  // expected-error@+1 {{'ttir.paged_fill_cache' op head sizes 64 of 'cache' and 32 of 'input' differ}}
  "ttir.paged_fill_cache"(%a0, %a1, %a2) : (tensor<8x4x32x64xf32>, tensor<1x4x32x32xf32>, tensor<1x8xi32>) -> ()
  return
}

// -----

func.func @paged_batch(%a0: tensor<8x4x32x64xf32>, %a1: tensor<2x4x32x64xf32>, %a2: tensor<1x8xi32>) {
  // expected-error@+1 {{'ttir.paged_fill_cache' op operand 'input' is of 2 users; expected at most 1, as 'page_table' has}}
  "ttir.paged_fill_cache"(%a0, %a1, %a2) : (tensor<8x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<1x8xi32>) -> ()
  return
}

// -----

func.func @dynamic_begins(%a0: tensor<4x6xf32>, %a1: tensor<3xi32>, %a2: tensor<2xi32>) {
  // expected-error@+1 {{'ttir.slice_dynamic' op operand 'begins' is 'tensor<3xi32>'; expected one integer per dimension, 2}}
  %0 = "ttir.slice_dynamic"(%a0, %a1, %a2) : (tensor<4x6xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dynamic_step(%a0: tensor<4x6xf32>, %a1: tensor<2xi32>, %a2: tensor<2xi32>) {
  // expected-error@+1 {{'ttir.slice_dynamic' op attribute 'step' has 0; expected 1 or more}}
  %0 = "ttir.slice_dynamic"(%a0, %a1, %a2) <{step = [1 : i32, 0 : i32]}> : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dynamic_result(%a0: tensor<4x6xf32>, %a1: tensor<2xi32>, %a2: tensor<2xi32>) {
  // expected-error@+1 {{'ttir.slice_dynamic' op has a result of shape 2x7; expected a part of 4x6}}
  %0 = "ttir.slice_dynamic"(%a0, %a1, %a2) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x7xf32>
  return
}

// -----

func.func @dropout(%a0: tensor<4x6xf32>) {
  // expected-error@+1 {{'ttir.dropout' op result is 'tensor<6x4xf32>'; expected shape 4x6}}
  %0 = "ttir.dropout"(%a0) : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @lang_roles(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.tt_lang_op' op attribute 'arg_roles' has 1 roles for 2 inputs}}
  %0 = "ttir.tt_lang_op"(%a0, %a1) <{arg_roles = "in", kernel_id = "k", version_tag = "1"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @lang_role(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.tt_lang_op' op attribute 'arg_roles' has "back"; expected in, out or inout}}
  %0 = "ttir.tt_lang_op"(%a0, %a1) <{arg_roles = "in,back", kernel_id = "k", version_tag = "1"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @lang_results(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.tt_lang_op' op has results of types 'tensor<5xf32>'; expected those of the written inputs, 'tensor<4xf32>'}}
  %0 = "ttir.tt_lang_op"(%a0, %a1) <{arg_roles = "in,out", kernel_id = "k", version_tag = "1"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @layout_result(%a0: tensor<4xf32>, %a1: tensor<4xbf16>) {
  // expected-error@+1 {{'ttir.to_layout' op expected one result of the output's type, 'tensor<4xbf16>'}}
  %0 = "ttir.to_layout"(%a0, %a1) : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>
  return
}
