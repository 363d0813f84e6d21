// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim; found 'offsets'}}
func.func private @f() attributes {a = #stablehlo.gather<offsets = [1]>}

// -----

// expected-error@+1 {{'index_vector_dim' is given twice}}
func.func private @f() attributes {a = #stablehlo.scatter<index_vector_dim = 1, index_vector_dim = 2>}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{stablehlo.gather: index_vector_dim is -1; expected 0 to 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = -1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{stablehlo.gather: start_index_map names dimension 2 of a tensor of rank 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<4x1xi32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{stablehlo.gather: dimension 0 is in collapsed_slice_dims and in operand_batching_dims}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  // expected-error@+1 {{stablehlo.gather: dimension 0 of the operand and 0 of the indices, which are batches, have sizes 4 and 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<1x4xi32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.gather: start_indices_batching_dims names index_vector_dim 0}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x5xf32>, tensor<1x4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{stablehlo.gather: slice_sizes has 1 values; expected one for each of 2 dimensions}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @f(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi32>) -> tensor<3x5x6xf32> {
  // expected-error@+1 {{stablehlo.gather: offset_dims is not in ascending order}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5, 6>}> : (tensor<4x5x6xf32>, tensor<3x1xi32>) -> tensor<3x5x6xf32>
  return %0 : tensor<3x5x6xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xf32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{operand #1 must be ranked tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<3x1xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %u: tensor<3x6xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{stablehlo.scatter: operand 2 is 'tensor<3x6xf32>', whose dimension 1 does not fit dimension 1 of 'tensor<4x5xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %u: tensor<2x5xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{stablehlo.scatter: operand 2 is 'tensor<2x5xf32>'; expected size 3 in dimension 0, as the indices have}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %u: tensor<3x5xi32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{stablehlo.scatter: operand 2 is 'tensor<3x5xi32>'; expected the element type of 'tensor<4x5xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<3x5xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %u: tensor<3x5xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{'stablehlo.scatter' op has region argument 1 of type 'tensor<i32>'; expected 'tensor<f32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{'stablehlo.scatter' op operand #0 must be ranked tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<4x5xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
