// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(expand-stablehlo))" | FileCheck %s

// One slice at a known place, which is moved inside as the specification says.
// CHECK-LABEL: @last_rows
// CHECK: %[[S:.*]] = stablehlo.slice %arg0 [1:37, 0:92] : (tensor<37x92xf32>) -> tensor<36x92xf32>
// CHECK: return
func.func @last_rows(%x: tensor<37x92xf32>) -> tensor<36x92xf32> {
  %start = stablehlo.constant dense<7> : tensor<1xi32>
  %0 = "stablehlo.gather"(%x, %start) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, slice_sizes = array<i64: 36, 92>}> : (tensor<37x92xf32>, tensor<1xi32>) -> tensor<36x92xf32>
  return %0 : tensor<36x92xf32>
}

// A dimension that the result lacks, and one of a batch of one slice.
// CHECK-LABEL: @one_element_of_rows
// CHECK: %[[S:.*]] = stablehlo.slice %arg0 [0:3, 4:5] : (tensor<3x7xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: stablehlo.reshape %[[S]] : (tensor<3x1xf32>) -> tensor<1x3xf32>
func.func @one_element_of_rows(%x: tensor<3x7xf32>) -> tensor<1x3xf32> {
  %start = stablehlo.constant dense<[[-2, 4]]> : tensor<1x2xi32>
  %0 = "stablehlo.gather"(%x, %start) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 3, 1>}> : (tensor<3x7xf32>, tensor<1x2xi32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// Several slices, and a place that is computed, stay.
// CHECK-LABEL: @others
// CHECK-COUNT-2: "stablehlo.gather"
func.func @others(%x: tensor<33x7xf32>, %i: tensor<1xi32>) -> (tensor<2x7xf32>, tensor<7xf32>) {
  %starts = stablehlo.constant dense<[[3], [9]]> : tensor<2x1xi32>
  %0 = "stablehlo.gather"(%x, %starts) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<33x7xf32>, tensor<2x1xi32>) -> tensor<2x7xf32>
  %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 7>}> : (tensor<33x7xf32>, tensor<1xi32>) -> tensor<7xf32>
  return %0, %1 : tensor<2x7xf32>, tensor<7xf32>
}
