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

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot' op lhs_ragged_dimensions has 0 dimensions; expected one}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{rhs_group_dimensions has 0 dimensions; expected 1 where the ragged dimension is a free one}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{lhs is 'tensor<6x4xf32>', and dimension 2 of it is named; expected less than its rank}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{contracting dimensions 1 of lhs and 2 of rhs have sizes 4 and 2; expected the same}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{names dimension 1 of rhs twice}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{has the result 'tensor<6x3xf32>'; expected 'tensor<6x2xf32>'}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<2xi32>) {
  // expected-error@+1 {{group_sizes is 'tensor<2xi32>' and dimension 0 of rhs is 3; expected a matrix for each group}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<2xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) {
  // expected-error@+1 {{expected lhs_batching_dimensions, rhs_batching_dimensions, lhs_contracting_dimensions, rhs_contracting_dimensions, lhs_ragged_dimensions, rhs_group_dimensions; found 'lhs_ragged'}}
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan' op has a region of 1 arguments; expected 2, one for each input and init}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 {
  ^bb0(%c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{has a region that does not return 2 values by stablehlo.return}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 {
  ^bb0(%a: tensor<3xf32>, %c: tensor<3xf32>):
    stablehlo.return %c : tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{input 0 is 'tensor<5xf32>' in the region; expected 'tensor<3xf32>'}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 {
  ^bb0(%a: tensor<5xf32>, %c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{output 0 has size 4 in dimension 0; expected 5}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 {
  ^bb0(%a: tensor<3xf32>, %c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{input 0 is 'tensor<5x3xf32>'; expected a rank above dimension 2}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 2 {
  ^bb0(%a: tensor<3xf32>, %c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{argument of the region 0 is 'tensor<2xf32>'; expected 'tensor<3xf32>', as its init is}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 {
  ^bb0(%a: tensor<3xf32>, %c: tensor<2xf32>):
    stablehlo.return %a, %a : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{has no inputs and no scan_dim_size; expected one of them}}
  %0:2 = chlo.scan() inits (%i) dimension = 0 {
  ^bb0(%c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{has 1 inputs, 1 inits and the type}}
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 {
  ^bb0(%a: tensor<3xf32>, %c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}
