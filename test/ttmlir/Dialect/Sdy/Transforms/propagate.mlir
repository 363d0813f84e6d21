// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --sdy-aggressive-propagate | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --sdy-basic-propagate | FileCheck %s --check-prefix=BASIC
// RUN: ttmlir-opt %s --split-input-file --sdy-user-priority-propagate=conservative-propagation=true | FileCheck %s --check-prefix=CONSERVATIVE

sdy.mesh @m = <["x"=2, "y"=2]>
// What does not exclude each other is joined.
// CHECK-LABEL: @join(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {"y", ?}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {"y", ?}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {"y", ?}]>})
// CHECK: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x", ?}, {"y", ?}]>]>}
// BASIC-LABEL: @join(
// BASIC: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x", ?}, {"y", ?}]>]>}
func.func @join(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"y", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// One axis on two dimensions: the first operand wins in the result; operands stay.
// CHECK-LABEL: @conflict(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", ?}]>}
// CHECK: stablehlo.add {{.*}}[<@m, [{"x", ?}, {?}]>]
// BASIC-LABEL: @conflict(
// BASIC: stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
func.func @conflict(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>},
                    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The larger operand wins.
// CHECK-LABEL: @larger_source(
// CHECK: stablehlo.dot_general {{.*}}[<@m, [{?}, {"x", ?}]>]
func.func @larger_source(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>},
                         %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", ?}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A closed dimension takes nothing; a replicated axis is taken by none.
// CHECK-LABEL: @closed(
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {?}]>}
// CHECK-SAME: %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {?}], replicated={"x"}>}
func.func @closed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>},
                  %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {?}]>},
                  %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {?}], replicated={"x"}>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  %1 = stablehlo.add %0, %c : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// An axis that does not divide a dimension does not come to it.
// CHECK-LABEL: @indivisible(
// CHECK: stablehlo.slice {{.*}}[<@m, [{"x", ?}, {?}]>]
func.func @indivisible(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}, {}]>}) -> tensor<6x8xf32> {
  %0 = stablehlo.slice %a [1:7, 0:8] : (tensor<8x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// A direction that a barrier stops.
// CHECK-LABEL: @barrier(
// CHECK-SAME: %arg1: tensor<8xf32>)
// CHECK: stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x", ?}]>]>}
// CHECK: stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}]>]>}
func.func @barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}]>}, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = sdy.propagation_barrier %b allowed_direction=FORWARD : tensor<8xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}]>]>} : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Members of a group are split alike.
// CHECK-LABEL: @group(
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}]>}
func.func @group(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}]>}, %b: tensor<8xf32>) {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  sdy.sharding_group %b group_id=0 : tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=4]>
// CHECK-LABEL: @parts_of_an_axis(
// CHECK: stablehlo.reshape {{.*}}[<@m, [{"x":(1)2, ?}, {"x":(2)2, ?}]>]
// CONSERVATIVE-LABEL: @parts_of_an_axis(
// CONSERVATIVE: stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<2x4xf32>
func.func @parts_of_an_axis(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<2x4xf32> {
  %0 = stablehlo.reshape %a : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Without any mesh, or with other meshes, nothing spreads.
sdy.mesh @m = <["x"=2]>
sdy.mesh @n = <["x"=2], device_ids=[1, 0]>
// CHECK-LABEL: @two_meshes(
// CHECK: stablehlo.add %arg0, %arg1 : tensor<8xf32>
func.func @two_meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>},
                      %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}]>}) {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return
}
// CHECK-LABEL: @nothing_given(
// CHECK-NOT: sdy.sharding
func.func @nothing_given(%a: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.add %a, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A mesh without axes is compatible with any other: what is on it takes part.
sdy.mesh @empty = <[]>
sdy.mesh @m = <["x"=2]>
// CHECK-LABEL: @mesh_without_axes(
// CHECK: stablehlo.negate {{.*}}[<@m, [{"x", ?}]>]
// CHECK: stablehlo.abs {{.*}}[<@empty, [{}]>]
func.func @mesh_without_axes(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@empty, [{?}]>]>} : tensor<4xf32>
  %1 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@empty, [{}]>]>} : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
