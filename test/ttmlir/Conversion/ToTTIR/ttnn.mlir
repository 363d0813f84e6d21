// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --ttnn-fusing -o %t.mlir
// RUN: ttmlir-opt %t.mlir --convert-ttnn-to-ttir | FileCheck %s
// What comes back is lowered to the same again.
// RUN: ttmlir-opt %t.mlir --convert-ttnn-to-ttir --convert-ttir-to-ttnn --ttnn-fusing --canonicalize -o %t2.mlir
// RUN: ttmlir-opt %t.mlir --canonicalize | diff - %t2.mlir

// CHECK-LABEL: @there_and_back
// CHECK-NOT: ttnn.get_device
// CHECK: %[[A:.*]] = "ttir.div"(%arg0, %arg1)
// CHECK-NEXT: %[[B:.*]] = "ttir.matmul"(%[[A]], %arg2) <{transpose_a = false, transpose_b = false}>
// CHECK-NEXT: %[[C:.*]] = "ttir.silu"(%[[B]])
// CHECK-NEXT: %[[D:.*]] = "ttir.rms_norm"(%[[C]], %arg3) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 16>, operandSegmentSizes = array<i32: 1, 1, 0>}>
// CHECK-NEXT: %[[E:.*]] = "ttir.cumsum"(%[[D]]) <{dim = 1 : i64}>
// CHECK-NEXT: %[[F:.*]] = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 4, 16>}>
// CHECK-NEXT: %[[G:.*]] = "ttir.pow"(%[[E]], %[[F]])
// CHECK-NEXT: "ttir.argmax"(%[[G]]) <{dim_arg = [1 : i32], keep_dim = true}>
// CHECK-NEXT: return
func.func @there_and_back(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %w: tensor<8x16xf32>, %g: tensor<16xf32>) -> tensor<4x1xi32> {
  %0 = "ttir.div"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.matmul"(%0, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %2 = "ttir.silu"(%1) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = "ttir.rms_norm"(%2, %g) <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 16>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %4 = "ttir.cumsum"(%3) <{dim = 1 : i64}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 4, 16>}> : () -> tensor<4x16xf32>
  %6 = "ttir.pow"(%4, %5) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %7 = "ttir.argmax"(%6) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x16xf32>) -> tensor<4x1xi32>
  return %7 : tensor<4x1xi32>
}
