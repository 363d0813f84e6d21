// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{operand #0 must be ranked tensor of 4 to 64-bit float values, but got 'tensor<4xi32>'}}
  %0 = chlo.erf %x : tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{'chlo.cosh' op all non-scalar operands/results must have the same shape and base type}}
  %0 = chlo.cosh %x : tensor<4xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @f(%x: tensor<3x8xf32>) -> (tensor<3x9xf32>, tensor<3x9xi32>) {
  // expected-error@+2 {{chlo.top_k: k is 9; expected 0 to 8, the last size of 'tensor<3x8xf32>'}}
  // expected-error@+1 {{'chlo.top_k' op failed to infer returned types}}
  %0, %1 = chlo.top_k(%x, k = 9) : tensor<3x8xf32> -> (tensor<3x9xf32>, tensor<3x9xi32>)
  return %0, %1 : tensor<3x9xf32>, tensor<3x9xi32>
}

// -----

func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  // expected-error@+2 {{chlo.top_k: operand is 'tensor<f32>'; expected rank 1 or more}}
  // expected-error@+1 {{'chlo.top_k' op failed to infer returned types}}
  %0, %1 = chlo.top_k(%x, k = 0) : tensor<f32> -> (tensor<f32>, tensor<i32>)
  return %0, %1 : tensor<f32>, tensor<i32>
}

// -----

func.func @f(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  // expected-error@+2 {{'chlo.top_k' op inferred type(s) 'tensor<3x2xf32>', 'tensor<3x2xi32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>', 'tensor<3x2xf32>'}}
  // expected-error@+1 {{'chlo.top_k' op failed to infer returned types}}
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xf32>)
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xf32>
}
