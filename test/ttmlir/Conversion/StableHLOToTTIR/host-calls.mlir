// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s

// Tokens order what is in order anyway: empty tensors stand for them in signatures, and loops carry none.
// CHECK-LABEL: func.func @main(%arg0: tensor<0xi1>, %arg1: tensor<4xf32>) -> (tensor<0xi1>, tensor<4xf32>)
func.func @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  // CHECK: %[[CALL:.*]] = "debug.host_call"(%arg1) <{function = "f.1"}> : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.custom_call @tt.host_call(%x) {backend_config = "f.1", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.create_token : !stablehlo.token
  %2 = stablehlo.after_all %t, %1 : !stablehlo.token
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: ttcore.while({{.*}}) : (tensor<i32>) -> tensor<i32>
  %3:2 = stablehlo.while(%i = %zero, %u = %2) : tensor<i32>, !stablehlo.token
   cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @tt.host_call(%i) {backend_config = "g.2", has_side_effect = true} : (tensor<i32>) -> ()
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %u : tensor<i32>, !stablehlo.token
  }
  return %3#1, %0 : !stablehlo.token, tensor<4xf32>
}

// In a function of its own, since it is what a loop does.
// CHECK: "debug.host_call"(%{{.*}}) <{function = "g.2"}> : (tensor<i32>) -> ()
