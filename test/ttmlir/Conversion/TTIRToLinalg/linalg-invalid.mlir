// RUN: ttmlir-opt %s --convert-ttir-to-linalg --split-input-file --verify-diagnostics

// Each is named.
func.func @several(%x: tensor<4xf32>, %h: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{'ttir.all_reduce' is not lowered to linalg: the host has no code for it}}
  %0 = "ttir.all_reduce"(%x) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<4xf32>) -> tensor<4xf32>
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

// -----

func.func @drop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ttir.dropout' is not lowered to linalg: its prob is 1.500000; expected 0 to 1}}
  %0 = "ttir.dropout"(%x) <{prob = 1.5 : f32, scale = 2.0 : f32, seed = 3 : ui32, use_per_device_seed = true}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @other_numbers_in_every_run() -> tensor<4xf32> {
  // expected-error @below {{'ttir.rand' is not lowered to linalg: its seed is 0, which draws other numbers in every run}}
  %0 = "ttir.rand"() <{size = [4 : i32], seed = 0 : ui32}> : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
