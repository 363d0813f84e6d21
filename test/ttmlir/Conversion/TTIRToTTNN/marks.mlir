// Attributes that front ends give ops of TTIR beside their own: what they say is computed, or refused.
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
