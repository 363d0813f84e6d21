// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline --verify-diagnostics | FileCheck %s

// The first of them is named; the chip computes all.
// CHECK-LABEL: func.func @main
// CHECK: ttmetal.enqueue_program
func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-warning@+1 {{'ttir.exp' is marked ttir.should_hoist, but programs of TTMetal have no functions of the host: the chip computes it}}
  %0 = "ttir.exp"(%x) {ttir.should_hoist} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.relu"(%0) {ttir.should_hoist} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
