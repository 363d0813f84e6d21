// RUN: ttmlir-opt %s --convert-ttir-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @negate(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
// CHECK: arith.negf
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Computed in f32, and rounded once.
// CHECK-LABEL: func.func @rounded
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @rounded(%x: tensor<4x1xbf16>, %y: tensor<3xbf16>) -> tensor<4x3xbf16> {
  %0 = "ttir.multiply"(%x, %y) : (tensor<4x1xbf16>, tensor<3xbf16>) -> tensor<4x3xbf16>
  return %0 : tensor<4x3xbf16>
}

// -----

// Whether there is a sign the ops know, not the types.
// CHECK-LABEL: func.func @unsigned(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) -> tensor<4xi32>
// CHECK: arith.extui
// CHECK: arith.maxsi %{{.*}} : i64
// CHECK: arith.trunci %{{.*}} : i64 to i32
func.func @unsigned(%x: tensor<4xui32>, %y: tensor<4xui32>) -> tensor<4xui32> {
  %0 = "ttir.maximum"(%x, %y) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// CHECK: #[[IN:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: func.func @moved
// CHECK: linalg.generic {indexing_maps = [#[[IN]],
// CHECK: tensor.collapse_shape {{.*}} : tensor<3x2xf32> into tensor<6xf32>
func.func @moved(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32]}> : (tensor<3x2xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Constants keep the source's type until they are lowered.
// CHECK-LABEL: func.func @constants
// CHECK: arith.constant dense<[2.500000e-01, -3.000000e+00]> : tensor<2xf32>
// CHECK: arith.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK: arith.constant dense<-1.500000e+00> : tensor<2xf32>
// CHECK: arith.constant dense<[7, -8]> : tensor<2xi32>
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xsi32>) {
  %0 = "ttir.constant"() <{value = dense<[0.25, -3.0]> : tensor<2xf16>}> : () -> tensor<2xf32>
  %1 = "ttir.constant"() <{value = dense_resource<halves> : tensor<2xf16>}> : () -> tensor<2xf32>
  %2 = "ttir.constant"() <{value = dense<-1.5> : tensor<2xf64>}> : () -> tensor<2xf32>
  %3 = "ttir.constant"() <{value = dense<[7, -8]> : tensor<2xi64>}> : () -> tensor<2xsi32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xsi32>
}

{-#
  dialect_resources: { builtin: { halves: "0x02000000003C00C0" } }
#-}
