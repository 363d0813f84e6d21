// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --sdy-sharding-group-import | FileCheck %s

sdy.mesh @m = <["x"=2, "y"=2]>
// Groups 4 and 9 share %b, so they are one; doubles go.
// CHECK-LABEL: @joined(
// CHECK-SAME: %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}
// CHECK-COUNT-3: group_id=0
// CHECK: group_id=1
// CHECK-NOT: sharding_group
func.func @joined(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %b: tensor<8xf32>, %c: tensor<8xf32>, %d: tensor<4xf32>) {
  sdy.sharding_group %a group_id=4 : tensor<8xf32>
  sdy.sharding_group %b group_id=4 : tensor<8xf32>
  sdy.sharding_group %b group_id=9 : tensor<8xf32>
  sdy.sharding_group %c group_id=9 : tensor<8xf32>
  sdy.sharding_group %d group_id=12 : tensor<4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-LABEL: @differing(
// CHECK: %[[A:.*]] = sdy.sharding_constraint %arg0 <@m, [{?}]>
// CHECK: sdy.sharding_group %[[A]] group_id=0
// expected-warning@+1 {{members of sharding group 0 have different shardings; each keeps its own}}
func.func @differing(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  sdy.sharding_group %b group_id=0 : tensor<8xf32>
  return
}

// -----

func.func @shapes(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  // expected-error@+1 {{'sdy.sharding_group' op puts 'tensor<4xf32>' in a group with 'tensor<8xf32>'; expected one shape}}
  sdy.sharding_group %b group_id=0 : tensor<4xf32>
  return
}

// -----

// Identifiers are any 64 bits.
// CHECK-LABEL: @identifiers(
// CHECK: group_id=1
// CHECK: group_id=1
// CHECK: group_id=0
func.func @identifiers(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  sdy.sharding_group %a group_id=-1 : tensor<8xf32>
  sdy.sharding_group %b group_id=-1 : tensor<8xf32>
  sdy.sharding_group %c group_id=-2 : tensor<4xf32>
  return
}
