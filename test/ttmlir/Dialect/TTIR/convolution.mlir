// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @transpose_conv(%x: tensor<1x9x11x16xf32>, %w: tensor<16x6x3x3xf32>) -> tensor<1x11x13x6xf32> {
  // CHECK: "ttir.conv_transpose2d"{{.*}} <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, output_padding = 0 : i32, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}>
  %0 = "ttir.conv_transpose2d"(%x, %w) <{dilation = 1 : i32, groups = 1 : i32, output_padding = 0 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x9x11x16xf32>, tensor<16x6x3x3xf32>) -> tensor<1x11x13x6xf32>
  return %0 : tensor<1x11x13x6xf32>
}
func.func @conv3(%x: tensor<1x6x8x10x4xf32>, %w: tensor<12x4x3x3x3xf32>) -> tensor<1x4x6x8x12xf32> {
  // CHECK: "ttir.conv3d"{{.*}} <{batch_dim = 0 : i64, channel_dim = 4 : i64, depth_dim = 1 : i64, groups = 1 : i32, height_dim = 2 : i64, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>, width_dim = 3 : i64}>
  %0 = "ttir.conv3d"(%x, %w) <{groups = 1 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x6x8x10x4xf32>, tensor<12x4x3x3x3xf32>) -> tensor<1x4x6x8x12xf32>
  return %0 : tensor<1x4x6x8x12xf32>
}
