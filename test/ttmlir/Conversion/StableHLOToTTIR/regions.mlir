// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --stablehlo-inline-region-calls --expand-stablehlo --verify-diagnostics | FileCheck %s

// Calls in regions are inlined, with what they call; others stay.
// CHECK-LABEL: func.func @reduce
// CHECK: call @larger
// CHECK-NOT: call @
// CHECK: stablehlo.reduce{{.*}} applies stablehlo.maximum
func.func @reduce(%x: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0 = func.call @larger(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %2 = func.call @outer(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }
  return %1 : tensor<f32>
}
func.func private @outer(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = func.call @larger(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.maximum %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A function of elements that indices name, each as often as it is named.
// CHECK-LABEL: func.func @apply
// CHECK: %[[COUNTS:.*]] = "stablehlo.scatter"
// CHECK: stablehlo.add
// CHECK: stablehlo.while(%{{.*}} = %[[COUNTS]], %{{.*}} = %arg0)
// CHECK: stablehlo.sine {{.*}} : tensor<5xf32>
func.func @apply(%x: tensor<5xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<5xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// Elements that differ have one update each; its formula takes both.
// CHECK-LABEL: func.func @unique
// CHECK-NOT: stablehlo.while
// CHECK: stablehlo.select
func.func @unique(%x: tensor<5xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    %2 = stablehlo.divide %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<5xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @endless(%x: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  %1 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %2 = func.call @again(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }
  return %1 : tensor<f32>
}
func.func private @again(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{func.call: @again is not inlined: it is called without end}}
  %0 = func.call @again(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A mask that leaves what a narrower type keeps; the chip holds 64-bit integers in 32 bits, without this one.
// CHECK-LABEL: @low_words
// CHECK-NEXT: %[[WORDS:.*]] = stablehlo.convert %arg0 : (tensor<2xi64>) -> tensor<2xui32>
// CHECK-NEXT: return %[[WORDS]]
func.func @low_words(%x: tensor<2xi64>) -> tensor<2xui32> {
  %all = stablehlo.constant dense<4294967295> : tensor<i64>
  %mask = stablehlo.broadcast_in_dim %all, dims = [] : (tensor<i64>) -> tensor<2xi64>
  %low = stablehlo.and %mask, %x : tensor<2xi64>
  %words = stablehlo.convert %low : (tensor<2xi64>) -> tensor<2xui32>
  return %words : tensor<2xui32>
}

// -----

// CHECK-LABEL: @fewer_bits
// CHECK: stablehlo.and
func.func @fewer_bits(%x: tensor<i64>) -> tensor<ui32> {
  %mask = stablehlo.constant dense<65535> : tensor<i64>
  %low = stablehlo.and %x, %mask : tensor<i64>
  %word = stablehlo.convert %low : (tensor<i64>) -> tensor<ui32>
  return %word : tensor<ui32>
}

// -----

// A call whose results are not all tensors of numbers is left.
// CHECK-LABEL: func.func @tiles
// CHECK: stablehlo.custom_call @lapack_sgehrd_ffi
func.func @tiles(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>, tensor<!ttcore.tile<32x32, bf16>>) {
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, high = 3 : i32}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>, tensor<!ttcore.tile<32x32, bf16>>)
  return %0#0, %0#1, %0#2 : tensor<3x3xf32>, tensor<2xf32>, tensor<!ttcore.tile<32x32, bf16>>
}
