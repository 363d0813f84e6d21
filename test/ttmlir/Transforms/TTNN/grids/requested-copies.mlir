// RUN: ttmlir-opt %s --ttnn-requested-copies | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-requested-copies --ttnn-requested-copies | FileCheck %s

// CHECK-LABEL: func.func @copies
func.func @copies(%x: tensor<64x64xbf16>, %y: tensor<32x32xbf16>) -> (tensor<64x64xbf16>, tensor<32x32xbf16>) {
  // CHECK: %[[X:.*]] = "ttnn.assign"(%arg0) {ttcore.epoch = 2 : i64} : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  // CHECK: %[[Y:.*]] = "ttnn.assign"(%arg1) {ttcore.epoch = 2 : i64} : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %0:2 = "ttcore.optimization_barrier"(%x, %y) {ttcore.copy, ttcore.epoch = 2 : i64, ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>} : (tensor<64x64xbf16>, tensor<32x32xbf16>) -> (tensor<64x64xbf16>, tensor<32x32xbf16>)
  // CHECK: "ttnn.exp"(%[[X]])
  %1 = "ttnn.exp"(%0#0) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  // CHECK: "ttnn.exp"(%[[Y]])
  %2 = "ttnn.exp"(%0#1) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1, %2 : tensor<64x64xbf16>, tensor<32x32xbf16>
}

// A barrier that requests no copy stays.
// CHECK-LABEL: func.func @barrier
// CHECK: ttcore.optimization_barrier
func.func @barrier(%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = "ttcore.optimization_barrier"(%x) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}
