// RUN: ttmlir-opt %s --ttir-inline-functions --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @nested
// CHECK-NEXT: "ttir.relu"
// CHECK-NEXT: "ttir.exp"
// CHECK-NEXT: "ttir.relu"
// CHECK-NEXT: return
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @outer(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Public functions stay, and so do private ones that nothing calls.
// CHECK-NOT: @outer
// CHECK: func.func @public
func.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK: func.func private @uncalled
func.func private @uncalled(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @ping(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @pong(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @pong(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{recursive call cannot be inlined: ping calls pong calls ping}}
  %0 = call @ping(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tuples that only carry values through calls are gone, and those of tuples.
// CHECK-LABEL: func.func @swapped
// CHECK-NEXT: "ttir.subtract"(%arg1, %arg0)
// CHECK-NEXT: return
func.func @swapped(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = ttcore.tuple %a, %b : tuple<tensor<2xf32>, tensor<2xf32>>
  %1 = call @swap(%0) : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>>
  %2 = ttcore.get_tuple_element %1[0] : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>>) -> tuple<tensor<2xf32>>
  %3 = ttcore.get_tuple_element %2[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  %4 = ttcore.get_tuple_element %1[1] : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>>) -> tensor<2xf32>
  %5 = "ttir.subtract"(%3, %4) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %5 : tensor<2xf32>
}
func.func private @swap(%x: tuple<tensor<2xf32>, tensor<2xf32>>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>> {
  %0 = ttcore.get_tuple_element %x[0] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %1 = ttcore.get_tuple_element %x[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %2 = ttcore.tuple %1 : tuple<tensor<2xf32>>
  %3 = ttcore.tuple %2, %0 : tuple<tuple<tensor<2xf32>>, tensor<2xf32>>
  return %3 : tuple<tuple<tensor<2xf32>>, tensor<2xf32>>
}
