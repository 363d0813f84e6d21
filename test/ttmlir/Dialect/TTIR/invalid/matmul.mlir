// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @inner(%a0: tensor<4x64xf32>, %a1: tensor<128x8xf32>) {
  // expected-error@+1 {{'ttir.matmul' op inner dimensions 64 and 128 differ}}
  %0 = "ttir.matmul"(%a0, %a1) : (tensor<4x64xf32>, tensor<128x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @inner_transposed(%a0: tensor<4x64xf32>, %a1: tensor<128x64xf32>) {
  // expected-error@+1 {{'ttir.matmul' op inner dimensions 64 and 128 differ; transpose the second operand or set transpose_b}}
  %0 = "ttir.matmul"(%a0, %a1) : (tensor<4x64xf32>, tensor<128x64xf32>) -> tensor<4x128xf32>
  return
}

// -----

func.func @inner_not_transposed(%a0: tensor<4x64xf32>, %a1: tensor<64x8xf32>) {
  // expected-error@+1 {{'ttir.matmul' op inner dimensions 64 and 8 differ}}
  %0 = "ttir.matmul"(%a0, %a1) <{transpose_b = true}> : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @batch(%a0: tensor<2x4x8xf32>, %a1: tensor<3x8x4xf32>) {
  // expected-error@+1 {{'ttir.matmul' op batch dimensions 2 and 3 do not broadcast: sizes 2 and 3 in dimension 0}}
  %0 = "ttir.matmul"(%a0, %a1) : (tensor<2x4x8xf32>, tensor<3x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @scalar(%a0: tensor<f32>, %a1: tensor<2x2xf32>) {
  // expected-error@+1 {{'ttir.matmul' op operand 'a' is 'tensor<f32>'; expected rank 1 or more}}
  %0 = "ttir.matmul"(%a0, %a1) : (tensor<f32>, tensor<2x2xf32>) -> tensor<f32>
  return
}

// -----

func.func @vector_transposed(%a0: tensor<2xf32>, %a1: tensor<2x2xf32>) {
  // expected-error@+1 {{'ttir.matmul' op attribute 'transpose_a' is set, but 'a' has shape 2; a vector has nothing to transpose}}
  %0 = "ttir.matmul"(%a0, %a1) <{transpose_a = true}> : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @bias(%a0: tensor<4x8xf32>, %a1: tensor<8x3xf32>, %a2: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.linear' op product and bias 4x3 and 4 do not broadcast: sizes 3 and 4 in dimension 1}}
  %0 = "ttir.linear"(%a0, %a1, %a2) : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @result(%a0: tensor<4x8xf32>, %a1: tensor<8x3xf32>) {
  // expected-error@+1 {{'ttir.linear' op result is 'tensor<3x4xf32>'; expected shape 4x3}}
  %0 = "ttir.linear"(%a0, %a1) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @dot_general_dim(%a0: tensor<2x3xf32>, %a1: tensor<3x2xf32>) {
  // expected-error@+1 {{'ttir.dot_general' op attribute 'contract_dims_lhs' has 2; expected 0 to 1}}
  %0 = "ttir.dot_general"(%a0, %a1) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dot_general_twice(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.dot_general' op attribute 'contract_dims_lhs' names dimension 0, which is already a batch or contracted one}}
  %0 = "ttir.dot_general"(%a0, %a1) <{batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = array<i64: 0>, contract_dims_rhs = array<i64: 1>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dot_general_sizes(%a0: tensor<2x3xf32>, %a1: tensor<3x2xf32>) {
  // expected-error@+1 {{'ttir.dot_general' op contracted dimensions 1 of lhs and 1 of rhs differ: sizes 3 and 2}}
  %0 = "ttir.dot_general"(%a0, %a1) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 1>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dot_general_counts(%a0: tensor<2x3xf32>, %a1: tensor<3x2xf32>) {
  // expected-error@+1 {{'ttir.dot_general' op lhs has 1 batch dimensions, rhs 0}}
  %0 = "ttir.dot_general"(%a0, %a1) <{batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  return
}
