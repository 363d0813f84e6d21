// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<4x?xf32>, %z: tensor<2xcomplex<f32>>) -> tensor<4x?xi1> {
  // CHECK: chlo.erfc %{{.*}} : tensor<4x?xf32> -> tensor<4x?xf32>
  %0 = chlo.erfc %x : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: chlo.asinh %{{.*}} : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %1 = chlo.asinh %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  // CHECK: chlo.is_inf %{{.*}} : tensor<4x?xf32> -> tensor<4x?xi1>
  %2 = chlo.is_inf %0 : tensor<4x?xf32> -> tensor<4x?xi1>
  return %2 : tensor<4x?xi1>
}

// CHECK-LABEL: @top_k
func.func @top_k(%x: tensor<3x8xbf16>) -> (tensor<3x2xbf16>, tensor<3x2xi32>) {
  // CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  // CHECK: chlo.top_k(%{{.*}}, k = 2, is_stable = false) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  %2, %3 = chlo.top_k(%x, k = 2, is_stable = false) : tensor<3x8xbf16> -> (tensor<3x2xbf16>, tensor<3x2xi32>)
  return %0, %1 : tensor<3x2xbf16>, tensor<3x2xi32>
}

// CHECK-LABEL: @ragged_dot
func.func @ragged_dot(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>, %g: tensor<3xi32>) -> tensor<6x2xf32> {
  // CHECK: "chlo.ragged_dot"(%{{.*}}) <{precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
                                                    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>]}>
    : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>
  return %0 : tensor<6x2xf32>
}

// CHECK-LABEL: @scan
func.func @scan(%x: tensor<5x3xf32>, %i: tensor<3xf32>) -> tensor<5x3xf32> {
  // CHECK: %{{.*}}, %{{.*}} = chlo.scan(%{{.*}}) inits (%{{.*}}) dimension = 0 attributes {is_reverse = true} {
  // CHECK: } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  %0:2 = chlo.scan(%x) inits (%i) dimension = 0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<3xf32>, %c: tensor<3xf32>):
    %n = stablehlo.add %a, %c : tensor<3xf32>
    stablehlo.return %n, %n : tensor<3xf32>, tensor<3xf32>
  } : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  // CHECK: chlo.scan() inits () dimension = 0 attributes {scan_dim_size = 2 : i64} {
  %1 = chlo.scan() inits () dimension = 0 attributes {scan_dim_size = 2 : i64} {
    %c = stablehlo.constant dense<1.0> : tensor<3xf32>
    stablehlo.return %c : tensor<3xf32>
  } : () -> tensor<2x3xf32>
  return %0#0 : tensor<5x3xf32>
}
