// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --sdy-update-non-divisible-input-output-shardings | FileCheck %s
// RUN: ttmlir-opt %s --sdy-remove-sub-axes-in-input-output-shardings | FileCheck %s --check-prefix=PARTS
// RUN: ttmlir-opt %s --sdy-pre-order-funcs | FileCheck %s --check-prefix=ORDER
// RUN: ttmlir-opt %s --sdy-propagate-sharding-from-func-to-call | FileCheck %s --check-prefix=CALLS
// RUN: ttmlir-opt %s --sdy-propagate-to-func-results | FileCheck %s --check-prefix=RESULTS
// RUN: ttmlir-opt %s --sdy-insert-func-call-reshards | FileCheck %s --check-prefix=RESHARD

sdy.mesh @m = <["x"=4, "y"=2]>
// RESULTS-LABEL: @callee(
// RESULTS-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
func.func private @callee(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @main(
// CHECK-SAME: %arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)2, ?}]>}
// CHECK-SAME: %arg1: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}
// PARTS-LABEL: @main(
// PARTS-SAME: %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y", ?}]>}
// ORDER: @main
// ORDER: @callee
// CALLS: call @callee(%arg2) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}]>]>}
// RESHARD: %[[C:.*]] = call @callee(%arg2) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}]>]>}
// RESHARD: sdy.reshard %[[C]] <@m, [{"x"}]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}]>},
                %b: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>},
                %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y", "x":(1)2, ?}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @callee(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @callee(%c) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
