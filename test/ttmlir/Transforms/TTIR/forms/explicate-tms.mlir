// RUN: ttmlir-opt %s --ttir-explicate-tms | FileCheck %s
// RUN: ttmlir-opt %s --ttir-explicate-tms --ttir-explicate-tms | FileCheck %s
// What the other pass removes.
// RUN: ttmlir-opt %s --ttir-explicate-tms --ttir-implicit-broadcast-fold | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @ranks
// CHECK: %[[R:.*]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 8 : i32]}> : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK: %[[B:.*]] = "ttir.broadcast"(%[[R]]) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK: "ttir.add"(%arg0, %[[B]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// FOLDED-LABEL: func.func @ranks
// FOLDED-NOT: ttir.broadcast
func.func @ranks(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.add"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Both operands of a product of a column and a row.
// CHECK-LABEL: func.func @both
// CHECK: %[[A:.*]] = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 8>}>
// CHECK: %[[B:.*]] = "ttir.broadcast"(%arg1) <{broadcast_dimensions = array<i64: 4, 1>}>
// CHECK: "ttir.multiply"(%[[A]], %[[B]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// FOLDED-LABEL: func.func @both
func.func @both(%a: tensor<4x1xf32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.multiply"(%a, %b) : (tensor<4x1xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// One value twice; a type of its own stays.
// CHECK-LABEL: func.func @condition
// CHECK-COUNT-1: ttir.broadcast
// CHECK-NOT: ttir.broadcast
// CHECK: "ttir.where"(%arg0, %[[V:.*]], %[[V]]) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @condition(%c: tensor<4x8xi1>, %a: tensor<1x1xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.where"(%c, %a, %a) : (tensor<4x8xi1>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A scalar, and tensors without values.
// CHECK-LABEL: func.func @small
// CHECK: "ttir.reshape"(%arg1) <{shape = [1 : i32]}> : (tensor<f32>) -> tensor<1xf32>
// CHECK: "ttir.add"(%arg2, %arg3) : (tensor<0x4xf32>, tensor<1x4xf32>) -> tensor<0x4xf32>
func.func @small(%a: tensor<1xf32>, %b: tensor<f32>, %c: tensor<0x4xf32>, %d: tensor<1x4xf32>) -> (tensor<1xf32>, tensor<0x4xf32>) {
  %0 = "ttir.add"(%a, %b) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = "ttir.add"(%c, %d) : (tensor<0x4xf32>, tensor<1x4xf32>) -> tensor<0x4xf32>
  return %0, %1 : tensor<1xf32>, tensor<0x4xf32>
}
