// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --sdy-op-priority-propagate | FileCheck %s --check-prefix=OPS
// RUN: ttmlir-opt %s --sdy-user-priority-propagate | FileCheck %s

sdy.mesh @m = <["x"=2, "y"=2]>
// A later priority neither spreads early nor loses its axis to an earlier one.
// CHECK-LABEL: @later(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", ?}]>}
// CHECK: stablehlo.add {{.*}}[<@m, [{?}, {"x", ?}]>]
func.func @later(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}p1, {?}]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", ?}p0]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Ops that move no data go before contractions: %0 is split as %c is, though %a and %b are larger.
// OPS-LABEL: @elementwise_first(
// OPS: stablehlo.dot_general {{.*}}[<@m, [{?}, {"x", ?}]>]
func.func @elementwise_first(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>}, %b: tensor<64x8xf32>,
                             %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %c : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
