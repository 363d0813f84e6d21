// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=optimization-level=2 | FileCheck %s
// Kernels on tensors without elements need no circular buffers.
// CHECK: "ttnn.conv2d"{{.*}} -> tensor<1x1x64x0xbf16
func.func @nothing(%x: tensor<1x8x8x32xbf16>, %w: tensor<0x32x3x3xbf16>) -> tensor<1x8x8x0xbf16> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x32xbf16>, tensor<0x32x3x3xbf16>) -> tensor<1x8x8x0xbf16>
  return %0 : tensor<1x8x8x0xbf16>
}
