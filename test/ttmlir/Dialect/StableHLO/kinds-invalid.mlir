// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @dot(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xi32> {
  // expected-error@+1 {{has a result of type 'tensor<2x4xi32>'; expected floating-point numbers, as in the operand 'tensor<2x3xf32>'}}
  %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// -----

func.func @einsum(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{einsum_config has 'k' for sizes 4 and 5; expected one size}}
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @letter(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{einsum_config has 'k' in the result; expected letters of operands, each once}}
  %0 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ij->ik"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @combined(%a: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has a result of type 'tensor<3xf32>'; expected the shape of 'tensor<2xf32>'}}
  %0 = "stablehlo.collective_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @started(%x: tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>> {
  // expected-error@+1 {{has a body that returns (); expected the types of the future, ('tensor<2xf32>')}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    stablehlo.return
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return %0 : !stablehlo.future<tensor<2xf32>>
}

// -----

func.func @done(%f: !stablehlo.future<tensor<2xf32>>) -> tensor<3xf32> {
  // expected-error@+1 {{has results of types ('tensor<3xf32>'); expected those of the future, ('tensor<2xf32>')}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @layout(%t: !stablehlo.token) -> tensor<4xf32> {
  // expected-error@+1 {{has a layout [0, 1] for 'tensor<4xf32>'; expected one number for each dimension}}
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[0, 1]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @strides(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x6xf32>, %p: tensor<2x2xi64>) -> tensor<1x?x?x6xf32> {
  // expected-error@+1 {{window strides contains 0; expected positive numbers}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 0>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x6xf32>, tensor<2x2xi64>) -> tensor<1x?x?x6xf32>
  return %0 : tensor<1x?x?x6xf32>
}
