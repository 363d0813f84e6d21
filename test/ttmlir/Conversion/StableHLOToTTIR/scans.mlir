// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s

// Windows that reach to the beginning of a dimension are running sums and products.
// CHECK-LABEL: @integers
// CHECK-NEXT: %[[Y:.*]] = "ttir.cumsum"(%arg0) <{dim = 1 : i64}> : (tensor<4x10xi32>) -> tensor<4x10xi32>
// CHECK-NEXT: return %[[Y]]
func.func @integers(%x: tensor<4x10xi32>) -> tensor<4x10xi32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [9, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 10>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4x10xi32>, tensor<i32>) -> tensor<4x10xi32>
  return %0 : tensor<4x10xi32>
}

// Those that reach to the end, of the reversed tensor.
// CHECK-LABEL: @reversed
// CHECK-NEXT: %[[R:.*]] = "ttir.reverse"(%arg0) <{dimensions = array<i64: 0>}>
// CHECK-NEXT: %[[P:.*]] = "ttir.cumprod"(%[[R]]) <{dim = 0 : i64}> : (tensor<4x10xf32>) -> tensor<4x10xf32>
// CHECK-NEXT: %[[Y:.*]] = "ttir.reverse"(%[[P]]) <{dimensions = array<i64: 0>}>
// CHECK-NEXT: return %[[Y]]
func.func @reversed(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 3], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 4, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %b, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x10xf32>, tensor<f32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}

// Shorter windows, and another initial value.
// CHECK-LABEL: @others
// CHECK-NOT: ttir.cum
func.func @others(%x: tensor<4x10xi32>) -> (tensor<4x10xi32>, tensor<4x10xi32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 9>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4x10xi32>, tensor<i32>) -> tensor<4x10xi32>
  %2 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[0, 0], [9, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 10>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<4x10xi32>, tensor<i32>) -> tensor<4x10xi32>
  return %0, %2 : tensor<4x10xi32>, tensor<4x10xi32>
}

// Floats of a distribution are drawn by the chip.
// CHECK-LABEL: @drawn
// CHECK-NEXT: %[[U:.*]] = "ttir.rand"() <{high = 1.000000e+00 : f32, low = 0.000000e+00 : f32, seed = {{[1-9][0-9]*}} : ui32, size = [4 : i32, 8 : i32]}> : () -> tensor<4x8xf32>
// CHECK-NEXT: return %[[U]]
func.func @drawn() -> tensor<4x8xf32> {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.constant dense<[4, 8]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %b, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
