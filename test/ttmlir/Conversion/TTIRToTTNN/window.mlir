// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn | FileCheck %s

// CHECK-LABEL: func.func @nhwc
func.func @nhwc(%x: tensor<2x20x24x6xbf16>, %w: tensor<10x3x3x5xbf16>, %b: tensor<1x1x1x10xbf16>) -> tensor<2x20x12x10xbf16> {
  // CHECK: %[[IN:.*]] = "ttnn.reshape"(%arg0) <{shape = [1 : i32, 1 : i32, 960 : i32, 6 : i32]}>
  // Padding [top, left, bottom, right] becomes [top, bottom, left, right].
  // CHECK: %[[OUT:.*]] = "ttnn.conv2d"(%[[IN]], %arg1, %arg2, %{{.*}}) <{batch_size = 2 : i32, dilation = array<i32: 1, 1>, groups = 2 : i32, in_channels = 6 : i32, input_height = 20 : i32, input_width = 24 : i32, kernel_size = array<i32: 3, 5>, out_channels = 10 : i32, padding = array<i32: 1, 1, 2, 2>, stride = array<i32: 1, 2>}> : {{.*}} -> tensor<1x1x480x10xbf16
  // CHECK: "ttnn.reshape"(%[[OUT]]) <{shape = [2 : i32, 20 : i32, 12 : i32, 10 : i32]}>
  %0 = "ttir.conv2d"(%x, %w, %b) <{dilation = array<i32: 1, 1>, groups = 2 : i32, padding = array<i32: 1, 2, 1, 2>, stride = array<i32: 1, 2>}> : (tensor<2x20x24x6xbf16>, tensor<10x3x3x5xbf16>, tensor<1x1x1x10xbf16>) -> tensor<2x20x12x10xbf16>
  return %0 : tensor<2x20x12x10xbf16>
}

// CHECK-LABEL: func.func @nchw
func.func @nchw(%x: tensor<1x4x16x16xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x14x14xf32> {
  // CHECK: "ttnn.permute"(%arg0) <{{{.*}}permutation = array<i64: 0, 2, 3, 1>}> : {{.*}} -> tensor<1x16x16x4xf32
  // CHECK: "ttnn.conv2d"{{.*}} -> tensor<1x1x196x8xf32
  // CHECK: "ttnn.permute"{{.*}}permutation = array<i64: 0, 3, 1, 2>}> : {{.*}} -> tensor<1x8x14x14xf32
  %0 = "ttir.conv2d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 2 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 3 : i64}> : (tensor<1x4x16x16xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x14x14xf32>
  return %0 : tensor<1x8x14x14xf32>
}

// A flattened input needs no reshape.
// CHECK-LABEL: func.func @flattened
// CHECK-NOT: ttnn.reshape
// CHECK: "ttnn.conv2d"(%arg0, {{.*}}batch_size = 2 : i32{{.*}}input_height = 16 : i32
// CHECK-NOT: ttnn.reshape
func.func @flattened(%x: tensor<1x1x512x4xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x1x512x8xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = 2, input_height = 16, input_width = 16>, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x1x512x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x1x512x8xf32>
  return %0 : tensor<1x1x512x8xf32>
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<2x18x22x12xbf16>) -> tensor<2x10x11x12xbf16> {
  // CHECK: "ttnn.max_pool2d"(%{{.*}}) <{batch_size = 2 : si32, ceil_mode = false, channels = 12 : si32, dilation = array<i32: 1, 1>, input_height = 18 : si32, input_width = 22 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>
  %0 = "ttir.max_pool2d"(%x) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<2x18x22x12xbf16>) -> tensor<2x9x11x12xbf16>
  // Padding that differs between sides is given in full.
  // CHECK: "ttnn.avg_pool2d"{{.*}}count_include_pad = false{{.*}}padding = array<i32: 1, 1, 0, 1>
  %1 = "ttir.avg_pool2d"(%0) <{ceil_mode = false, count_include_pad = false, dilation = 1 : i32, kernel = 2 : i32, padding = array<i32: 1, 0, 1, 1>, stride = 1 : i32}> : (tensor<2x9x11x12xbf16>) -> tensor<2x10x11x12xbf16>
  return %1 : tensor<2x10x11x12xbf16>
}
