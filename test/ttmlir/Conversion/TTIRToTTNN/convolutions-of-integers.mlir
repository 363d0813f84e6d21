// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics

func.func @weights(%x: tensor<1x8x8x4xf32>, %w: tensor<16x4x3x3xi32>) -> tensor<1x6x6x16xf32> {
  // expected-error @below {{'ttir.conv2d' is not lowered to TTNN: operand 1 is of 'si32', and the chip's convolutions are of floats; bring it to f32 by a ttir.typecast, and the result back}}
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x4xf32>, tensor<16x4x3x3xi32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// -----

func.func @images(%x: tensor<1x8x8x4xi8>, %w: tensor<4x16x3x3xi8>) -> tensor<1x10x10x16xi32> {
  // expected-error @below {{'ttir.conv_transpose2d' is not lowered to TTNN: operand 0 is of 'si32'}}
  %0 = "ttir.conv_transpose2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, output_padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x4xi8>, tensor<4x16x3x3xi8>) -> tensor<1x10x10x16xi32>
  return %0 : tensor<1x10x10x16xi32>
}
