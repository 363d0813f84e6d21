// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(insert-explicit-reshards{enable-full-version=true}))' | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards))' | FileCheck %s --check-prefix=SPARSE

sdy.mesh @m = <["x"=2, "y"=2]>
// The most elements stay where they are: those of %a and the result.
// CHECK-LABEL: @elementwise(
// CHECK: %[[B:.*]] = sdy.reshard %arg1 <@m, [{"x"}, {}]>
// CHECK: stablehlo.add %arg0, %[[B]]
// SPARSE-LABEL: @elementwise(
// SPARSE-NOT: reshard
func.func @elementwise(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Both ways say how partial products become the result.
// CHECK-LABEL: @contraction(
// CHECK: %[[D:.*]] = stablehlo.dot_general
// CHECK: sdy.all_reduce {"y"} %[[D]] out_sharding=<@m, [{}, {}]>
// SPARSE-LABEL: @contraction(
// SPARSE: sdy.all_reduce {"y"}
func.func @contraction(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"y", ?}]>}, %b: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"y", ?}, {?}]>}) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// A start that each device would add, and a product, need the whole dimension; a greatest value does not.
// CHECK-LABEL: @reductions(
// CHECK: sdy.all_reduce {"y"} %{{.*}} out_sharding=<@m, [{"x"}]>
// CHECK: %[[A:.*]] = sdy.reshard %arg0 <@m, [{"x"}, {}]>
// CHECK: stablehlo.reduce(%[[A]] init: %{{.*}}) applies stablehlo.add
// CHECK: sdy.all_reduce max {"y"}
// CHECK: %[[B:.*]] = sdy.reshard %arg0 <@m, [{"x"}, {}]>
// CHECK: stablehlo.reduce(%[[B]] init: %{{.*}}) applies stablehlo.multiply
func.func @reductions(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %o = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%a init: %o) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.reduce(%a init: %o) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.reduce(%a init: %o) applies stablehlo.multiply across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A dimension that must be whole gives its axes to one that need not.
// CHECK-LABEL: @whole(
// CHECK: %[[A:.*]] = sdy.reshard %arg0 <@m, [{}, {"x"}]>
// CHECK: %[[S:.*]] = stablehlo.slice %[[A]] {{.*}}<@m, [{}, {"x"}]>
// CHECK: sdy.reshard %[[S]] <@m, [{}, {}]>
func.func @whole(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<6x8xf32> {
  %0 = stablehlo.slice %a [1:7, 0:8] : (tensor<8x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// Nothing is known of the op, so all is whole.
// CHECK-LABEL: @unknown(
// CHECK: %[[A:.*]] = sdy.reshard %arg0 <@m, [{}]>
// CHECK: stablehlo.custom_call @unknown(%[[A]])
func.func @unknown(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A rule of the user is not second-guessed.
// CHECK-LABEL: @custom(
// CHECK-NOT: reshard
func.func @custom(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %0 = stablehlo.custom_call @unknown(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @one = <[], device_ids=[1]>
// expected-error@+1 {{'func.func' op argument 0 lies on a single device}}
func.func @single_device(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, []>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
