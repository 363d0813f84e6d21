// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s --check-prefix=TEXT
// RUN: ttmlir-opt %s --sdy-sink-data-flow-edges | FileCheck %s --check-prefix=SINK
// RUN: ttmlir-opt %s --sdy-propagation-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-inline-calls | FileCheck %s --check-prefix=INLINE

sdy.mesh @m = <["x"=2]>

// INLINE-LABEL: func.func @result(
// INLINE: %[[A:.*]] = sdy.sharding_constraint %arg0 <@m, [{"x"}]> : tensor<8xf32>
// INLINE: %[[B:.*]] = stablehlo.abs %[[A]]
// INLINE: sdy.sharding_constraint %[[B]] <@m, [{"x"}]> : tensor<8xf32>
// INLINE-NOT: data_flow_edge
// SINK-LABEL: func.func @result(
// SINK: call @argument(%{{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}
// SINK-NOT: data_flow_edge
// CHECK-LABEL: func.func @result(
// CHECK-SAME: sdy.sharding = #sdy.sharding<@m, [{"x"}]>
// CHECK-NOT: data_flow_edge
func.func @result(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @argument(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// TEXT-LABEL: func.func @argument(
// TEXT: sdy.func_data_flow_edge %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<8xf32>
// SINK-LABEL: func.func @argument(
// SINK-SAME: sdy.sharding = #sdy.sharding<@m, [{"x"}]>
// SINK-NOT: data_flow_edge
// CHECK-LABEL: func.func @argument(
// CHECK-SAME: sdy.sharding = #sdy.sharding<@m, [{"x"}]>
// CHECK-NOT: data_flow_edge
// CHECK: stablehlo.abs{{.*}}<@m, [{"x"}]>
func.func @argument(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.abs %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
