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

func.func @power(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{'ttir.pow' is not lowered to linalg: powers of integers are not computed on the host}}
  %0 = "ttir.pow"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
