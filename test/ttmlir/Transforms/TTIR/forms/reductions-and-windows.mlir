// RUN: ttmlir-opt %s --ttir-reduction-force-keep-dim --ttir-flatten-sliding-window | FileCheck %s
// RUN: ttmlir-opt %s --ttir-reduction-force-keep-dim --ttir-flatten-sliding-window --ttir-reduction-force-keep-dim --ttir-flatten-sliding-window | FileCheck %s
// RUN: ttmlir-opt %s --ttir-reduction-force-keep-dim --ttir-flatten-sliding-window --ttir-to-ttnn-backend-pipeline -o /dev/null

// CHECK-LABEL: func.func @reductions
// CHECK: %[[S:.*]] = "ttir.sum"(%arg0) <{dim_arg = [-1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK: "ttir.reshape"(%[[S]]) <{shape = [4 : i32]}> : (tensor<4x1xf32>) -> tensor<4xf32>
// CHECK: %[[M:.*]] = "ttir.max"(%arg0) <{keep_dim = true}> : (tensor<4x8xf32>) -> tensor<1x1xf32>
// CHECK: "ttir.reshape"(%[[M]]) <{shape = []}> : (tensor<1x1xf32>) -> tensor<f32>
// CHECK: %[[A:.*]] = "ttir.argmax"(%arg0) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<1x8xi32>
// CHECK: "ttir.reshape"(%[[A]])
func.func @reductions(%a: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<8xi32>) {
  %0 = "ttir.sum"(%a) <{dim_arg = [-1 : i32], keep_dim = false}> : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = "ttir.max"(%a) <{keep_dim = false}> : (tensor<4x8xf32>) -> tensor<f32>
  %2 = "ttir.argmax"(%a) <{dim_arg = [0 : i32], keep_dim = false}> : (tensor<4x8xf32>) -> tensor<8xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<f32>, tensor<8xi32>
}

// What keeps them already, and a scalar.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: ttir.reshape
func.func @kept(%a: tensor<4x8xf32>, %b: tensor<f32>) -> (tensor<4x1xf32>, tensor<f32>) {
  %0 = "ttir.mean"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = "ttir.sum"(%b) <{keep_dim = false}> : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<4x1xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @pool
// CHECK: %[[F:.*]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 1 : i32, 128 : i32, 3 : i32]}>
// CHECK: %[[P:.*]] = "ttir.max_pool2d"(%[[F]]) <{{.*}}flattened_compat_info = #ttir<flattened_compat batch_size = 2, input_height = 8, input_width = 8>{{.*}}(tensor<1x1x128x3xf32>) -> tensor<1x1x32x3xf32>
// CHECK: %[[R:.*]] = "ttir.reshape"(%[[P]]) <{shape = [2 : i32, 4 : i32, 4 : i32, 3 : i32]}>
// CHECK: return %[[R]]
func.func @pool(%a: tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32> {
  %0 = "ttir.max_pool2d"(%a) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32>
  return %0 : tensor<2x4x4x3xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK: "ttir.conv2d"({{.*}}) <{{.*}}flattened_compat_info{{.*}}(tensor<1x1x64x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x1x36x6xf32>
// CHECK: "ttir.reshape"({{.*}}) -> tensor<1x6x6x6xf32>
func.func @convolution(%a: tensor<1x8x8x3xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32> {
  %0 = "ttir.conv2d"(%a, %w) <{dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x8x8x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  return %0 : tensor<1x6x6x6xf32>
}

// Other orders are for ttir-channels-last.
// CHECK-LABEL: func.func @channels_first
// CHECK-NOT: ttir.reshape
func.func @channels_first(%a: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32> {
  %0 = "ttir.conv2d"(%a, %w) <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 2 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 3 : i64}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  return %0 : tensor<1x6x6x6xf32>
}
