// RUN: ttmlir-opt %s --ttir-fusing --split-input-file | FileCheck %s

// A block that was trained with two branches: the smaller window is in the middle of the larger one.
// CHECK-LABEL: @middle
// CHECK: %[[P:.*]] = "ttir.pad"(%arg2) <{padding = array<i32: 0, 0, 0, 0, 1, 1, 1, 1>, value = 0.000000e+00 : f32}> : (tensor<6x4x1x1xf32>) -> tensor<6x4x3x3xf32>
// CHECK: %[[W:.*]] = "ttir.add"(%arg1, %[[P]]) : (tensor<6x4x3x3xf32>, tensor<6x4x3x3xf32>) -> tensor<6x4x3x3xf32>
// CHECK: %[[B:.*]] = "ttir.add"(%arg3, %arg4) : (tensor<1x1x1x6xf32>, tensor<1x1x1x6xf32>) -> tensor<1x1x1x6xf32>
// CHECK: %[[Y:.*]] = "ttir.conv2d"(%arg0, %[[W]], %[[B]])
// CHECK-SAME: padding = array<i32: 1, 1>
// CHECK-NOT: ttir.conv2d
// CHECK: return %[[Y]]
func.func @middle(%x: tensor<1x8x8x4xf32>, %v: tensor<6x4x3x3xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %w: tensor<6x4x1x1xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %a: tensor<1x1x1x6xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %b: tensor<1x1x1x6xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<1x8x8x6xf32> {
  %0 = "ttir.conv2d"(%x, %w, %b) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = 0 : i32, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x1x1xf32>, tensor<1x1x1x6xf32>) -> tensor<1x8x8x6xf32>
  %1 = "ttir.conv2d"(%x, %v, %a) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>, tensor<1x1x1x6xf32>) -> tensor<1x8x8x6xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
  return %2 : tensor<1x8x8x6xf32>
}

// -----

// Dilated windows of 3 x 3 and 1 x 3, and a bias of one of them.
// CHECK-LABEL: @dilated
// CHECK: "ttir.pad"(%arg2) <{padding = array<i32: 0, 0, 0, 0, 1, 1, 0, 0>
// CHECK: "ttir.conv2d"(%arg0, %{{.*}}, %arg3)
// CHECK-NOT: ttir.conv2d
func.func @dilated(%x: tensor<1x8x8x4xf32>, %v: tensor<6x4x3x3xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %w: tensor<6x4x1x3xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %b: tensor<1x1x1x6xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<1x8x8x6xf32> {
  %0 = "ttir.conv2d"(%x, %v) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 2, 2>, groups = 1 : i32, padding = array<i32: 2, 2>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32>
  %1 = "ttir.conv2d"(%x, %w, %b) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 2, 2>, groups = 1 : i32, padding = array<i32: 0, 2>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x1x3xf32>, tensor<1x1x1x6xf32>) -> tensor<1x8x8x6xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
  return %2 : tensor<1x8x8x6xf32>
}

// -----

// Weights that are no constants, and windows of which neither contains the other.
// CHECK-LABEL: @others
// CHECK-COUNT-4: ttir.conv2d
func.func @others(%x: tensor<1x8x8x4xf32>, %v: tensor<6x4x3x1xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %w: tensor<6x4x1x3xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %u: tensor<6x4x1x1xf32>) -> (tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>) {
  %0 = "ttir.conv2d"(%x, %v) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 1, 0>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x3x1xf32>) -> tensor<1x8x8x6xf32>
  %1 = "ttir.conv2d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 0, 1>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x1x3xf32>) -> tensor<1x8x8x6xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
  %3 = "ttir.conv2d"(%x, %v) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 1, 0>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x3x1xf32>) -> tensor<1x8x8x6xf32>
  %4 = "ttir.conv2d"(%x, %u) <{batch_dim = 0 : i64, channel_dim = 3 : i64, height_dim = 1 : i64, width_dim = 2 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x8x8x4xf32>, tensor<6x4x1x1xf32>) -> tensor<1x8x8x6xf32>
  %5 = "ttir.add"(%3, %4) : (tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
  return %2, %5 : tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>
}
