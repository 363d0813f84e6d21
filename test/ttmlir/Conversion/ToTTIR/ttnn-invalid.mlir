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
