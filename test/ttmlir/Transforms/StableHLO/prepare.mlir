// RUN: ttmlir-opt %s --stablehlo-fusing --decompose-custom-call-tuples | FileCheck %s
// RUN: ttmlir-opt %s --analyze-mesh="mesh-shape=1,4 automatic-arg-analysis=true" | FileCheck %s --check-prefix=BATCH

// BATCH: sdy.mesh @mesh = <["default"=1, "batch"=4]>

// CHECK-LABEL: func.func @copies
// CHECK: %[[A:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: %[[C:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @copies(%a: tensor<1x4xf32>, %b: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>) {
  %0 = stablehlo.concatenate %a, %a, %a, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %r = stablehlo.reshape %b : (tensor<4xf32>) -> tensor<1x4xf32>
  %1 = stablehlo.concatenate %r, %r, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %c = stablehlo.concatenate %b, %b, %b, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  %2 = stablehlo.reshape %c : (tensor<12xf32>) -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<3x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>
}

// A copy in between is another value.
// CHECK-LABEL: func.func @no_copies
// CHECK: stablehlo.concatenate
func.func @no_copies(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.concatenate %a, %b, %a, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @tuple
// CHECK: %[[C:.*]]:2 = stablehlo.custom_call @pair(%arg0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi32>)
// CHECK-NOT: tuple
// CHECK: return %[[C]]#1, %arg0
func.func @tuple(%a: tensor<4xf32>) -> (tensor<2xi32>, tensor<4xf32>) {
  %t = stablehlo.custom_call @pair(%a) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  %u = stablehlo.tuple %a, %0 : tuple<tensor<4xf32>, tensor<2xi32>>
  %1 = stablehlo.get_tuple_element %u[0] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<4xf32>
  return %0, %1 : tensor<2xi32>, tensor<4xf32>
}
