// RUN: ttmlir-opt %s --ttir-implicit-broadcast-fold --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @folds
// CHECK-NOT: ttir.broadcast
// CHECK: "ttir.add"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
func.func @folds(%a: tensor<4x8xf32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.add"(%a, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// One operand must still have the result's shape.
// CHECK-LABEL: func.func @keeps
// CHECK-COUNT-1: ttir.broadcast
// CHECK-NOT: ttir.broadcast
func.func @keeps(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.broadcast"(%a) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A value that somebody looks at stays, and what reads it.
// CHECK-LABEL: @observed
// CHECK: %[[B:.*]] = "ttir.broadcast"
// CHECK: "ttir.add"(%{{.*}}, %[[B]])
module attributes {ttcore.observed = array<i64: 0>} {
  func.func @observed(%a: tensor<4x8xf32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32> loc(fused<0 : i64>["observed"])
    %1 = "ttir.add"(%a, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
