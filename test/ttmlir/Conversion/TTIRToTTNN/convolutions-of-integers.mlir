// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics | FileCheck %s

func.func @weights(%x: tensor<1x8x8x4xf32>, %w: tensor<16x4x3x3xi32>) -> tensor<1x6x6x16xf32> {
  // expected-error @below {{'ttir.conv2d' is not lowered to TTNN: operand 1 is of 'si32' and operand 0 of 'f32'; expected floats, or integers, in all of them: a ttir.typecast makes them so}}
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x4xf32>, tensor<16x4x3x3xi32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// -----

func.func @result(%x: tensor<1x2x8x8x4xi32>, %w: tensor<16x4x1x3x3xi32>) -> tensor<1x2x6x6x16xf32> {
  // expected-error @below {{'ttir.conv3d' is not lowered to TTNN: the result is of 'f32' and operand 0 of 'si32'; expected floats, or integers, in all of them}}
  %0 = "ttir.conv3d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, groups = 1 : i32}> : (tensor<1x2x8x8x4xi32>, tensor<16x4x1x3x3xi32>) -> tensor<1x2x6x6x16xf32>
  return %0 : tensor<1x2x6x6x16xf32>
}

// -----

// Integers of 8 bits are widened.
// CHECK-LABEL: @images
// CHECK: "ttnn.conv_transpose2d"{{.*}} : (tensor<1x1x64x4xsi32, {{.*}}>, tensor<4x16x3x3xsi32, {{.*}}>, !ttnn.device) -> tensor<1x1x100x16xsi32
func.func @images(%x: tensor<1x8x8x4xi8>, %w: tensor<4x16x3x3xi8>) -> tensor<1x10x10x16xi32> {
  %0 = "ttir.conv_transpose2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, output_padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x4xi8>, tensor<4x16x3x3xi8>) -> tensor<1x10x10x16xi32>
  return %0 : tensor<1x10x10x16xi32>
}
