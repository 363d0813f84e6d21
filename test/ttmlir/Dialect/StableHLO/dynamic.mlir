// RUN: ttmlir-opt %s --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Shapes that are constant after all.
// CHECK-LABEL: @static
func.func @static(%x: tensor<2x3xf32>, %v: tensor<f32>, %i: tensor<4x1xi32>) -> (tensor<6xf32>, tensor<4x2x3xf32>, tensor<4xi32>, tensor<3x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<4x3xf32>) {
  %six = stablehlo.constant dense<6> : tensor<1xi64>
  %shape = stablehlo.constant dense<[4, 2, 3]> : tensor<3xi64>
  %four = stablehlo.constant dense<4> : tensor<1xi64>
  %zero = stablehlo.constant dense<0> : tensor<2xi64>
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %limit = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %start = stablehlo.constant dense<[1, 1]> : tensor<2xi64>
  %one = stablehlo.constant dense<1> : tensor<2xi64>
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  // CHECK: stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
  %0 = stablehlo.dynamic_reshape %x, %six : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1, 2] : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<4x2x3xf32>
  // CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
  %2 = stablehlo.dynamic_iota %four, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>
  // CHECK: stablehlo.pad %arg0, %arg1, low = [1, 0], high = [0, 0], interior = [0, 0]
  %3 = stablehlo.dynamic_pad %x, %v, %low, %zero, %zero : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x3xf32>
  // CHECK: stablehlo.slice %arg0 [1:2, 1:3]
  %4 = stablehlo.real_dynamic_slice %x, %start, %limit, %one : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xf32>
  // CHECK-NOT: get_dimension_size
  %5 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  // CHECK: "stablehlo.gather"(%arg0, %arg2)
  %6 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
    : (tensor<2x3xf32>, tensor<4x1xi32>, tensor<2xi64>) -> tensor<4x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<6xf32>, tensor<4x2x3xf32>, tensor<4xi32>, tensor<3x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<4x3xf32>
}

// -----

// A computed start and a known size are a block; steps take some of its elements.
// CHECK-LABEL: @block
// CHECK-SAME: (%[[X:.*]]: tensor<9x4xf32>, %[[I:.*]]: tensor<i32>, %[[S:.*]]: tensor<2xi32>)
func.func @block(%x: tensor<9x4xf32>, %i: tensor<i32>, %s: tensor<2xi32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
  %sizes = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %spread = stablehlo.constant dense<[4, 2]> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %steps = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %first = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.concatenate %first, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %moved = stablehlo.add %start, %one : tensor<2xi32>
  %limit = stablehlo.add %moved, %sizes : tensor<2xi32>
  // CHECK-DAG: %[[NEXT:.*]] = stablehlo.add %[[I]], %{{.*}} : tensor<i32>
  // CHECK: stablehlo.dynamic_slice %[[X]], %[[NEXT]], %{{.*}}, sizes = [2, 4]
  %0 = stablehlo.real_dynamic_slice %x, %moved, %limit, %one : (tensor<9x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4xf32>
  %end = stablehlo.add %s, %spread : tensor<2xi32>
  // CHECK: %[[BLOCK:.*]] = stablehlo.dynamic_slice %[[X]], %{{.*}}, %{{.*}}, sizes = [4, 2]
  // CHECK: stablehlo.slice %[[BLOCK]] [0:4:3, 0:2]
  %1 = stablehlo.real_dynamic_slice %x, %s, %end, %steps : (tensor<9x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x2xf32>
}

// -----

// CHECK-LABEL: @computed
func.func @computed(%x: tensor<?x3xf32>, %s: tensor<2xi32>, %n: tensor<i32>) -> (tensor<?x?xf32>, tensor<i32>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>) {
  // CHECK: stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: stablehlo.get_dimension_size %arg0, dim = 0
  %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  // CHECK: stablehlo.set_dimension_size %arg0, %arg2, dim = 0 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %2 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<i32>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>
}

// -----

func.func @elements(%x: tensor<2x3xf32>, %s: tensor<1xi64>) -> tensor<5xf32> {
  // expected-error@+1 {{has 6 elements and a result of 5; expected as many}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @numbers(%x: tensor<2x3xf32>, %s: tensor<3xi64>) -> tensor<?x?xf32> {
  // expected-error@+1 {{output_shape is 'tensor<3xi64>'; expected one number for each of 2 dimensions}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @dimension(%x: tensor<2x3xf32>) -> tensor<i32> {
  // expected-error@+1 {{dimension is 2; expected less than the rank of 'tensor<2x3xf32>'}}
  %0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
