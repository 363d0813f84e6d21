// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --sdy-add-data-flow-edges | FileCheck %s --check-prefix=EDGES
// RUN: ttmlir-opt %s --sdy-propagation-pipeline=enable-insert-explicit-collectives=true | FileCheck %s

sdy.mesh @m = <["x"=2, "y"=2]>
// EDGES-LABEL: @while(
// EDGES: %[[W:.*]]:2 = stablehlo.while
// EDGES: sdy.data_flow_edge %[[W]]#0 : tensor<i32>
// EDGES: %[[E:.*]] = sdy.data_flow_edge %[[W]]#1 : tensor<8x8xf32>
// EDGES: return %[[E]]
// CHECK-LABEL: @while(
// CHECK-NOT: all_
// CHECK: stablehlo.while{{.*}}<@m, [{"x"}, {"y"}]>
// CHECK: stablehlo.add {{.*}}<@m, [{"x"}, {"y"}]>
// CHECK-NOT: data_flow_edge
func.func @while(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<8x8xf32> cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %x, %x : tensor<8x8xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}

// Branches that differ: the one is brought to the other.
// CHECK-LABEL: @if(
// CHECK: sdy.all_slice [{"x"}, {}] %arg2 out_sharding=<@m, [{"x"}, {"y"}]>
// CHECK: <@m, [{"x"}, {"y"}]>
func.func @if(%p: tensor<i1>, %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {?}]>},
              %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<8x8xf32>
  }, {
    stablehlo.return %b : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axes that are free pass in and out, manual ones stay outside.
// CHECK-LABEL: @manual(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>})
// CHECK: in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] manual_axes={"x"}
// CHECK: stablehlo.add {{.*}}<@m, [{}, {"y"}]>
func.func @manual(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {"y", ?}]>] out_shardings=[<@m, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.add %b, %b : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Calls of one function agree, callers first.
// CHECK-LABEL: @caller(
// CHECK: call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>}
// CHECK: call @callee(%arg1) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>}
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME: <@m, [{"x"}, {"y"}]>
// CHECK-SAME: <@m, [{"x"}, {"y"}]>
func.func private @callee(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @caller(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = call @callee(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @callee(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A computation on a mesh without axes is one on that of its operands.
sdy.mesh @empty = <[]>
// CHECK-LABEL: @computation_on_a_mesh_without_axes(
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>]
func.func @computation_on_a_mesh_without_axes(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@empty, [{?}]>] out_shardings=[<@empty, [{?}]>] manual_axes={} (%b: tensor<4xf32>) {
    %1 = stablehlo.abs %b : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
