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

// -----

// A pivot is chosen by the norms of the columns; a column with a number other than 0 comes first.
// CHECK-LABEL: func.func @geqp3
// CHECK-NOT: custom_call
// CHECK: stablehlo.while
// CHECK: stablehlo.constant dense<0x7F800000> : tensor<2x1x3xf32>
func.func @geqp3(%a: tensor<2x4x3xf32>, %p: tensor<2x3xi32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>) {
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %p) {mhlo.backend_config = {}} : (tensor<2x4x3xf32>, tensor<2x3xi32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @gehrd
// CHECK-NOT: custom_call
// CHECK: stablehlo.while
func.func @gehrd(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, high = 3 : i32}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<3x3xf32>, tensor<2xf32>, tensor<i32>
}

// -----

// A matrix of one row has no reflectors, one of none no rows.
// CHECK-LABEL: func.func @small
// CHECK-NOT: stablehlo.while
// CHECK-NOT: custom_call
// CHECK: return
func.func @small(%a: tensor<1x1xf32>, %b: tensor<0x0xf32>) -> (tensor<1x1xf32>, tensor<0x0xf32>, tensor<0xf32>) {
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, high = 1 : i32}} : (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<0xf32>, tensor<i32>)
  %1:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%b) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<0x0xf32>) -> (tensor<0x0xf32>, tensor<0xf32>, tensor<i32>)
  return %0#0, %1#0, %1#1 : tensor<1x1xf32>, tensor<0x0xf32>, tensor<0xf32>
}

// -----

// The upper triangle is the lower one of the matrix in reverse order.
// CHECK-LABEL: func.func @sytrd
// CHECK: stablehlo.reverse %arg0, dims = [0, 1]
// CHECK-NOT: custom_call
// CHECK: stablehlo.while
// CHECK: stablehlo.reverse %{{.*}}, dims = [0, 1]
func.func @sytrd(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>) {
  %0:5 = stablehlo.custom_call @lapack_ssytrd_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<3x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>
}

// -----

// CHECK-LABEL: func.func @perturbed
// CHECK-NOT: custom_call
// CHECK: stablehlo.while
// CHECK: stablehlo.while
// CHECK: stablehlo.while
func.func @perturbed(%l: tensor<4xf32>, %d: tensor<4xf32>, %u: tensor<4xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%l, %d, %u, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
