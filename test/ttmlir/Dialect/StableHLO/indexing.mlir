// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s

// Empty lists and a number of 0 are not printed; keys come in any order.
// CHECK-LABEL: @gather
func.func @gather(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi32>, %v: tensor<1x3xui8>) -> (tensor<3x5x6xf32>, tensor<3x5x6xf32>) {
  // CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 5, 6>}>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, start_index_map = [0], offset_dims = [1, 2], collapsed_slice_dims = [0], operand_batching_dims = []>, indices_are_sorted = true, slice_sizes = array<i64: 1, 5, 6>}> : (tensor<4x5x6xf32>, tensor<3x1xi32>) -> tensor<3x5x6xf32>
  // CHECK: #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0]>
  %1 = "stablehlo.gather"(%x, %v) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5, 6>}> : (tensor<4x5x6xf32>, tensor<1x3xui8>) -> tensor<3x5x6xf32>
  return %0, %1 : tensor<3x5x6xf32>, tensor<3x5x6xf32>
}

// CHECK-LABEL: @batches
func.func @batches(%x: tensor<4x5xf32>, %i: tensor<4x2x1xi64>) -> tensor<4x2xf32> {
  // CHECK: #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x5xf32>, tensor<4x2x1xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<4x5xf32>, %y: tensor<4x5xi32>, %i: tensor<3x1xi32>, %u: tensor<3x5xf32>, %w: tensor<3x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) {
  // CHECK: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}>
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>):
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    stablehlo.return %c, %b : tensor<f32>, tensor<i32>
  }) : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<3x1xi32>, tensor<3x5xf32>, tensor<3x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
  return %0#0, %0#1 : tensor<4x5xf32>, tensor<4x5xi32>
}
