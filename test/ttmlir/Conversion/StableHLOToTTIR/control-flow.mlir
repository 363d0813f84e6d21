// RUN: ttmlir-opt %s --stablehlo-legalize-composite-to-call --outline-stablehlo-control-flow --split-input-file | FileCheck %s

// What the loop never changes, and small constants, are not carried.
// CHECK-LABEL: func.func @main
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0>
// CHECK: %[[R:.*]]:2 = ttcore.while(@main_while_cond, @main_while_body, [%[[ZERO]], %arg0, %arg1, %arg2])
// CHECK-SAME: (tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
// CHECK: return %[[R]]#1, %arg2
// CHECK: func.func private @main_while_cond(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<4xf32>, %[[N:.*]]: tensor<i32>, %{{.*}}: tensor<4xf32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.compare LT, %[[I]], %[[N]]
// CHECK: func.func private @main_while_body(%[[I:.*]]: tensor<i32>, %[[V:.*]]: tensor<4xf32>, %{{.*}}: tensor<i32>, %[[W:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1>
// CHECK: stablehlo.add %[[V]], %[[W]]
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %v = %x, %u = %w) : tensor<i32>, tensor<4xf32>, tensor<4xf32> cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.add %v, %u : tensor<4xf32>
    stablehlo.return %j, %s, %u : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The branch for 0 is that for false.
// CHECK-LABEL: func.func @if
// CHECK: ttcore.case([@if_branch, @if_branch_0], %arg0, [%arg1]) : tensor<i1>, (tensor<f32>) -> tensor<f32>
// CHECK: func.func private @if_branch(%arg0: tensor<f32>)
// CHECK-NEXT: stablehlo.negate
// CHECK: func.func private @if_branch_0(%arg0: tensor<f32>)
// CHECK-NEXT: return %arg0
func.func @if(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %n = stablehlo.negate %x : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A loop in a loop: the inner one's functions are named by the outer one's.
// CHECK-LABEL: func.func @nested
// CHECK: ttcore.while(@nested_while_cond_0, @nested_while_body_1, [%arg0, %arg1])
// CHECK: func.func private @nested_while_body_1
// CHECK-NEXT: ttcore.while(@nested_while_cond, @nested_while_body, [%arg0, %arg1])
func.func @nested(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.while(%a = %x) : tensor<f32> cond {
    %p = stablehlo.compare LT, %a, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.while(%b = %a) : tensor<f32> cond {
      %p = stablehlo.compare LT, %b, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c = stablehlo.add %b, %y : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }
    stablehlo.return %s : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @composite
// CHECK: call @impl(%arg0)
func.func private @impl(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @composite(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "a" %x {decomposition = @impl} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
