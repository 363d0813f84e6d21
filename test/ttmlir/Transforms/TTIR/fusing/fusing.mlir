// RUN: ttmlir-opt %s --ttir-fusing --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttir-fusing=enable-permute-matmul-fusion=true --split-input-file | FileCheck %s --check-prefix=PERMUTE
// RUN: ttmlir-opt %s --ttir-fusing=ttnn-enable-conv2d-with-multiply-pattern=true --split-input-file | FileCheck %s --check-prefix=MULTIPLY
// RUN: ttmlir-opt %s --ttir-fusing --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK-LABEL: @linear
// CHECK-NEXT: %[[Y:.*]] = "ttir.linear"(%arg0, %arg1, %arg2) <{transpose_a = false, transpose_b = true}>
// CHECK-NEXT: return %[[Y]]
// The location is that of the last op.
// LOC-LABEL: @linear
// LOC: "ttir.linear"{{.*}} loc(#[[ADD:.*]])
// LOC: #[[ADD]] = loc("add")
func.func @linear(%x: tensor<4x16xf32>, %w: tensor<8x16xf32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.transpose"(%w) <{dim0 = -2 : si32, dim1 = 1 : si32}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> loc("matmul")
  %2 = "ttir.add"(%b, %1) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("add")
  return %2 : tensor<4x8xf32>
}

// -----

// A sum that is used elsewhere, a bias of several rows, another type, and a linear that has a bias.
// CHECK-LABEL: @no_linear
// CHECK-COUNT-4: "ttir.add"
func.func @no_linear(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>, %r: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x8xf32>) {
  %0 = "ttir.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.add"(%2, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.add"(%4, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xbf16>
  %6 = "ttir.linear"(%x, %w, %b) : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %7 = "ttir.add"(%6, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0, %1, %3, %5, %7 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @permute
// CHECK: "ttir.permute"
// CHECK: "ttir.matmul"{{.*}}transpose_b = false
// PERMUTE-LABEL: @permute
// PERMUTE-NOT: "ttir.permute"
// PERMUTE: "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}>
func.func @permute(%q: tensor<2x4x16xf32>, %k: tensor<2x8x16xf32>) -> tensor<2x4x8xf32> {
  %0 = "ttir.permute"(%k) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x8x16xf32>) -> tensor<2x16x8xf32>
  %1 = "ttir.matmul"(%q, %0) : (tensor<2x4x16xf32>, tensor<2x16x8xf32>) -> tensor<2x4x8xf32>
  return %1 : tensor<2x4x8xf32>
}

// -----

// Permutes of results need no option: no op moves before the product.
// CHECK-LABEL: @transposed_product
// CHECK-NEXT: "ttir.matmul"(%arg1, %arg0) <{transpose_a = true, transpose_b = false}> : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
// CHECK-NEXT: "ttir.matmul"(%arg2, %arg2) <{transpose_a = true, transpose_b = true}> : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
// CHECK-NEXT: return
func.func @transposed_product(%x: tensor<8x4xf32>, %y: tensor<8x16xf32>, %z: tensor<2x5x5xf32>) -> (tensor<16x4xf32>, tensor<2x5x5xf32>) {
  %0 = "ttir.matmul"(%x, %y) <{transpose_a = true}> : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %2 = "ttir.matmul"(%z, %z) : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %3 = "ttir.transpose"(%2) <{dim0 = -1 : si32, dim1 = 1 : si32}> : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  return %1, %3 : tensor<16x4xf32>, tensor<2x5x5xf32>
}

// -----

// A product that is used elsewhere, one matrix next to several, and another order of dimensions.
// CHECK-LABEL: @no_transposed_product
// CHECK-COUNT-3: "ttir.permute"
func.func @no_transposed_product(%x: tensor<2x4x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8x4xf32>, tensor<4x2x8xf32>) {
  %0 = "ttir.matmul"(%y, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.matmul"(%x, %y) : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  %4 = "ttir.matmul"(%x, %y) : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %5 = "ttir.permute"(%4) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
  return %0, %1, %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8x4xf32>, tensor<4x2x8xf32>
}

// -----

// CHECK-LABEL: @dot_general
// CHECK: "ttir.linear"(%arg0, %arg1, %arg2) <{transpose_a = false, transpose_b = true}> : (tensor<2x4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK: "ttir.matmul"(%arg0, %arg3) <{transpose_a = true, transpose_b = false}>
// CHECK: "ttir.dot_general"
func.func @dot_general(%x: tensor<2x4x16xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>, %y: tensor<2x4x3xf32>) -> (tensor<2x4x8xf32>, tensor<2x16x3xf32>, tensor<16x2x3x2xf32>) {
  %0 = "ttir.dot_general"(%x, %w) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 1>}> : (tensor<2x4x16xf32>, tensor<8x16xf32>) -> tensor<2x4x8xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %2 = "ttir.dot_general"(%x, %y) <{batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 1>}> : (tensor<2x4x16xf32>, tensor<2x4x3xf32>) -> tensor<2x16x3xf32>
  %3 = "ttir.permute"(%x) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x4x16xf32>) -> tensor<16x2x4xf32>
  %4 = "ttir.permute"(%y) <{permutation = array<i64: 1, 2, 0>}> : (tensor<2x4x3xf32>) -> tensor<4x3x2xf32>
  %5 = "ttir.dot_general"(%3, %4) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 0>}> : (tensor<16x2x4xf32>, tensor<4x3x2xf32>) -> tensor<16x2x3x2xf32>
  return %1, %2, %5 : tensor<2x4x8xf32>, tensor<2x16x3xf32>, tensor<16x2x3x2xf32>
}

