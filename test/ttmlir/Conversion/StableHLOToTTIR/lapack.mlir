// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --expand-stablehlo | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --stablehlo-to-ttir-pipeline | FileCheck %s --check-prefix=TTIR

// TTIR-NOT: stablehlo

// The factor is NaN from the first pivot on that is not positive: the second result is its number, or 0.
// CHECK-LABEL: func.func @potrf
// CHECK: %[[NAN:.*]] = stablehlo.compare NE, %[[FACTOR:[0-9a-z_]+]], %[[FACTOR]] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>)
// CHECK: %[[HERE:.*]] = stablehlo.and %{{.*}}, %[[NAN]]
// CHECK: %[[FIRST:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x1x1xi32>) -> tensor<2xi32>
// CHECK: %[[NONE:.*]] = stablehlo.compare GT, %[[FIRST]]
// CHECK: %[[INFO:.*]] = stablehlo.select %[[NONE]], %{{.*}}, %[[FIRST]]
// CHECK: return %[[FACTOR]], %[[INFO]]
func.func @potrf(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x3x3xf32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @empty
// CHECK: stablehlo.constant dense<0> : tensor<i32>
func.func @empty(%a: tensor<0x0xf32>) -> (tensor<0x0xf32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<0x0xf32>) -> (tensor<0x0xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<0x0xf32>, tensor<i32>
}

// -----

// CHECK-LABEL: func.func @trsm
// CHECK-NOT: custom_call
func.func @trsm(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @permutation
// CHECK: stablehlo.while
// CHECK: return %{{.*}} : tensor<2x4x4xf32>
func.func @permutation(%pivots: tensor<2x3xi32>) -> tensor<2x4x4xf32> {
  %0 = stablehlo.custom_call @tt.permutation_of_pivots(%pivots) : (tensor<2x3xi32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// JAX ends functions that custom calls name as regions end.
// TTIR-LABEL: func.func private @larger
// TTIR: return %{{.*}} : tensor<i1>
func.func private @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
