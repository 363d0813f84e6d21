// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @conv(%x: tensor<2x20x24x6xbf16>, %w: tensor<10x3x3x5xbf16>, %b: tensor<1x1x1x10xbf16>) -> tensor<2x20x12x10xbf16> {
  // CHECK: "ttir.conv2d"{{.*}} <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 2 : i32, height_dim = 1 : i64, padding = array<i32: 1, 2, 1, 2>, stride = array<i32: 1, 2>, width_dim = 2 : i64}>
  %0 = "ttir.conv2d"(%x, %w, %b) <{dilation = array<i32: 1, 1>, groups = 2 : i32, padding = array<i32: 1, 2, 1, 2>, stride = array<i32: 1, 2>}> : (tensor<2x20x24x6xbf16>, tensor<10x3x3x5xbf16>, tensor<1x1x1x10xbf16>) -> tensor<2x20x12x10xbf16>
  return %0 : tensor<2x20x12x10xbf16>
}
func.func @conv_scalar_attrs(%x: tensor<1x16x16x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x16x16x8xf32> {
  // CHECK: "ttir.conv2d"{{.*}} <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 1 : i32, stride = 1 : i32, width_dim = 2 : i64}>
  %0 = "ttir.conv2d"(%x, %w) <{dilation = 1 : i32, groups = 1 : i32, padding = 1 : i32, stride = 1 : i32}> : (tensor<1x16x16x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x16x16x8xf32>
  return %0 : tensor<1x16x16x8xf32>
}
func.func @conv_nchw(%x: tensor<1x4x16x16xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x14x14xf32> {
  // CHECK: "ttir.conv2d"{{.*}} <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 2 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 3 : i64}>
  %0 = "ttir.conv2d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 2 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 3 : i64}> : (tensor<1x4x16x16xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x14x14xf32>
  return %0 : tensor<1x8x14x14xf32>
}
func.func @conv_flattened(%x: tensor<1x1x512x4xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x1x512x8xf32> {
  // CHECK: ttir.conv2d
  %0 = "ttir.conv2d"(%x, %w) <{dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = 2, input_height = 16, input_width = 16>, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x1x512x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x1x512x8xf32>
  return %0 : tensor<1x1x512x8xf32>
}
