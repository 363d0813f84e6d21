// RUN: ttmlir-opt %s --convert-ttnn-to-ttir --split-input-file --verify-diagnostics

func.func @rotary(%x: tensor<1x4x8x16xf32>, %t: tensor<1x1x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // expected-error@+1 {{'ttnn.rotary_embedding' is not converted to TTIR: there is no ttir.rotary_embedding}}
  %0 = "ttnn.rotary_embedding"(%x, %t, %t) : (tensor<1x4x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %0 : tensor<1x4x8x16xf32>
}

// -----

func.func @activation(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'ttnn.matmul' is not converted to TTIR: there is no ttir.nothing for its activation}}
  %0 = "ttnn.matmul"(%a, %a) <{activation = "nothing"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @activation_of_more(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'ttnn.matmul' is not converted to TTIR: 'ttir.clamp_scalar' op requires attribute 'max'}}
  %0 = "ttnn.matmul"(%a, %a) <{activation = "clamp_scalar"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @fused_activation(%a: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  // expected-error@+1 {{'ttnn.matmul' is not converted to TTIR: its 'matmul_program_config' has an activation, which no attribute of ttir.matmul says}}
  %0 = "ttnn.matmul"(%a, %a) <{matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config<in0_block_w = 1, per_core_m = 1, per_core_n = 1, fused_activation = #ttnn.unary_with_param<op_type = relu>>}> : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %0 : tensor<32x32xbf16>
}

// -----

func.func @pairs(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'ttnn.collective_permute' is not converted to TTIR: 'ttir.collective_permute' op}}
  %0 = "ttnn.collective_permute"(%a) <{source_target_pairs = array<i64: 0, 1>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
