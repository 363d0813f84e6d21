// RUN: ttmlir-opt %s --convert-stablehlo-to-ttir | FileCheck %s --implicit-check-not=stablehlo.

// A start that changes nothing is dropped, any other is combined with the result.
// CHECK-LABEL: @reductions
// CHECK-SAME: (%{{.*}}: tensor<7x11xf32>, %[[START:.*]]: tensor<f32>)
func.func @reductions(%x: tensor<7x11xf32>, %start: tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK-NEXT: "ttir.sum"(%{{.*}}) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<7x11xf32>) -> tensor<7xf32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK-NEXT: %[[SUM:.*]] = "ttir.sum"
  // CHECK-NEXT: "ttir.add"(%[[SUM]], %[[START]]) : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %1 = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK-NEXT: "ttir.max"(%{{.*}}) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false}> : (tensor<7x11xf32>) -> tensor<f32>
  %2 = stablehlo.reduce(%x init: %lowest) across dimensions = [0, 1] : (tensor<7x11xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %m = stablehlo.maximum %b, %a : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }
  return %0, %1, %2 : tensor<7xf32>, tensor<7xf32>, tensor<f32>
}

// CHECK-LABEL: @any
func.func @any(%p: tensor<7x11xi1>) -> tensor<7xi1> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  // CHECK-NEXT: "ttir.reduce_or"(%{{.*}}) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<7x11xi1>) -> tensor<7xi1>
  %0 = stablehlo.reduce(%p init: %false) applies stablehlo.or across dimensions = [1] : (tensor<7x11xi1>, tensor<i1>) -> tensor<7xi1>
  return %0 : tensor<7xi1>
}

// CHECK-LABEL: @max_pool
func.func @max_pool(%x: tensor<1x20x20x6xf32>) -> tensor<1x10x11x6xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK-NEXT: "ttir.max_pool2d"(%{{.*}}) <{ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 2, 3>, padding = array<i32: 0, 1, 0, 2>, stride = array<i32: 2, 2>}> : (tensor<1x20x20x6xf32>) -> tensor<1x10x11x6xf32>
  %0 = "stablehlo.reduce_window"(%x, %lowest) <{padding = dense<[[0, 0], [0, 0], [1, 2], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x20x20x6xf32>, tensor<f32>) -> tensor<1x10x11x6xf32>
  return %0 : tensor<1x10x11x6xf32>
}

// A sum is a mean times the size of the window; channels move to the end.
// CHECK-LABEL: @sum_pool
func.func @sum_pool(%x: tensor<1x6x20x20xf32>) -> tensor<1x6x10x10xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 2, 3, 1>}>
  // CHECK-NEXT: "ttir.avg_pool2d"(%{{.*}}) <{{.*}}count_include_pad = true{{.*}}kernel = array<i32: 2, 2>{{.*}}> : (tensor<1x20x20x6xf32>) -> tensor<1x10x10x6xf32>
  // CHECK-NEXT: "ttir.full"() <{fill_value = 4.000000e+00 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  // CHECK-NEXT: "ttir.multiply"
  // CHECK-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x10x10x6xf32>) -> tensor<1x6x10x10xf32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x6x20x20xf32>, tensor<f32>) -> tensor<1x6x10x10xf32>
  return %0 : tensor<1x6x10x10xf32>
}

// The result's dimensions are in another order than the input's.
// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<2x15x17x8xf32>, %w: tensor<3x5x4x12xf32>) -> tensor<2x12x8x17xf32> {
  // CHECK-NEXT: %[[W:.*]] = "ttir.permute"(%{{.*}}) <{permutation = array<i64: 3, 2, 0, 1>}> : (tensor<3x5x4x12xf32>) -> tensor<12x4x3x5xf32>
  // CHECK-NEXT: "ttir.conv2d"(%{{.*}}, %[[W]]) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 2 : i32, height_dim = 1 : i64, padding = array<i32: 1, 2, 1, 2>, stride = array<i32: 2, 1>, width_dim = 2 : i64}> : {{.*}} -> tensor<2x8x17x12xf32>
  // CHECK-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x8x17x12xf32>) -> tensor<2x12x8x17xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[1, 1], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x15x17x8xf32>, tensor<3x5x4x12xf32>) -> tensor<2x12x8x17xf32>
  return %0 : tensor<2x12x8x17xf32>
}

