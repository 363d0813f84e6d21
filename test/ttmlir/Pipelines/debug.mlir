// Debug ops stay where they are, and their values live until then.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s

// CHECK-LABEL: @look
func.func @look(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: %[[EXP:.*]] = "ttnn.exp"
  %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  // CHECK-NEXT: "debug.breakpoint"(%[[EXP]]) : (tensor<32x32xf32, #ttnn_layout>) -> ()
  "debug.breakpoint"(%0) : (tensor<32x32xf32>) -> ()
  // CHECK-NEXT: %[[MARK:.*]] = "debug.annotate"(%[[EXP]]) <{annotation = "here"}>
  // CHECK-SAME: -> tensor<32x32xf32, #ttnn_layout>
  %1 = "debug.annotate"(%0) <{annotation = "here"}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  // CHECK-NEXT: "ttnn.deallocate"(%[[EXP]])
  // CHECK-NEXT: "ttnn.abs"(%[[MARK]])
  %2 = "ttir.abs"(%1) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
