// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @no_such_dim(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.sum' op attribute 'dim_arg' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttir.sum"(%a0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dim_twice(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.mean' op attribute 'dim_arg' names dimension 1 twice}}
  %0 = "ttir.mean"(%a0) <{dim_arg = [1 : i32, -1 : i32], keep_dim = false}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @keep_dim_missing(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.max' op requires attribute 'keep_dim'}}
  %0 = "ttir.max"(%a0) : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @kept(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.max' op result is 'tensor<2xf32>'; expected shape 2x1}}
  %0 = "ttir.max"(%a0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @scalar(%a0: tensor<f32>) {
  // expected-error@+1 {{'ttir.prod' op attribute 'dim_arg' is 0, but a scalar has no dimensions}}
  %0 = "ttir.prod"(%a0) <{dim_arg = [0 : i32], keep_dim = false}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @argmax_one_dim_twice(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.argmax' op attribute 'dim_arg' names dimension 1 twice}}
  %0 = "ttir.argmax"(%a0) <{dim_arg = [1 : i32, -1 : i32], keep_dim = false}> : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @cumsum_dim(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.cumsum' op attribute 'dim' is -3; expected -2 to 1 for rank 2}}
  %0 = "ttir.cumsum"(%a0) <{dim = -3 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @sort_indices(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.sort' op result 1 is 'tensor<3x2xi32>'; expected shape 2x3}}
  %0:2 = "ttir.sort"(%a0) <{dim = 0 : si32}> : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xi32>)
  return
}

// -----

func.func @topk_too_many(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.topk' op attribute 'k' is 4; expected 1 to 3, the size of dimension 1}}
  %0:2 = "ttir.topk"(%a0) <{k = 4 : i32}> : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}
