// Attributes that front ends give ops of TTIR in addition to their own: what they say is computed, or refused.
// RUN: split-file %s %t
// RUN: ttmlir-opt %t/good.mlir --ttir-to-ttnn-common-pipeline | FileCheck %s
// RUN: not ttmlir-opt %t/gelu.mlir --ttir-to-ttnn-common-pipeline 2>&1 | FileCheck %s --check-prefix=GELU
// RUN: not ttmlir-opt %t/upsample.mlir --ttir-to-ttnn-common-pipeline 2>&1 | FileCheck %s --check-prefix=UPSAMPLE

//--- good.mlir
// CHECK-LABEL: @exact
// CHECK: "ttnn.gelu"(%{{[^)]*}}) :
func.func @exact(%a: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %0 = "ttir.gelu"(%a) {approximate = "none"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: @plain
// CHECK: "ttnn.gelu"(%{{[^)]*}}) :
func.func @plain(%a: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %0 = "ttir.gelu"(%a) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: @tanh
// CHECK-NOT: "ttnn.gelu"
// CHECK: "ttnn.tanh"{{.*}} -> tensor<4x8xf32
// CHECK: "ttnn.multiply"{{.*}} -> tensor<4x8xbf16
func.func @tanh(%a: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %0 = "ttir.gelu"(%a) {approximate = "tanh"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: @channels
// CHECK: "ttnn.upsample"{{.*}} <{{{[^a-z]*}}mode = "nearest", scale_factor = 2 : si32}>
// CHECK-NOT: channel_last
func.func @channels(%a: tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32> {
  %0 = "ttir.upsample2d"(%a) <{scale_factor = 2 : si32, mode = "nearest"}> {channel_last = true} : (tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}

// Notes of others change nothing, also not those that have the name of an attribute in TTNN; attributes of dialects stay.
// CHECK-LABEL: @notes
// CHECK: "ttnn.permute"(%{{.*}}) <{{{.*}}}> {of_nobody.key = 1 : i32} :
// CHECK: "ttnn.matmul"(%{{[^)]*}}) <{transpose_a = false, transpose_b = false}> :
func.func @notes(%a: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 1, 0>}> {note = 3 : i32, of_nobody.key = 1 : i32} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = "ttir.matmul"(%0, %a) {activation = "relu", result_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

//--- gelu.mlir
// GELU: attribute 'approximate' is neither "none" nor "tanh"
func.func @sigmoid(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.gelu"(%a) {approximate = "sigmoid"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

//--- upsample.mlir
// UPSAMPLE: ttnn.upsample has no attribute 'channel_last'
func.func @channels(%a: tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32> {
  %0 = "ttir.upsample2d"(%a) <{scale_factor = 2 : si32, mode = "nearest"}> {channel_last = false} : (tensor<1x4x4x8xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}
