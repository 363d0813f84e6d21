// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --sdy-lift-inlined-meshes | FileCheck %s --check-prefix=LIFT
// RUN: ttmlir-opt %s --split-input-file --sdy-inline-meshes | FileCheck %s --check-prefix=INLINE
// RUN: ttmlir-opt %s --split-input-file --sdy-remove-size-one-axes | FileCheck %s --check-prefix=ONES
// RUN: ttmlir-opt %s --split-input-file --sdy-constant-or-scalar-splitter | FileCheck %s --check-prefix=SPLIT
// RUN: ttmlir-opt %s --split-input-file --pass-pipeline='builtin.module(sdy-constant-or-scalar-splitter,func.func(sdy-constant-or-scalar-merger))' | FileCheck %s --check-prefix=MERGE
// RUN: ttmlir-opt %s --split-input-file --sdy-apply-sharding-constraints | FileCheck %s --check-prefix=APPLY
// RUN: ttmlir-opt %s --split-input-file --sdy-manual-axes-cleanup | FileCheck %s --check-prefix=MANUAL
// RUN: ttmlir-opt %s --split-input-file --sdy-close-shardings | FileCheck %s --check-prefix=CLOSE
// RUN: ttmlir-opt %s --split-input-file --sdy-drop-sharding-and-mesh | FileCheck %s --check-prefix=DROP

// LIFT: sdy.mesh @a = <["x"=2]>
// LIFT-NEXT: sdy.mesh @mesh = <["z"=4]>
// LIFT-NEXT: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// LIFT-NOT: sdy.mesh
// LIFT: @meshes
// LIFT-SAME: #sdy.sharding<@a, [{"x"}]>
// LIFT-SAME: #sdy.sharding<@mesh, [{"z"}]>
// LIFT-SAME: #sdy.sharding<@maximal_mesh_3, []>
// INLINE-NOT: sdy.mesh
// INLINE-LABEL: @meshes(
// INLINE-SAME: #sdy.sharding<mesh<["x"=2]>, [{"x"}]>
// DROP-NOT: sdy.mesh
// DROP: @meshes(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>)
sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["x"=2]>
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>},
                  %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=4]>, [{"z"}]>},
                  %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>}) {
  return
}

// -----

sdy.mesh @m = <["x"=2, "one"=1, "y"=2]>
// ONES-LABEL: @ones(
// ONES-SAME: #sdy.sharding<@m, [{"x"}, {?}p1, {}], replicated={"y"}>
// CLOSE-LABEL: @ones(
// CLOSE-SAME: #sdy.sharding<@m, [{"x", "one"}, {}, {}]>
func.func @ones(%a: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "one"}, {?}p1, {}], replicated={"y"}>}) {
  return
}

// Each use has a constant of its own; scalars are shared. Then those with equal shardings are one again.
// SPLIT-LABEL: @constants(
// SPLIT-COUNT-2: sdy.constant dense<1.000000e+00> : tensor<8xf32>
// SPLIT-NOT: sdy.constant dense<1.000000e+00> : tensor<8xf32>
// MERGE-LABEL: @constants(
// MERGE-COUNT-1: sdy.constant dense<1.000000e+00> : tensor<8xf32>
// MERGE-NOT: sdy.constant dense<1.000000e+00> : tensor<8xf32>
func.func @constants(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.add %a, %c : tensor<8xf32>
  %1 = stablehlo.multiply %a, %c : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// SPLIT-LABEL: @expressions(
// SPLIT-COUNT-2: stablehlo.iota
// SPLIT-COUNT-2: stablehlo.broadcast_in_dim %arg1
func.func @expressions(%a: tensor<8xi32>, %s: tensor<i32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %n = stablehlo.negate %i : tensor<8xi32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<8xi32>
  %0 = stablehlo.add %a, %n : tensor<8xi32>
  %1 = stablehlo.multiply %a, %n : tensor<8xi32>
  %2 = stablehlo.add %a, %b : tensor<8xi32>
  %3 = stablehlo.multiply %a, %b : tensor<8xi32>
  return %0, %1, %2, %3 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// A closed constraint that no other contradicts holds from the start; after a chain, its last.
// APPLY-LABEL: @constraints(
// APPLY: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}
// APPLY: stablehlo.abs %arg0 : tensor<8xf32>
// APPLY: stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}
// APPLY: sdy.sharding_constraint %{{.*}} <@m, [{"x"}]>
// APPLY: %[[LAST:.*]] = sdy.sharding_constraint %{{.*}} <@m, [{"y"}]>
func.func @constraints(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{"x"}]> : tensor<8xf32>
  %2 = stablehlo.abs %a : tensor<8xf32>
  %3 = sdy.sharding_constraint %2 <@m, [{"x", ?}]> : tensor<8xf32>
  %4 = stablehlo.negate %2 : tensor<8xf32>
  %5 = sdy.sharding_constraint %4 <@m, [{"x"}]> : tensor<8xf32>
  %6 = sdy.sharding_constraint %5 <@m, [{"y"}]> : tensor<8xf32>
  return %1, %3, %6, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// MANUAL-LABEL: @manual(
// MANUAL: in_shardings=[<@m, [{"y"}], replicated={"x"}>] out_shardings=[<@m, [{"x"}], replicated={"y"}>] manual_axes={"x", "y"}
func.func @manual(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"y", "x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
