// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(sdy-reshard-to-collectives))' | FileCheck %s
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(sdy-canonicalize-collectives))' | FileCheck %s --check-prefix=CANON

sdy.mesh @m = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>

// CHECK-LABEL: @reshards(
// CHECK: sdy.all_gather [{"y"}, {}] %arg0 out_sharding=<@m, [{"x"}, {}]>
// CHECK-NEXT: sdy.all_to_all [{"x"}: 0->1] %{{.*}} out_sharding=<@m, [{}, {"x"}]>
// CHECK-NEXT: sdy.all_slice [{"y"}, {}] %{{.*}} out_sharding=<@m, [{"y"}, {"x"}]>
// CHECK-NEXT: sdy.collective_permute %{{.*}} out_sharding=<@m, [{"x"}, {"y"}]>
// CHECK-NEXT: sdy.collective_permute %{{.*}} out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: sdy.all_gather [{"x"}, {"y"}] %{{.*}} out_sharding=<@reversed, [{}, {}]>
// CHECK-NEXT: return
// A value that is only brought on is brought there at once.
// CANON-LABEL: @reshards(
// CANON: %[[R:.*]] = sdy.reshard %arg0 <@m, [{}, {}]>
// CANON-NEXT: return %[[R]]
func.func @reshards(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@m, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@m, [{}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@m, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %3 = sdy.reshard %2 <@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %4 = sdy.reshard %3 <@reversed, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %5 = sdy.reshard %4 <@m, [{}, {}]> : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// CHECK-LABEL: @partial(
// CHECK: sdy.all_reduce max {"y"} %arg0 out_sharding=<@m, [{"x"}]>
func.func @partial(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}], unreduced=max{"y"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@m, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CANON-LABEL: @scatter(
// CANON: %[[R:.*]] = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@m, [{"x"}, {}]>
// CANON-NEXT: %[[S:.*]] = sdy.all_slice [{}, {"y"}] %[[R]] out_sharding=<@m, [{"x"}, {"y"}]>
// CANON-NEXT: return %[[S]]
func.func @scatter(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {"y"}] %0 out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CANON-LABEL: @nothing(
// CANON-NEXT: return %arg0
func.func @nothing(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@m, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@m, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CANON-LABEL: @together(
// CANON: sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %arg0
// CANON-NEXT: return
func.func @together(%a: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {"y"}, {}]>}) -> tensor<8x8x8x8xf32> {
  %0 = sdy.all_to_all [{"y"}: 2->3] %a out_sharding=<@m, [{"x"}, {}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@m, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}
