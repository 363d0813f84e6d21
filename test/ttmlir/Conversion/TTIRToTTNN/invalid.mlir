// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --split-input-file --verify-diagnostics

// Every op that is left is named, not the first alone.
func.func private @declared(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @left_over(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'ttir.tt_lang_op' is not lowered to TTNN: there is no ttnn.tt_lang_op}}
  %0 = ttir.tt_lang_op(%a, %a) {arg_roles = "in,out", kernel_id = "k", version_tag = "1"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>)
  // expected-error@+1 {{'func.call' is not lowered to TTNN: a program on the device has no calls; 'declared' was not inlined}}
  %1 = call @declared(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-error@+1 {{'ttir.layer_norm' is not lowered to TTNN: normalized_shape has 2 dimensions; TTNN normalises the last one only}}
  %2 = "ttir.layer_norm"(%1) <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 4, 8>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// What the chip's cache ops would refuse.
func.func @paged(%cache: tensor<8x4x32x64xf32>, %x: tensor<1x4x32x64xf32>, %at: tensor<1xi32>, %table: tensor<1x8xi32>) {
  // expected-error@+1 {{'ttir.paged_update_cache' is not lowered to TTNN: 'update_index' has 1 elements; expected one for each of 4 users}}
  "ttir.paged_update_cache"(%cache, %x, %at, %table) : (tensor<8x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<1xi32>, tensor<1x8xi32>) -> ()
  return
}

// -----

func.func @paged_fill(%cache: tensor<8x4x32x64xf32>, %x: tensor<1x4x65x64xf32>, %table: tensor<1x2xi32>) {
  // expected-error@+1 {{'page_table' has 2 dimensions, the last of 2; expected users x pages with room for 65 positions in pages of 32}}
  "ttir.paged_fill_cache"(%cache, %x, %table) : (tensor<8x4x32x64xf32>, tensor<1x4x65x64xf32>, tensor<1x2xi32>) -> ()
  return
}
