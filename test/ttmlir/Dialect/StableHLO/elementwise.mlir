// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | FileCheck %s

// One type for all operands and the result is written once.
// CHECK-LABEL: @one_type
func.func @one_type(%a: tensor<6x14xf32>, %b: tensor<6x14xf32>) -> tensor<6x14xf32> {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<6x14xf32>
  %0 = stablehlo.add %a, %b : tensor<6x14xf32>
  // CHECK: stablehlo.tanh %{{.*}} : tensor<6x14xf32>
  %1 = stablehlo.tanh %0 : (tensor<6x14xf32>) -> tensor<6x14xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<6x14xf32>
  %2 = stablehlo.clamp %a, %1, %b : tensor<6x14xf32>
  return %2 : tensor<6x14xf32>
}

// CHECK-LABEL: @several_types
func.func @several_types(%a: tensor<4xf32>, %s: tensor<f32>, %c: tensor<4xcomplex<f32>>, %p: tensor<i1>) {
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: stablehlo.clamp %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.abs %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.abs %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
  %3 = stablehlo.complex %a, %2 : tensor<4xcomplex<f32>>
  // CHECK: stablehlo.select %{{.*}} : tensor<i1>, tensor<4xf32>
  %4 = stablehlo.select %p, %a, %1 : tensor<i1>, tensor<4xf32>
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %5 = stablehlo.is_finite %4 : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @attributes
func.func @attributes(%a: tensor<4xf32>, %b: tensor<4xui8>) {
  // CHECK: stablehlo.compare  LT, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare LT, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare  EQ, %{{.*}}, %{{.*}},  UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %1 = stablehlo.compare EQ, %b, %b, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<ulps = 4, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %2 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<ulps = 4, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  // CHECK: stablehlo.sine %{{.*}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %3 = stablehlo.sine %a {result_accuracy = #stablehlo.result_accuracy<atol = 0.001, mode = <TOLERANCE>>} : tensor<4xf32>
  // The default is not written.
  // CHECK: stablehlo.log %{{[^{]*}} : tensor<4xf32>
  %4 = stablehlo.log %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4xf32>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<4xf32>
  %5 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>
  return
}

// A dimension that one operand knows is known of the result.
// CHECK-LABEL: @dynamic
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<2x?xf32>) -> tensor<2x4xf32> {
  // CHECK: stablehlo.add %{{.*}} : (tensor<?x4xf32>, tensor<2x?xf32>) -> tensor<2x4xf32>
  %0 = stablehlo.add %a, %b : (tensor<?x4xf32>, tensor<2x?xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK: %cst = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
  %0 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  // CHECK: %c = stablehlo.constant {note} dense<true> : tensor<i1>
  %1 = stablehlo.constant {note} dense<true> : tensor<i1>
  // CHECK: stablehlo.iota dim = 1 : tensor<3x4xi32>
  %2 = stablehlo.iota dim = 1 : tensor<3x4xi32>
  return
}
