// RUN: ttmlir-opt %s --expand-stablehlo | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline --mlir-print-op-generic | FileCheck %s --check-prefix=TTIR --implicit-check-not=stablehlo.

// Forms of convolutions that TTIR lacks become those that it has.

// A sequence that is dilated is an image of one row.
// CHECK-LABEL: @sequence
// CHECK: stablehlo.reshape %arg0 : (tensor<1x4x5xf32>) -> tensor<1x4x1x5xf32>
// CHECK: stablehlo.convolution{{.*}}lhs_dilate = [1, 2]
// CHECK: stablehlo.reshape {{.*}} -> tensor<1x6x9xf32>
// TTIR: "ttir.conv_transpose2d"
func.func @sequence(%x: tensor<1x4x5xf32>, %w: tensor<6x4x3xf32>) -> tensor<1x6x9xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5xf32>, tensor<6x4x3xf32>) -> tensor<1x6x9xf32>
  return %0 : tensor<1x6x9xf32>
}

// With strides, the zeros of the input are in memory.
// CHECK-LABEL: @strides
// CHECK: stablehlo.convolution
// CHECK-NOT: lhs_dilate = [2
// TTIR: "ttir.conv2d"
func.func @strides(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x4x3xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 3], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x3xf32>
  return %0 : tensor<1x6x4x3xf32>
}

// Steps that are never taken are none: the input has one column, the result one row.
// CHECK-LABEL: @no_steps
// CHECK: stablehlo.slice %arg0 [0:1, 0:4, 0:3, 0:1, 0:2]
// CHECK: stablehlo.convolution{{.*}}stride = [1, 1, 1]{{.*}}lhs_dilate = [1, 1, 2]
func.func @no_steps(%x: tensor<1x4x5x1x2xf32>, %w: tensor<6x4x3x3x1xf32>) -> tensor<1x6x1x1x3xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {stride = [4, 1, 1], pad = [[0, 0], [1, 1], [0, 0]], lhs_dilate = [1, 3, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x1x2xf32>, tensor<6x4x3x3x1xf32>) -> tensor<1x6x1x1x3xf32>
  return %0 : tensor<1x6x1x1x3xf32>
}

// Negative padding cuts off whole elements; of the zeros behind them some stay.
// CHECK-LABEL: @cut
// CHECK: stablehlo.slice %arg0 [0:1, 0:4, 2:5, 0:4]
// CHECK: stablehlo.convolution{{.*}}pad = {{\[\[}}1, 0], [0, 1]], lhs_dilate = [2, 2]
func.func @cut(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x4x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[-3, 0], [0, -1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x6xf32>
  return %0 : tensor<1x6x4x6xf32>
}

// Before the first element that a window reaches the result is zero.
// CHECK-LABEL: @far
// CHECK: stablehlo.convolution{{.*}}pad = {{\[\[}}2, 0], [0, 0]]
// CHECK: stablehlo.pad
func.func @far(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x12x7xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[5, 0], [0, 0]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x12x7xf32>
  return %0 : tensor<1x6x12x7xf32>
}

// CHECK-LABEL: @nothing
// CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<1x6x2xf32>
func.func @nothing(%x: tensor<1x0x4xf32>, %w: tensor<6x0x3xf32>) -> tensor<1x6x2xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x0x4xf32>, tensor<6x0x3xf32>) -> tensor<1x6x2xf32>
  return %0 : tensor<1x6x2xf32>
}

// The first of four dimensions is written out; sums of bf16 are rounded once.
// CHECK-LABEL: @four
// CHECK-COUNT-2: stablehlo.convolution{{.*}} -> tensor<6x4x2x2x2xf32>
// CHECK: stablehlo.convert {{.*}} -> tensor<2x4x3x2x2x2xbf16>
// TTIR-COUNT-2: "ttir.conv3d"
func.func @four(%x: tensor<2x3x4x3x3x3xbf16>, %w: tensor<4x3x2x2x2x2xbf16>) -> tensor<2x4x3x2x2x2xbf16> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2, 3]x[o, i, 0, 1, 2, 3]->[b, f, 0, 1, 2, 3], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x3x3x3xbf16>, tensor<4x3x2x2x2x2xbf16>) -> tensor<2x4x3x2x2x2xbf16>
  return %0 : tensor<2x4x3x2x2x2xbf16>
}
