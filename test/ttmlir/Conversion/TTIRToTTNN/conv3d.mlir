// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --split-input-file | FileCheck %s

// Two layers of the kernel: two convolutions of images, summed in f32 and rounded once.
// CHECK-LABEL: @layers
// CHECK: "ttnn.pad"(%arg0){{.*}}padding = array<i32: 0, 0, 1, 1, 0, 0, 0, 0, 0, 0>{{.*}} -> tensor<1x6x8x8x3xbf16
// CHECK: "ttnn.slice_static"{{.*}}begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 5 : i32,{{.*}}step = [1 : i32, 2 : i32,
// CHECK: %[[A:.*]] = "ttnn.conv2d"({{.*}}, {{.*}}, {{.*}}, %{{.*}}) {{.*}}batch_size = 3 : i32{{.*}} -> tensor<1x1x192x4xf32
// CHECK: "ttnn.slice_static"{{.*}}begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 6 : i32
// CHECK: %[[B:.*]] = "ttnn.conv2d"({{.*}}, {{.*}}, %{{.*}}) {{.*}} -> tensor<1x1x192x4xf32
// CHECK: "ttnn.add"(%[[A]], %[[B]]) : {{.*}} -> tensor<1x1x192x4xbf16
// CHECK: "ttnn.reshape"{{.*}} -> tensor<1x3x8x8x4xbf16
func.func @layers(%x: tensor<1x4x8x8x3xbf16>, %w: tensor<4x3x2x3x3xbf16>, %b: tensor<1x1x1x1x4xbf16>) -> tensor<1x3x8x8x4xbf16> {
  %0 = "ttir.conv3d"(%x, %w, %b) <{stride = array<i32: 2, 1, 1>, padding = array<i32: 1, 1, 1>, groups = 1 : i32}> : (tensor<1x4x8x8x3xbf16>, tensor<4x3x2x3x3xbf16>, tensor<1x1x1x1x4xbf16>) -> tensor<1x3x8x8x4xbf16>
  return %0 : tensor<1x3x8x8x4xbf16>
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