// -----

// CHECK-LABEL: @activations
// CHECK-NEXT: "ttir.relu"(%arg0)
// CHECK-NEXT: "ttir.relu6"(%arg0)
// CHECK-NEXT: "ttir.relu6"(%arg0)
// CHECK-NEXT: "ttir.silu"(%arg0)
// CHECK-NEXT: return
func.func @activations(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = "ttir.constant"() <{value = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %six = "ttir.full"() <{shape = array<i32: 4, 8>, fill_value = 6.0 : f32}> : () -> tensor<4x8xf32>
  %0 = "ttir.maximum"(%zero, %x) : (tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.maximum"(%x, %zero) : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %2 = "ttir.minimum"(%1, %six) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.clamp_scalar"(%x) <{min = 0.0 : f32, max = 6.0 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.sigmoid"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.multiply"(%4, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %2, %3, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// An observed value stays.
// CHECK-LABEL: @observed
// CHECK: "ttir.matmul"
// CHECK: "ttir.add"
module attributes {ttcore.observed = array<i64: 0>} {
  func.func @observed(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> loc(fused<0 : i64>["matmul"])
    %1 = "ttir.add"(%0, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc(fused<1 : i64>["add"])
    return %1 : tensor<4x8xf32>
  }
}

// -----

// CHECK-LABEL: @conv_bias
// CHECK: %[[B:.*]] = "ttir.reshape"(%arg2) <{shape = [1 : i32, 1 : i32, 1 : i32, 6 : i32]}>
// CHECK: "ttir.conv2d"(%arg0, %arg1, %[[B]]) <{batch_dim = 0 : i64, channel_dim = 1 : i64
// CHECK-NOT: "ttir.add"
func.func @conv_bias(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %b: tensor<6x1x1xf32>) -> tensor<1x6x8x8xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0, height_dim = 2, width_dim = 3, channel_dim = 1}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<1x6x8x8xf32>, tensor<6x1x1xf32>) -> tensor<1x6x8x8xf32>
  return %1 : tensor<1x6x8x8xf32>
}

// -----

// [top, left, bottom, right], of the dimensions that are height and width.
// CHECK-LABEL: @conv_padding
// CHECK-NEXT: "ttir.conv2d"(%arg0, %arg1) <{{.*}} padding = array<i32: 1, 3, 2, 4>
// CHECK-NEXT: return
func.func @conv_padding(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<1x6x9x13xf32> {
  %0 = "ttir.pad"(%x) <{padding = array<i32: 0, 0, 0, 0, 0, 1, 2, 3>, value = 0.0 : f32}> : (tensor<1x3x8x8xf32>) -> tensor<1x3x9x13xf32>
  %1 = "ttir.conv2d"(%0, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0, height_dim = 2, width_dim = 3, channel_dim = 1}> : (tensor<1x3x9x13xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x9x13xf32>
  return %1 : tensor<1x6x9x13xf32>
}

// -----

// Other values than zeros, and pads of channels, stay.
// CHECK-LABEL: @other_pads
// CHECK-COUNT-2: "ttir.pad"
// CHECK-COUNT-2: "ttir.conv2d"{{.*}} padding = 0 : i32
func.func @other_pads(%x: tensor<1x8x8x3xf32>, %y: tensor<1x8x8x2xf32>, %w: tensor<6x3x3x3xf32>) -> (tensor<1x8x8x6xf32>, tensor<1x6x6x6xf32>) {
  %0 = "ttir.pad"(%x) <{padding = array<i32: 0, 0, 1, 1, 1, 1, 0, 0>, value = 1.0 : f32}> : (tensor<1x8x8x3xf32>) -> tensor<1x10x10x3xf32>
  %1 = "ttir.pad"(%y) <{padding = array<i32: 0, 0, 0, 0, 0, 0, 0, 1>, value = 0.0 : f32}> : (tensor<1x8x8x2xf32>) -> tensor<1x8x8x3xf32>
  %3 = "ttir.conv2d"(%0, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x10x10x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x8x8x6xf32>
  %4 = "ttir.conv2d"(%1, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  return %3, %4 : tensor<1x8x8x6xf32>, tensor<1x6x6x6xf32>
}

// -----

// CHECK-LABEL: @batch_norm
// CHECK: %[[SCALE:.*]] = "ttir.multiply"({{.*}}) : (tensor<6xf32>, tensor<6xbf16>) -> tensor<6xf32>
// CHECK: "ttir.multiply"({{.*}}) : (tensor<6x27xbf16>, tensor<6x1xf32>) -> tensor<6x27xbf16>
// CHECK: "ttir.conv2d"
// CHECK-NOT: "ttir.batch_norm_inference"
// CHECK: return
// The statistics of this one are not known ahead.
// CHECK-LABEL: @batch_norm_of_inputs
// CHECK: "ttir.batch_norm_inference"
func.func @batch_norm(%x: tensor<1x8x8x3xbf16>, %w: tensor<6x3x3x3xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<6xbf16> {ttcore.argument_type = #ttcore.argument_type<constant>}) -> tensor<1x8x8x6xbf16> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x3xbf16>, tensor<6x3x3x3xbf16>) -> tensor<1x8x8x6xbf16>
  %1 = "ttir.batch_norm_inference"(%0, %s, %s, %s, %s) <{dimension = 3 : i32, epsilon = 1.0e-05 : f32}> : (tensor<1x8x8x6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> tensor<1x8x8x6xbf16>
  return %1 : tensor<1x8x8x6xbf16>
}
func.func @batch_norm_of_inputs(%x: tensor<1x8x8x3xbf16>, %w: tensor<6x3x3x3xbf16>, %s: tensor<6xbf16>) -> tensor<1x8x8x6xbf16> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x3xbf16>, tensor<6x3x3x3xbf16>) -> tensor<1x8x8x6xbf16>
  %1 = "ttir.batch_norm_inference"(%0, %s, %s, %s, %s) <{dimension = 3 : i32, epsilon = 1.0e-05 : f32}> : (tensor<1x8x8x6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> tensor<1x8x8x6xbf16>
  return %1 : tensor<1x8x8x6xbf16>
}

// -----

// CHECK-LABEL: @scaled
// CHECK: "ttir.conv2d"
// CHECK: "ttir.multiply"
// MULTIPLY-LABEL: @scaled
// MULTIPLY: %[[M:.*]] = "ttir.multiply"({{.*}}) : (tensor<6x27xf32>, tensor<6x1xf32>) -> tensor<6x27xf32>
// MULTIPLY: %[[W:.*]] = "ttir.reshape"(%[[M]])
// MULTIPLY: "ttir.conv2d"(%arg0, %[[W]])
// MULTIPLY-NEXT: return
func.func @scaled(%x: tensor<1x8x8x3xf32>) -> tensor<1x8x8x6xf32> {
  %w = "ttir.constant"() <{value = dense<0.5> : tensor<6x3x3x3xf32>}> : () -> tensor<6x3x3x3xf32>
  %s = "ttir.constant"() <{value = dense<2.0> : tensor<1x1x1x6xf32>}> : () -> tensor<1x1x1x6xf32>
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x8x8x6xf32>
  %1 = "ttir.multiply"(%0, %s) : (tensor<1x8x8x6xf32>, tensor<1x1x1x6xf32>) -> tensor<1x8x8x6xf32>
  return %1 : tensor<1x8x8x6xf32>
}

// -----

// Any number may stand there.
module attributes {ttcore.observed = array<i64: 9223372036854775807, -9223372036854775808, 9223372036854775806>} {
  // CHECK-LABEL: @observed_extremes
  // CHECK: "ttir.matmul"
  // CHECK: "ttir.add"
  func.func @observed_extremes(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> loc(fused<9223372036854775807 : i64>["matmul"])
    %1 = "ttir.add"(%0, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc(fused<1 : i64>["add"])
    return %1 : tensor<4x8xf32>
  }
}
