// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --split-input-file | FileCheck %s

// Volumes lie in row-major order, in which a pixel takes no more than its channels.
// CHECK-LABEL: @volumes
// CHECK: %[[D:.*]] = "ttnn.get_device"
// CHECK: %[[X:.*]] = "ttnn.to_layout"(%arg0)
// CHECK: %[[B:.*]] = "ttnn.reshape"(%arg2){{.*}} -> tensor<1x4xbf16
// CHECK: %[[Y:.*]] = "ttnn.conv3d"(%[[X]], %arg1, %[[B]], %[[D]]) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 3 : i32, input_depth = 4 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 2, 3, 3>, out_channels = 4 : i32, padding = array<i32: 1, 1, 1>, padding_mode = "zeros", stride = array<i32: 2, 1, 1>}>
// CHECK: "ttnn.to_layout"(%[[Y]]){{.*}} -> tensor<1x3x8x8x4xbf16
func.func @volumes(%x: tensor<1x4x8x8x3xbf16>, %w: tensor<4x3x2x3x3xbf16>, %b: tensor<1x1x1x1x4xbf16>) -> tensor<1x3x8x8x4xbf16> {
  %0 = "ttir.conv3d"(%x, %w, %b) <{stride = array<i32: 2, 1, 1>, padding = array<i32: 1, 1, 1>, groups = 1 : i32}> : (tensor<1x4x8x8x3xbf16>, tensor<4x3x2x3x3xbf16>, tensor<1x1x1x1x4xbf16>) -> tensor<1x3x8x8x4xbf16>
  return %0 : tensor<1x3x8x8x4xbf16>
}

// -----

// TTIR has the paddings before all dimensions first, TTNN the two of each dimension side by side.
// CHECK-LABEL: @channels_first
// CHECK: "ttnn.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 4, 1>}>
// CHECK: "ttnn.conv3d"{{.*}}padding = array<i32: 1, 1, 0, 2, 2, 0>, padding_mode = "replicate"
// CHECK: "ttnn.permute"{{.*}} <{permutation = array<i64: 0, 4, 1, 2, 3>}>
func.func @channels_first(%x: tensor<1x3x4x8x8xbf16>, %w: tensor<4x3x2x3x3xbf16>) -> tensor<1x4x3x8x8xbf16> {
  %0 = "ttir.conv3d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 1 : i64, depth_dim = 2 : i64, height_dim = 3 : i64, width_dim = 4 : i64, stride = array<i32: 2, 1, 1>, padding = array<i32: 1, 0, 2, 1, 2, 0>, groups = 1 : i32, padding_mode = "replicate"}> : (tensor<1x3x4x8x8xbf16>, tensor<4x3x2x3x3xbf16>) -> tensor<1x4x3x8x8xbf16>
  return %0 : tensor<1x4x3x8x8xbf16>
}

// -----

// CHECK-LABEL: @dilated
// CHECK: "ttnn.conv3d"{{.*}}dilation = array<i32: 2, 2, 2>,
func.func @dilated(%x: tensor<1x4x8x8x3xbf16>, %w: tensor<4x3x2x3x3xbf16>) -> tensor<1x2x4x4x4xbf16> {
  %0 = "ttir.conv3d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 2 : i32, groups = 1 : i32}> : (tensor<1x4x8x8x3xbf16>, tensor<4x3x2x3x3xbf16>) -> tensor<1x2x4x4x4xbf16>
  return %0 : tensor<1x2x4x4x4xbf16>
}

// -----

// CHECK-LABEL: @transposed
// CHECK: "ttnn.to_layout"(%arg0)
// CHECK: "ttnn.conv_transpose3d"{{.*}} <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 2>, groups = 2 : i32, in_channels = 4 : i32, input_depth = 3 : i32, input_height = 4 : i32, input_width = 5 : i32, kernel_size = array<i32: 2, 3, 2>, out_channels = 6 : i32, output_padding = array<i32: 1, 0, 0>, padding = array<i32: 0, 0, 1, 0, 0, 1>, stride = array<i32: 2, 1, 2>}>
// CHECK: "ttnn.to_layout"
func.func @transposed(%x: tensor<1x3x4x5x4xbf16>, %w: tensor<4x3x2x3x2xbf16>) -> tensor<1x7x5x10x6xbf16> {
  %0 = "ttir.conv_transpose3d"(%x, %w) <{stride = array<i32: 2, 1, 2>, padding = array<i32: 0, 1, 0, 0, 0, 1>, output_padding = array<i32: 1, 0, 0>, dilation = array<i32: 1, 1, 2>, groups = 2 : i32}> : (tensor<1x3x4x5x4xbf16>, tensor<4x3x2x3x2xbf16>) -> tensor<1x7x5x10x6xbf16>
  return %0 : tensor<1x7x5x10x6xbf16>
}

// -----

// CHECK-LABEL: @pool_with_indices
// CHECK: %[[V:.*]], %[[I:.*]] = "ttnn.max_pool2d_with_indices"
// CHECK: "ttnn.reshape"(%[[V]])
// CHECK: "ttnn.reshape"(%[[I]])
func.func @pool_with_indices(%x: tensor<1x8x8x3xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x4x4x3xi32>) {
  %0, %1 = "ttir.max_pool2d_with_indices"(%x) <{kernel = 2 : i32, stride = 2 : i32, dilation = 1 : i32, padding = 0 : i32, ceil_mode = false}> : (tensor<1x8x8x3xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x4x4x3xi32>)
  return %0, %1 : tensor<1x4x4x3xf32>, tensor<1x4x4x3xi32>
}

// -----

// A pool over the rows and columns of each slice, and one over slices; places are those of the slice that was chosen.
// CHECK-LABEL: @pool_of_volumes
// CHECK: %[[V:.*]], %[[I:.*]] = "ttnn.max_pool2d_with_indices"(%{{.*}}) <{batch_size = 12 : si32, ceil_mode = false, channels = 4 : si32, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 10 : si32, kernel_size = array<i32: 3, 2>, padding = array<i32: 1, 0, 0, 1>, reallocate_halo_output = true, stride = array<i32: 2, 2>}>
// CHECK: %[[W:.*]], %[[J:.*]] = "ttnn.max_pool2d_with_indices"(%[[V]]) <{batch_size = 2 : si32, ceil_mode = false, channels = 4 : si32, dilation = array<i32: 1, 1>, input_height = 6 : si32, input_width = 20 : si32, kernel_size = array<i32: 2, 1>, padding = array<i32: 1, 0>, reallocate_halo_output = true, stride = array<i32: 2, 1>}>
// CHECK: "ttnn.arange"{{.*}}end = 480 : si64, start = 0 : si64, step = 80 : si64
// CHECK: "ttnn.add"
// CHECK: "ttnn.gather"({{.*}}dim = 1
func.func @pool_of_volumes(%x: tensor<2x6x8x10x4xf32>) -> (tensor<2x4x4x5x4xf32>, tensor<2x4x4x5x4xi32>) {
  %0, %1 = "ttir.max_pool3d_with_indices"(%x) <{kernel = array<i32: 2, 3, 2>, stride = 2 : i32, dilation = 1 : i32, padding = array<i32: 1, 1, 0, 1, 0, 1>, ceil_mode = false}> : (tensor<2x6x8x10x4xf32>) -> (tensor<2x4x4x5x4xf32>, tensor<2x4x4x5x4xi32>)
  return %0, %1 : tensor<2x4x4x5x4xf32>, tensor<2x4x4x5x4xi32>
}
