// RUN: ttmlir-opt %s --ttir-channels-last | FileCheck %s
// RUN: ttmlir-opt %s --ttir-channels-last --ttir-erase-inverse-ops | FileCheck %s --check-prefix=ERASED

// CHECK-LABEL: @two
// CHECK: "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}>
// CHECK: "ttir.conv2d"{{.*}}batch_dim = 0 : i64, channel_dim = 3 : i64{{.*}}height_dim = 1 : i64{{.*}}width_dim = 2 : i64{{.*}} -> tensor<1x8x8x6xf32>
// CHECK: "ttir.permute"({{.*}}) <{permutation = array<i64: 0, 3, 1, 2>}>
// Only the way in and the way out are left.
// ERASED-LABEL: @two
// ERASED: "ttir.permute"(%arg0)
// ERASED-NEXT: "ttir.conv2d"
// ERASED-NEXT: "ttir.relu"
// ERASED-NEXT: "ttir.conv2d"
// ERASED-NEXT: "ttir.permute"
// ERASED-NEXT: return
func.func @two(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %v: tensor<4x6x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0, channel_dim = 1, height_dim = 2, width_dim = 3}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = "ttir.relu"(%0) : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  %2 = "ttir.conv2d"(%1, %v) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0, channel_dim = 1, height_dim = 2, width_dim = 3}> : (tensor<1x6x8x8xf32>, tensor<4x6x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %2 : tensor<1x4x8x8xf32>
}
