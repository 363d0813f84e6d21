// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --ttnn-fusing --split-input-file | FileCheck %s

// CHECK-LABEL: @linear
// CHECK: "ttnn.linear"{{.*}}activation = "gelu"
// CHECK-NEXT: "ttnn.matmul"{{.*}}activation = "relu"
// CHECK-NEXT: return
func.func @linear(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>, %b: tensor<32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.linear"(%x, %w, %b) : (tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.gelu"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.matmul"(%x, %w) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %3 = "ttir.relu"(%2) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1, %3 : tensor<32x32xbf16>, tensor<32x32xbf16>
}

// -----

// Past what only moves values; the second activation finds the place taken.
// CHECK-LABEL: @conv
// CHECK: "ttnn.conv2d"{{.*}}conv2d_config = #ttnn.conv2d_config<activation = <op_type = relu6>>
// CHECK-NEXT: "ttnn.reshape"
// CHECK-NEXT: "ttnn.permute"
// CHECK-NEXT: "ttnn.sigmoid"
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0, height_dim = 2, width_dim = 3, channel_dim = 1}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = "ttir.relu6"(%0) : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  %2 = "ttir.sigmoid"(%1) : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  return %2 : tensor<1x6x8x8xf32>
}

// -----

// A value that is used twice, a change of type, a function with a parameter, and integers.
// CHECK-LABEL: @stays
// CHECK-NOT: activation
func.func @stays(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>, %i: tensor<32x32xi32>) -> (tensor<32x32xbf16>, tensor<32x32xf32>, tensor<32x32xbf16>, tensor<32x32xi32>) {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.relu"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.add"(%0, %1) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %3 = "ttir.matmul"(%x, %w) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %4 = "ttir.exp"(%3) : (tensor<32x32xbf16>) -> tensor<32x32xf32>
  %5 = "ttir.matmul"(%x, %w) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %6 = "ttir.leaky_relu"(%5) <{parameter = 0.1 : f32}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %7 = "ttir.matmul"(%i, %i) : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi32>
  %8 = "ttir.abs"(%7) : (tensor<32x32xi32>) -> tensor<32x32xi32>
  return %2, %4, %6, %8 : tensor<32x32xbf16>, tensor<32x32xf32>, tensor<32x32xbf16>, tensor<32x32xi32>
}

// -----

// gelu by tanh, in two spellings; the third is used on its way.
// CHECK-LABEL: @gelu_tanh
// CHECK: "ttnn.linear"{{.*}}activation = "gelu_tanh"
// CHECK-NEXT: "ttnn.linear"{{.*}}activation = "gelu_tanh"
// CHECK-NEXT: "ttnn.linear"
// CHECK-NOT: activation
func.func @gelu_tanh(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>, %b: tensor<32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %half = "ttir.constant"() <{value = dense<0.5> : tensor<1x1xbf16>}> : () -> tensor<1x1xbf16>
  %one = "ttir.constant"() <{value = dense<1.0> : tensor<1x1xbf16>}> : () -> tensor<1x1xbf16>
  %slope = "ttir.constant"() <{value = dense<0.798> : tensor<1x1xbf16>}> : () -> tensor<1x1xbf16>
  %curvature = "ttir.full"() <{shape = array<i32: 1, 1>, fill_value = 0.044715 : f32}> : () -> tensor<1x1xbf16>

  %0 = "ttir.linear"(%x, %w, %b) : (tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.multiply"(%0, %0) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.multiply"(%0, %curvature) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %3 = "ttir.multiply"(%1, %2) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %4 = "ttir.add"(%0, %3) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %5 = "ttir.multiply"(%4, %slope) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %6 = "ttir.tanh"(%5) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %7 = "ttir.add"(%6, %one) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %8 = "ttir.multiply"(%0, %half) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %9 = "ttir.multiply"(%8, %7) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>

  %10 = "ttir.linear"(%x, %w, %b) : (tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32xbf16>) -> tensor<32x32xbf16>
  %11 = "ttir.multiply"(%10, %10) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %12 = "ttir.multiply"(%11, %curvature) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %13 = "ttir.add"(%one, %12) : (tensor<1x1xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %14 = "ttir.multiply"(%10, %slope) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %15 = "ttir.multiply"(%14, %13) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %16 = "ttir.tanh"(%15) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %17 = "ttir.add"(%one, %16) : (tensor<1x1xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %18 = "ttir.multiply"(%10, %17) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %19 = "ttir.multiply"(%18, %half) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>

  %20 = "ttir.linear"(%x, %w, %b) : (tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32xbf16>) -> tensor<32x32xbf16>
  %21 = "ttir.multiply"(%20, %20) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %22 = "ttir.multiply"(%21, %curvature) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %23 = "ttir.add"(%one, %22) : (tensor<1x1xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %24 = "ttir.multiply"(%20, %slope) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  %25 = "ttir.multiply"(%24, %23) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %26 = "ttir.tanh"(%25) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %27 = "ttir.add"(%one, %26) : (tensor<1x1xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %28 = "ttir.multiply"(%20, %27) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %29 = "ttir.multiply"(%28, %half) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>
  return %9, %19, %29, %26 : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}
