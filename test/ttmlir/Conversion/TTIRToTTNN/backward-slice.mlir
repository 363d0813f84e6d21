// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttir-to-ttnn-common-pipeline | FileCheck %s

// The same rows forward, which are then looked up in reverse.
// CHECK-LABEL: @backward
func.func @backward(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // CHECK: %[[P:.*]] = "ttnn.slice_static"(%{{.*}}) <{begins = [2 : i32, 0 : i32], ends = [7 : i32, 4 : i32], step = [2 : i32, 1 : i32]}>
  // CHECK: %[[I:.*]] = "ttnn.arange"(%{{.*}}) <{end = -1 : si64, start = 2 : si64, step = -1 : si64}>
  // CHECK: "ttnn.embedding"(%[[I]], %{{.*}})
  %0 = "ttir.slice_static"(%x) <{begins = [-2 : i32, 0 : i32], ends = [1 : i32, 4 : i32], step = [-2 : i32, 1 : i32]}> : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: @none
func.func @none(%x: tensor<8x4xf32>) -> tensor<0x4xf32> {
  // CHECK: "ttnn.slice_static"(%{{.*}}) <{begins = [0 : i32, 0 : i32], ends = [0 : i32, 4 : i32], step = [1 : i32, 1 : i32]}>
  %0 = "ttir.slice_static"(%x) <{begins = [3 : i32, 0 : i32], ends = [3 : i32, 4 : i32], step = [-2 : i32, 1 : i32]}> : (tensor<8x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// CHECK-LABEL: @one_by_the_least_step
func.func @one_by_the_least_step(%x: tensor<8x4xf32>) -> tensor<1x4xf32> {
  // CHECK: "ttnn.slice_static"(%{{.*}}) <{begins = [3 : i32, 0 : i32], ends = [4 : i32, 4 : i32], step = [1 : i32, 1 : i32]}>
  %0 = "ttir.slice_static"(%x) <{begins = [3 : i32, 0 : i32], ends = [0 : i32, 4 : i32], step = [-2147483648 : i32, 1 : i32]}> : (tensor<8x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
