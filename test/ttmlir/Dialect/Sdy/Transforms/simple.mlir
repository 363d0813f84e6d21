// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --sdy-remove-sharding-groups | FileCheck %s --check-prefix=GROUPS
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(sdy-sharding-constraint-to-reshard))' | FileCheck %s --check-prefix=RESHARD
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(sdy-drop-sharding-rules))' | FileCheck %s --check-prefix=RULES
// RUN: ttmlir-opt %s --sdy-aggressive-propagate=keep-sharding-rules=true | FileCheck %s --check-prefix=KEPT

sdy.mesh @m = <["x"=2]>
// GROUPS-NOT: sdy.sharding_group
// RESHARD: sdy.reshard %{{.*}} <@m, [{"x"}]>
// RESHARD-NOT: sdy.sharding_constraint
// RULES: stablehlo.negate %arg0 : tensor<8xf32>
// RULES: stablehlo.abs %{{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>}
// KEPT: stablehlo.add {{.*}}sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  %1 = stablehlo.abs %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{"x"}]> : tensor<8xf32>
  %3 = stablehlo.add %2, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
