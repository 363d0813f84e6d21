// RUN: ttmlir-opt %s --ttir-fold-constant-reshape-broadcast --split-input-file | FileCheck %s --check-prefix=SHAPE
// RUN: ttmlir-opt %s --ttir-fold-full-to-scalar --split-input-file | FileCheck %s --check-prefix=SCALAR
// RUN: ttmlir-opt %s --ttir-move-reshape-to-constant --split-input-file | FileCheck %s --check-prefix=MOVE

// SHAPE-LABEL: func.func @splat
// SHAPE-NEXT: %[[F:.*]] = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
// SHAPE-NEXT: "ttir.multiply"(%arg0, %[[F]])
func.func @splat(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 1 : i32]}> : (tensor<1xf32>) -> tensor<1x1xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 4, 8>}> : (tensor<1x1xf32>) -> tensor<4x8xf32>
  %3 = "ttir.multiply"(%a, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// Values of a constant, too; what is no constant stays.
// SHAPE-LABEL: func.func @values
// SHAPE-NEXT: "ttir.constant"() <{value = dense<{{\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00], [2.000000e+00, 2.000000e+00, 2.000000e+00]]> : tensor<2x3xf32>}>
// SHAPE-NEXT: "ttir.reshape"(%arg0)
func.func @values(%a: tensor<4xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %0 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 1 : i32]}> : (tensor<2xf32>) -> tensor<2x1xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %3 = "ttir.reshape"(%a) <{shape = [2 : i32, 2 : i32]}> : (tensor<4xf32>) -> tensor<2x2xf32>
  return %2, %3 : tensor<2x3xf32>, tensor<2x2xf32>
}

// -----

// SCALAR-LABEL: func.func @filled
// SCALAR-NEXT: %[[F:.*]] = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
// SCALAR-NEXT: "ttir.multiply"(%arg0, %[[F]]) : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
func.func @filled(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
  %1 = "ttir.multiply"(%a, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// The result's shape must come from somewhere, and other ops read the whole tensor.
// SCALAR-LABEL: func.func @needed
// SCALAR-DAG: "ttir.ones"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
// SCALAR-DAG: "ttir.ones"() <{shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
// SCALAR-DAG: "ttir.zeros"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
// SCALAR: "ttir.add"(%{{.*}}, %{{.*}}) : (tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// SCALAR: "ttir.sum"({{.*}}tensor<4x8xf32>
func.func @needed() -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0 = "ttir.ones"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
  %1 = "ttir.zeros"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x8xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4x8xf32>, tensor<4xf32>
}

// A value that somebody looks at stays.
// -----
// SCALAR-LABEL: func.func @observed
// SCALAR: "ttir.full"() <{{.*}}array<i32: 4>
module attributes {ttcore.observed = array<i64: 0>} {
  func.func @observed(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 4>}> : () -> tensor<4xf32> loc(fused<0 : i64>["observed"])
    %1 = "ttir.multiply"(%a, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// MOVE-LABEL: func.func @moved
// MOVE: %[[C:.*]] = "ttir.constant"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]]> : tensor<1x4xf32>}>
// MOVE: %[[S:.*]] = "ttir.subtract"(%[[C]], %arg0) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
// MOVE: %[[R:.*]] = "ttir.reshape"(%[[S]]) <{shape = [2 : i32, 2 : i32]}> : (tensor<1x4xf32>) -> tensor<2x2xf32>
// MOVE: return %[[R]]
func.func @moved(%a: tensor<1x4xf32>) -> tensor<2x2xf32> {
  %0 = "ttir.constant"() <{value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %1 = "ttir.reshape"(%a) <{shape = [2 : i32, 2 : i32]}> : (tensor<1x4xf32>) -> tensor<2x2xf32>
  %2 = "ttir.subtract"(%0, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// One value broadcasts in any shape; a row of several does not, nor is what others read moved.
// MOVE-LABEL: func.func @shapes
// MOVE: "ttir.add"(%arg0, %{{.*}}) : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
// MOVE: "ttir.add"(%{{.*}}, %{{.*}}) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
func.func @shapes(%a: tensor<1x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %1 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %2 = "ttir.reshape"(%a) <{shape = [2 : i32, 2 : i32]}> : (tensor<1x4xf32>) -> tensor<2x2xf32>
  %3 = "ttir.add"(%2, %0) : (tensor<2x2xf32>, tensor<1xf32>) -> tensor<2x2xf32>
  %4 = "ttir.reshape"(%a) <{shape = [2 : i32, 2 : i32]}> : (tensor<1x4xf32>) -> tensor<2x2xf32>
  %5 = "ttir.add"(%4, %1) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %3, %5 : tensor<2x2xf32>, tensor<2x2xf32>
}

// Nor what is read of a cache before it is written to.
// MOVE-LABEL: func.func @cache
// MOVE: %[[R:.*]] = "ttir.reshape"(%arg0)
// MOVE: "ttir.fill_cache"(%arg0, %arg1)
// MOVE: "ttir.add"(%[[R]],
func.func @cache(%a: tensor<2x2x4x8xf32>, %x: tensor<1x2x4x8xf32>) -> tensor<4x4x8xf32> {
  %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %1 = "ttir.reshape"(%a) <{shape = [4 : i32, 4 : i32, 8 : i32]}> : (tensor<2x2x4x8xf32>) -> tensor<4x4x8xf32>
  "ttir.fill_cache"(%a, %x) <{batch_offset = 1 : i32}> : (tensor<2x2x4x8xf32>, tensor<1x2x4x8xf32>) -> ()
  %2 = "ttir.add"(%1, %0) : (tensor<4x4x8xf32>, tensor<1xf32>) -> tensor<4x4x8xf32>
  return %2 : tensor<4x4x8xf32>
}
