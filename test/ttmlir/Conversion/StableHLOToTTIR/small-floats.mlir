// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --stablehlo-legalize-small-floats --canonicalize --verify-diagnostics | FileCheck %s

// What moves elements is not rounded.
// CHECK-LABEL: func.func @moved(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0
// CHECK-NEXT: return %[[T]]
func.func @moved(%x: tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
  return %0 : tensor<3x2xf8E4M3FN>
}

// -----

// A sum is one of f32, and rounded: 448 is the largest number, what is above becomes NaN.
// CHECK-LABEL: func.func @sum(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
// CHECK-DAG: %[[LARGEST:.*]] = stablehlo.constant dense<1138753536> : tensor<4xui32>
// CHECK-DAG: %[[NAN:.*]] = stablehlo.constant dense<2143289344> : tensor<4xui32>
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg1 : tensor<4xf32>
// CHECK: stablehlo.bitcast_convert %[[SUM]] : (tensor<4xf32>) -> tensor<4xui32>
// CHECK: %[[ABOVE:.*]] = stablehlo.compare GT, %[[ROUNDED:.*]], %[[LARGEST]]
// CHECK: stablehlo.select %[[ABOVE]], %[[NAN]], %[[ROUNDED]]
// CHECK: %[[RESULT:.*]] = stablehlo.bitcast_convert {{.*}} -> tensor<4xf32>
// CHECK-NEXT: return %[[RESULT]]
func.func @sum(%x: tensor<4xf8E4M3FN>, %y: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.add %x, %y : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

// A product that gives f32 has nothing to round, and a conversion to f32 nothing to do.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return
func.func @product(%x: tensor<2x3xf8E5M2>, %y: tensor<3x4xf8E4M3FN>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf8E5M2>, tensor<3x4xf8E4M3FN>) -> tensor<2x4xf32>
  %1 = stablehlo.convert %x : (tensor<2x3xf8E5M2>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x3xf32>
}

// -----

// Loops carry f32, constants are the numbers, regions of reductions do not round.
// CHECK-LABEL: func.func @loop(%arg0: tensor<8xf32>, %arg1: tensor<i1>) -> tensor<f32>
// CHECK-DAG: stablehlo.constant dense<1.500000e+00> : tensor<f32>
// CHECK: stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}) : tensor<f32>
func.func @loop(%x: tensor<8xf8E5M2FNUZ>, %p: tensor<i1>) -> tensor<f8E5M2FNUZ> {
  %c = stablehlo.constant dense<1.5> : tensor<f8E5M2FNUZ>
  %s = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8xf8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> tensor<f8E5M2FNUZ>
  %0 = stablehlo.while(%v = %s) : tensor<f8E5M2FNUZ>
    cond { stablehlo.return %p : tensor<i1> }
    do { stablehlo.return %v : tensor<f8E5M2FNUZ> }
  return %0 : tensor<f8E5M2FNUZ>
}

// -----

// CHECK-LABEL: func.func @bits(%arg0: tensor<4xf32>) -> tensor<4xui8>
// CHECK: stablehlo.convert {{.*}} : (tensor<4xui32>) -> tensor<4xui8>
func.func @bits(%x: tensor<4xf8E4M3FNUZ>) -> tensor<4xui8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf8E4M3FNUZ>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// The bits of the f32, not those of the small float that it was.
// CHECK-LABEL: func.func @bits_of_converted(%arg0: tensor<4xf32>) -> tensor<4xui32>
// CHECK: stablehlo.bitcast_convert {{.*}} : (tensor<4xf32>) -> tensor<4xui32>
// CHECK-NEXT: return
func.func @bits_of_converted(%x: tensor<4xf8E4M3FN>) -> tensor<4xui32> {
  %0 = stablehlo.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4xui32>
  return %1 : tensor<4xui32>
}

// -----

func.func @next(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @+1 {{chlo.next_after: the next number of type 'f8E4M3FN' is not lowered; expected f32 or wider}}
  %0 = chlo.next_after %x, %x : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @dynamic(%x: tensor<?xf8E4M3FN>) -> tensor<?xf8E4M3FN> {
  // expected-error @+1 {{stablehlo.add: 'tensor<?xf8E4M3FN>' is not rounded; expected a ranked tensor of static shape}}
  %0 = stablehlo.add %x, %x : tensor<?xf8E4M3FN>
  return %0 : tensor<?xf8E4M3FN>
}
