// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --stablehlo-pipeline | FileCheck %s

// JAX says with `num_batch_dims` along which dimensions a call may be computed in parts; its rule has the dimensions of
// the matrix as factors of their own.

// CHECK-LABEL: func.func @rows
// CHECK: %[[WHOLE:.*]] = "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 1
// CHECK: stablehlo.custom_call @lapack_ssyevd_ffi(%[[WHOLE]])
// CHECK-SAME: -> (tensor<4x8x8xf32>, tensor<4x8xf32>, tensor<4xi32>)
sdy.mesh @m = <["x"=2]>
func.func @rows(%a: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}) -> tensor<4x8xf32> {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=4, j=8, k=8, l=8, m=8, n=8}, custom>} : (tensor<4x8x8xf32>) -> (tensor<4x8x8xf32>, tensor<4x8xf32>, tensor<4xi32>)
  return %0#1 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @batch
// CHECK-NOT: all_gather"(%arg0
// CHECK: stablehlo.custom_call @lapack_ssyevd_ffi
// CHECK-SAME: -> (tensor<2x8x8xf32>, tensor<2x8xf32>, tensor<2xi32>)
sdy.mesh @m = <["x"=2]>
func.func @batch(%a: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}) -> tensor<4x8xf32> {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=4, j=8, k=8, l=8, m=8, n=8}, custom>} : (tensor<4x8x8xf32>) -> (tensor<4x8x8xf32>, tensor<4x8xf32>, tensor<4xi32>)
  return %0#1 : tensor<4x8xf32>
}

// -----

// What is no number says nothing.
// CHECK-LABEL: func.func @unknown
// CHECK: stablehlo.custom_call @other
// CHECK-SAME: -> tensor<2x8xf32>
sdy.mesh @m = <["x"=2]>
func.func @unknown(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @other(%a) {mhlo.frontend_attributes = {num_batch_dims = "-1"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
