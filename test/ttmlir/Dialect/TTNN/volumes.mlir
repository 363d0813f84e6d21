// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

// CHECK-LABEL: @sequences
func.func @sequences(%x: tensor<1x1x34x4xf32>, %y: tensor<2x17x4xf32>, %w: tensor<6x2x3xf32>, %image: tensor<6x2x3x1xf32>, %device: !ttnn.device) -> (tensor<1x1x16x6xf32>, tensor<1x1x16x6xf32>) {
  // CHECK: "ttnn.conv1d"{{.*}} <{batch_size = 2 : i32, dilation = 1 : i32, groups = 2 : i32, in_channels = 4 : i32, input_length = 17 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 2 : i32}>
  %0 = "ttnn.conv1d"(%x, %w, %device) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 2 : i32, in_channels = 4 : i32, input_length = 17 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 2 : i32}> : (tensor<1x1x34x4xf32>, tensor<6x2x3xf32>, !ttnn.device) -> tensor<1x1x16x6xf32>
  // CHECK: ttnn.conv1d
  %1 = "ttnn.conv1d"(%y, %image, %device) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 2 : i32, in_channels = 4 : i32, input_length = 17 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0, 0>, stride = 2 : i32}> : (tensor<2x17x4xf32>, tensor<6x2x3x1xf32>, !ttnn.device) -> tensor<1x1x16x6xf32>
  return %0, %1 : tensor<1x1x16x6xf32>, tensor<1x1x16x6xf32>
}

// CHECK-LABEL: @volumes
func.func @volumes(%x: tensor<1x6x8x10x4xbf16>, %w: tensor<12x4x3x3x3xbf16>, %b: tensor<1x12xbf16>, %device: !ttnn.device) -> (tensor<1x6x8x10x12xbf16>, tensor<1x4x6x8x12xbf16>) {
  // CHECK: "ttnn.conv3d"{{.*}} <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 6 : i32, input_height = 8 : i32, input_width = 10 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 12 : i32, padding = array<i32: 1, 1, 1>, padding_mode = "replicate", stride = array<i32: 1, 1, 1>}>
  %0 = "ttnn.conv3d"(%x, %w, %b, %device) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 6 : i32, input_height = 8 : i32, input_width = 10 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 12 : i32, padding = array<i32: 1, 1, 1>, padding_mode = "replicate", stride = array<i32: 1, 1, 1>}> : (tensor<1x6x8x10x4xbf16>, tensor<12x4x3x3x3xbf16>, tensor<1x12xbf16>, !ttnn.device) -> tensor<1x6x8x10x12xbf16>
  // Channels are filled up to 32: 27 places of 32.
  // CHECK: "ttnn.prepare_conv3d_weights"{{.*}} <{alignment = 32 : i32, c_in_block = 16 : i32, groups = 1 : i32}> {{.*}} -> tensor<864x12xbf16>
  %1 = "ttnn.prepare_conv3d_weights"(%w, %device) <{alignment = 32 : i32, c_in_block = 16 : i32, groups = 1 : i32}> : (tensor<12x4x3x3x3xbf16>, !ttnn.device) -> tensor<864x12xbf16>
  // CHECK: "ttnn.conv3d"{{.*}}conv3d_config = #ttnn.conv3d_config<c_in_block = 16>{{.*}}padding_mode = "zeros"
  %2 = "ttnn.conv3d"(%x, %1, %device) <{batch_size = 1 : i32, conv3d_config = #ttnn.conv3d_config<c_in_block = 16>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 6 : i32, input_height = 8 : i32, input_width = 10 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 12 : i32, padding = array<i32: 0, 0, 0, 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x6x8x10x4xbf16>, tensor<864x12xbf16>, !ttnn.device) -> tensor<1x4x6x8x12xbf16>
  return %0, %2 : tensor<1x6x8x10x12xbf16>, tensor<1x4x6x8x12xbf16>
}
