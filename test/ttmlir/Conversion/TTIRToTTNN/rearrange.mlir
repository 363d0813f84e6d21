// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttir-to-ttnn-common-pipeline | FileCheck %s

// CHECK-LABEL: @permuted_and_grouped
func.func @permuted_and_grouped(%x: tensor<2x3x5xf32>) -> tensor<5x6xf32> {
  // CHECK: %[[P:.*]] = "ttnn.permute"(%{{.*}}) <{permutation = array<i64: 2, 0, 1>}> : {{.*}} -> tensor<5x2x3xf32
  // CHECK: "ttnn.reshape"(%[[P]]) <{shape = [5 : i32, 6 : i32]}> : {{.*}} -> tensor<5x6xf32
  %0 = "ttir.rearrange"(%x) <{pattern = "a b c -> c (a b)"}> : (tensor<2x3x5xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK-LABEL: @ellipsis
func.func @ellipsis(%x: tensor<2x3x5xf32>) -> tensor<5x2x3xf32> {
  // CHECK-NOT: ttnn.reshape
  // CHECK: "ttnn.permute"(%{{.*}}) <{permutation = array<i64: 2, 0, 1>}>
  // CHECK-NOT: ttnn.reshape
  %0 = "ttir.rearrange"(%x) <{pattern = "... c -> c ..."}> : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}

// CHECK-LABEL: @in_place
func.func @in_place(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK-NEXT: return
  %0 = "ttir.rearrange"(%x) <{pattern = "a b c -> a b c"}> : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// Dimensions of size 1 come and go by the reshape alone.
// CHECK-LABEL: @size_one
func.func @size_one(%x: tensor<2x1x5xf32>) -> tensor<1x10xf32> {
  // CHECK-NEXT: {{.*}}"ttnn.reshape"{{.*}} -> tensor<1x10xf32
  %0 = "ttir.rearrange"(%x) <{pattern = "a 1 b -> () (a b)"}> : (tensor<2x1x5xf32>) -> tensor<1x10xf32>
  return %0 : tensor<1x10xf32>
}
