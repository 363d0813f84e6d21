// RUN: ttmlir-opt %s --sdy-constant-or-scalar-splitter | FileCheck %s

// A group names a member and its copies; the last use keeps the constant itself.
// CHECK-LABEL: @constant_of_a_group
// CHECK: %[[FIRST:.*]] = sdy.constant dense<1.0
// CHECK: %[[COPY:.*]] = sdy.constant dense<1.0
// CHECK-NEXT: sdy.sharding_group %[[COPY]] group_id=0
// CHECK: sdy.sharding_group %arg0 group_id=0
// CHECK-NEXT: sdy.sharding_group %[[FIRST]] group_id=0
// CHECK: return %[[COPY]], %[[FIRST]]
func.func @constant_of_a_group(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}