// CHECK-LABEL: @sequences
func.func @sequences(%x: tensor<2x4x17xf32>, %w: tensor<6x2x3xf32>) -> tensor<2x6x9xf32> {
  // CHECK-NEXT: "ttir.conv1d"(%arg0, %arg1) <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = array<i32: 1>, groups = 2 : i32, length_dim = 2 : i64, padding = array<i32: 2, 1>, stride = array<i32: 2>}>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[2, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x17xf32>, tensor<6x2x3xf32>) -> tensor<2x6x9xf32>
  return %0 : tensor<2x6x9xf32>
}

// CHECK-LABEL: @volumes
func.func @volumes(%x: tensor<1x4x5x6x3xf32>, %w: tensor<2x3x3x3x8xf32>) -> tensor<1x3x5x4x8xf32> {
  // CHECK-NEXT: %[[W:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 4, 3, 0, 1, 2>}>
  // CHECK-NEXT: "ttir.conv3d"(%arg0, %[[W]]) <{batch_dim = 0 : i64, channel_dim = 4 : i64, depth_dim = 1 : i64, groups = 1 : i32, height_dim = 2 : i64, padding = array<i32: 0, 1, 0, 0, 1, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>, width_dim = 3 : i64}>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {pad = [[0, 0], [1, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x6x3xf32>, tensor<2x3x3x3x8xf32>) -> tensor<1x3x5x4x8xf32>
  return %0 : tensor<1x3x5x4x8xf32>
}

// A dilated input: the kernel is the other way round, and its channels change places within each group.
// CHECK-LABEL: @transposed
func.func @transposed(%x: tensor<1x4x5x6xf32>, %w: tensor<6x2x3x2xf32>) -> tensor<1x6x9x14xf32> {
  // CHECK-NEXT: %[[W:.*]] = "ttir.reverse"(%arg1) <{dimensions = array<i64: 2, 3>}>
  // CHECK-NEXT: %[[G:.*]] = "ttir.reshape"(%[[W]]) {{.*}} -> tensor<2x3x2x3x2xf32>
  // CHECK-NEXT: %[[P:.*]] = "ttir.permute"(%[[G]]) <{permutation = array<i64: 0, 2, 1, 3, 4>}>
  // CHECK-NEXT: %[[K:.*]] = "ttir.reshape"(%[[P]]) {{.*}} -> tensor<4x3x3x2xf32>
  // CHECK-NEXT: "ttir.conv_transpose2d"(%arg0, %[[K]]) <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = array<i32: 1, 1>, groups = 2 : i32, height_dim = 2 : i64, output_padding = array<i32: 0, 3>, padding = array<i32: 1, 1, 1, 0>, stride = array<i32: 2, 2>, width_dim = 3 : i64}>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [0, 4]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x5x6xf32>, tensor<6x2x3x2xf32>) -> tensor<1x6x9x14xf32>
  return %0 : tensor<1x6x9x14xf32>
}

// CHECK-LABEL: @reversed
func.func @reversed(%x: tensor<1x4x5x6xf32>, %w: tensor<6x4x3x2xf32>) -> tensor<1x6x3x5xf32> {
  // CHECK-NEXT: %[[W:.*]] = "ttir.reverse"(%arg1) <{dimensions = array<i64: 2>}>
  // CHECK-NEXT: "ttir.conv2d"(%arg0, %[[W]])
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x6xf32>, tensor<6x4x3x2xf32>) -> tensor<1x6x3x5xf32>
  return %0 : tensor<1x6x3x5xf32>
}

