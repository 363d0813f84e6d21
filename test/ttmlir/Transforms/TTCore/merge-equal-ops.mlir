// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttcore-merge-equal-ops | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-merge-equal-ops --ttir-to-ttnn-runtime-pipeline | FileCheck %s --check-prefix=TTNN

// Ops that record what they compute are one, and the first has the locations of the others.
// CHECK-LABEL: @recorded
// CHECK: ttir.exp
// CHECK-SAME: ttcore.merged = ["\22second\22", "\22third\22"]
// CHECK-NOT: ttir.exp
// CHECK: return
func.func @recorded(%x: tensor<32x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.exp"(%x) {ttcore.merged = []} : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("first")
  %1 = "ttir.exp"(%x) {ttcore.merged = []} : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("second")
  %2 = "ttir.exp"(%x) {ttcore.merged = []} : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("third")
  return %0, %1, %2 : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}

// Others are merged, and have no attribute.
// CHECK-LABEL: @plain
// CHECK: %[[EXP:.*]] = "ttir.exp"(%{{.*}}) : (tensor<32x32xbf16>)
// CHECK-NEXT: return %[[EXP]], %[[EXP]]
func.func @plain(%x: tensor<32x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.exp"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.exp"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %0, %1 : tensor<32x32xbf16>, tensor<32x32xbf16>
}

// A fused op has the locations of its parts, and of ops that are equal to them, but its own.
// TTNN-LABEL: @fused
// TTNN: "ttnn.linear"
// TTNN-SAME: ttcore.merged = [
// TTNN-SAME-DAG: "\22product\22"
// TTNN-SAME-DAG: "\22sum\22"
// TTNN-SAME-DAG: "\22again\22"
// TTNN-NOT: ttnn.relu
func.func @fused(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>, %b: tensor<32xbf16>)
    -> (tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.matmul"(%x, %w) {ttcore.merged = []} : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16> loc("product")
  %1 = "ttir.add"(%0, %b) {ttcore.merged = []} : (tensor<32x32xbf16>, tensor<32xbf16>) -> tensor<32x32xbf16> loc("sum")
  %2 = "ttir.relu"(%1) {ttcore.merged = []} : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("relu")
  %3 = "ttir.relu"(%1) {ttcore.merged = []} : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("again")
  return %2, %3 : tensor<32x32xbf16>, tensor<32x32xbf16>
}
