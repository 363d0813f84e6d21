// RUN: ttmlir-opt %s --ttir-decompose-complex-permute --ttir-decompose-complex-reshape | FileCheck %s
// RUN: ttmlir-opt %s --ttir-decompose-complex-permute --ttir-decompose-complex-reshape --ttir-decompose-complex-permute --ttir-decompose-complex-reshape | FileCheck %s

// CHECK-LABEL: func.func @cycle
// CHECK-NEXT: %[[A:.*]] = "ttir.permute"(%arg0) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.permute"(%[[A]]) <{permutation = array<i64: 0, 2, 1>}> : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT: return %[[B]]
func.func @cycle(%a: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 1, 2, 0>}> : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  return %0 : tensor<3x4x2xf32>
}

// CHECK-LABEL: func.func @simple
// CHECK-NEXT: "ttir.permute"(%arg0) <{permutation = array<i64: 2, 1, 0>}>
// CHECK-NEXT: "ttir.permute"(%arg1) <{permutation = array<i64>}>
// CHECK-NEXT: return
func.func @simple(%a: tensor<2x3x4xf32>, %b: tensor<f32>) -> (tensor<4x3x2xf32>, tensor<f32>) {
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 2, 1, 0>}> : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %1 = "ttir.permute"(%b) <{permutation = array<i64>}> : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<4x3x2xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @places
// CHECK-NEXT: %[[A:.*]] = "ttir.reshape"(%arg0) <{shape = [6 : i32, 20 : i32, 7 : i32]}> : (tensor<2x3x20x7xf32>) -> tensor<6x20x7xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.reshape"(%[[A]]) <{shape = [6 : i32, 4 : i32, 5 : i32, 7 : i32]}> : (tensor<6x20x7xf32>) -> tensor<6x4x5x7xf32>
// CHECK-NEXT: return %[[B]]
func.func @places(%a: tensor<2x3x20x7xf32>) -> tensor<6x4x5x7xf32> {
  %0 = "ttir.reshape"(%a) <{shape = [6 : i32, 4 : i32, 5 : i32, 7 : i32]}> : (tensor<2x3x20x7xf32>) -> tensor<6x4x5x7xf32>
  return %0 : tensor<6x4x5x7xf32>
}

// One place only, where values pass from one dimension to the next; dimensions of size 1; no values; scalars.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: "ttir.reshape"(%arg0) <{shape = [3 : i32, 2 : i32]}>
// CHECK-NEXT: "ttir.reshape"(%arg1) <{shape = [2 : i32, 3 : i32, 1 : i32, 1 : i32]}>
// CHECK-NEXT: "ttir.reshape"(%arg2) <{shape = [2 : i32, 2 : i32, 0 : i32]}>
// CHECK-NEXT: "ttir.reshape"(%arg3) <{shape = [1 : i32, 1 : i32]}>
// CHECK-NEXT: return
func.func @whole(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<4x0xf32>, %d: tensor<f32>) -> (tensor<3x2xf32>, tensor<2x3x1x1xf32>, tensor<2x2x0xf32>, tensor<1x1xf32>) {
  %0 = "ttir.reshape"(%a) <{shape = [3 : i32, 2 : i32]}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "ttir.reshape"(%b) <{shape = [2 : i32, 3 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3xf32>) -> tensor<2x3x1x1xf32>
  %2 = "ttir.reshape"(%c) <{shape = [2 : i32, 2 : i32, 0 : i32]}> : (tensor<4x0xf32>) -> tensor<2x2x0xf32>
  %3 = "ttir.reshape"(%d) <{shape = [1 : i32, 1 : i32]}> : (tensor<f32>) -> tensor<1x1xf32>
  return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<2x3x1x1xf32>, tensor<2x2x0xf32>, tensor<1x1xf32>
}