// CHECK-LABEL: @transposed_in_one_group
func.func @transposed_in_one_group(%x: tensor<1x4x9x9xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x15x15xf32> {
  // CHECK-NEXT: %[[P:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 1, 0, 2, 3>}>
  // CHECK-NEXT: %[[W:.*]] = "ttir.reverse"(%[[P]]) <{dimensions = array<i64: 2, 3>}>
  // CHECK-NEXT: "ttir.conv_transpose2d"(%arg0, %[[W]]) {{.*}}padding = array<i32: 2, 2, 2, 2>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x15x15xf32>
  return %0 : tensor<1x6x15x15xf32>
}

// CHECK-LABEL: @dilated_volumes
func.func @dilated_volumes(%x: tensor<1x4x5x5x5xf32>, %w: tensor<6x4x3x3x3xf32>) -> tensor<1x6x1x3x1xf32> {
  // CHECK-NEXT: "ttir.conv3d"(%arg0, %arg1) {{.*}}dilation = array<i32: 2, 1, 2>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {rhs_dilate = [2, 1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x5x5xf32>, tensor<6x4x3x3x3xf32>) -> tensor<1x6x1x3x1xf32>
  return %0 : tensor<1x6x1x3x1xf32>
}

// CHECK-LABEL: @transposed_volumes
func.func @transposed_volumes(%x: tensor<1x4x3x3x3xf32>, %w: tensor<6x4x3x3x3xf32>) -> tensor<1x6x3x4x6xf32> {
  // CHECK: %[[W:.*]] = "ttir.reverse"({{.*}}) <{dimensions = array<i64: 2, 3, 4>}>
  // CHECK-NEXT: "ttir.conv_transpose3d"(%arg0, %[[W]]) {{.*}}output_padding = array<i32: 0, 0, 1>, padding = array<i32: 2, 1, 2, 2, 2, 0>, stride = array<i32: 2, 2, 2>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {pad = [[0, 0], [1, 0], [0, 3]], lhs_dilate = [2, 2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3x3xf32>, tensor<6x4x3x3x3xf32>) -> tensor<1x6x3x4x6xf32>
  return %0 : tensor<1x6x3x4x6xf32>
}

// JAX broadcasts the start.
// CHECK-LABEL: @max_pool_of_volumes
func.func @max_pool_of_volumes(%x: tensor<2x6x8x10x4xf32>) -> tensor<2x3x4x6x4xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %start = stablehlo.broadcast_in_dim %lowest, dims = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: "ttir.max_pool3d"(%{{.*}}) <{ceil_mode = false, dilation = array<i32: 1, 1, 1>, kernel = array<i32: 2, 3, 2>, padding = array<i32: 0, 1, 1, 0, 0, 1>, stride = array<i32: 2, 2, 2>}> : (tensor<2x6x8x10x4xf32>) -> tensor<2x3x4x6x4xf32>
  %0 = "stablehlo.reduce_window"(%x, %start) <{padding = dense<[[0, 0], [0, 0], [1, 0], [1, 1], [0, 0]]> : tensor<5x2xi64>, window_dimensions = array<i64: 1, 2, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x6x8x10x4xf32>, tensor<f32>) -> tensor<2x3x4x6x4xf32>
  return %0 : tensor<2x3x4x6x4xf32>
}

// CHECK-LABEL: @sum_pool_of_volumes
func.func @sum_pool_of_volumes(%x: tensor<2x4x6x8x10xf32>) -> tensor<2x4x3x4x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 2, 3, 4, 1>}>
  // CHECK-NEXT: "ttir.avg_pool3d"{{.*}}kernel = array<i32: 2, 2, 2>{{.*}} : (tensor<2x6x8x10x4xf32>) -> tensor<2x3x4x5x4xf32>
  // CHECK-NEXT: "ttir.full"() <{fill_value = 8.000000e+00 : f32
  // CHECK: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 4, 1, 2, 3>}>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1, 2, 2, 2>, window_strides = array<i64: 1, 1, 2, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x4x6x8x10xf32>, tensor<f32>) -> tensor<2x4x3x4x5xf32>
  return %0 : tensor<2x4x3x4x5xf32>
}
