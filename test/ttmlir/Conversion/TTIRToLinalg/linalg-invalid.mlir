// RUN: ttmlir-opt %s --convert-ttir-to-linalg --split-input-file --verify-diagnostics

// Each is named.
func.func @several(%x: tensor<4xf32>, %h: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{'ttir.cumsum' is not lowered to linalg: the host has no code for it}}
  %0 = "ttir.cumsum"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'ttir.abs' is not lowered to linalg: the host has no type for tensor<4xf16>}}
  %1 = "ttir.abs"(%h) : (tensor<4xf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

func.func @vector(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'ttir.matmul' is not lowered to linalg: an operand has one dimension}}
  %0 = "ttir.matmul"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
