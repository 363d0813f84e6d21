// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @pool(%x: tensor<2x18x22x12xbf16>) -> tensor<2x1x1x12xbf16> {
  // CHECK: "ttir.max_pool2d"{{.*}} <{ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 2, 2>, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}>
  %0 = "ttir.max_pool2d"(%x) <{ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 2, 2>, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}> : (tensor<2x18x22x12xbf16>) -> tensor<2x9x11x12xbf16>
  // CHECK: "ttir.avg_pool2d"{{.*}} <{ceil_mode = false, count_include_pad = false, dilation = 1 : i32, kernel = 3 : i32, padding = 1 : i32, stride = 1 : i32}>
  %1 = "ttir.avg_pool2d"(%0) <{ceil_mode = false, count_include_pad = false, dilation = 1 : i32, kernel = 3 : i32, padding = 1 : i32, stride = 1 : i32}> : (tensor<2x9x11x12xbf16>) -> tensor<2x9x11x12xbf16>
  // CHECK: ttir.global_avg_pool2d
  %2 = "ttir.global_avg_pool2d"(%1) : (tensor<2x9x11x12xbf16>) -> tensor<2x1x1x12xbf16>
  return %2 : tensor<2x1x1x12xbf16>
}
func.func @volumes(%x: tensor<2x6x8x9x4xbf16>) -> (tensor<2x3x4x4x4xbf16>, tensor<2x3x4x4x4xbf16>, tensor<2x3x4x4x4xi32>) {
  // CHECK: "ttir.avg_pool3d"{{.*}} <{ceil_mode = false, count_include_pad = false, dilation = 1 : i32, kernel = 3 : i32, padding = array<i32: 1, 0, 1, 1, 2, 1>, stride = 1 : i32}>
  %0 = "ttir.avg_pool3d"(%x) <{ceil_mode = false, count_include_pad = false, dilation = 1 : i32, kernel = 3 : i32, padding = array<i32: 1, 0, 1, 1, 2, 1>, stride = 1 : i32}> : (tensor<2x6x8x9x4xbf16>) -> tensor<2x6x8x9x4xbf16>
  // CHECK: "ttir.max_pool3d"{{.*}} <{ceil_mode = false, dilation = array<i32: 1, 1, 1>, kernel = array<i32: 2, 2, 2>, padding = array<i32: 0, 0, 0>, stride = array<i32: 2, 2, 2>}>
  %1 = "ttir.max_pool3d"(%0) <{ceil_mode = false, dilation = array<i32: 1, 1, 1>, kernel = array<i32: 2, 2, 2>, padding = array<i32: 0, 0, 0>, stride = array<i32: 2, 2, 2>}> : (tensor<2x6x8x9x4xbf16>) -> tensor<2x3x4x4x4xbf16>
  // CHECK: ttir.max_pool3d_with_indices
  %2, %3 = "ttir.max_pool3d_with_indices"(%0) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<2x6x8x9x4xbf16>) -> (tensor<2x3x4x4x4xbf16>, tensor<2x3x4x4x4xi32>)
  return %1, %2, %3 : tensor<2x3x4x4x4xbf16>, tensor<2x3x4x4x4xbf16>, tensor<2x3x4x4x4xi32>
}
func.func @up(%x: tensor<1x5x7x3xbf16>) -> tensor<1x10x21x3xbf16> {
  // CHECK: "ttir.upsample2d"{{.*}} <{mode = "bilinear", scale_factor = array<i32: 2, 3>}>
  %0 = "ttir.upsample2d"(%x) <{mode = "bilinear", scale_factor = array<i32: 2, 3>}> : (tensor<1x5x7x3xbf16>) -> tensor<1x10x21x3xbf16>
  return %0 : tensor<1x10x21x3xbf16>
}
