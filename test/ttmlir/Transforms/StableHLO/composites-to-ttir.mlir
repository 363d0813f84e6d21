// RUN: ttmlir-opt %s --legalize-stablehlo-composite-to-ttir | FileCheck %s

// Without users, a decomposition goes; the other composite has no op and keeps its own.
// CHECK-NOT: @gelu
// CHECK: func.func private @twice
func.func private @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @main
// CHECK: %[[G:.*]] = "ttir.gelu"(%arg0)
// CHECK: %[[T:.*]] = stablehlo.composite "my.twice" %[[G]] {decomposition = @twice}
// CHECK: %[[V:.*]], %{{.*}} = chlo.top_k(%[[T]], k = 2)
// CHECK: return %[[V]]
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "tenstorrent.gelu" %x {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.twice" %0 {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  %2:2 = stablehlo.composite "chlo.top_k" %1 {composite_attributes = {k = 2 : i64}, decomposition = @top} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %2#0 : tensor<2xf32>
}
func.func private @top(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
