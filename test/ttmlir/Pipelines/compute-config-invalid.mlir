// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics

func.func @kind(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error @+1 {{'ttnn.exp' op ttcore.compute_config is "lofi"; expected a #ttnn.device_compute_kernel_config}}
  %0 = "ttir.exp"(%x) {ttcore.compute_config = "lofi"} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// Also where nothing takes it.
func.func @moved(%x: tensor<32x16xf32>) -> tensor<16x32xf32> {
  // expected-error @+1 {{'ttnn.permute' op ttcore.compute_config is 3 : i64; expected a #ttnn.device_compute_kernel_config}}
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> {ttcore.compute_config = 3 : i64} : (tensor<32x16xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

func.func @fidelity(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error @+2 {{failed to parse TTNN_DeviceComputeKernelConfig parameter 'math_fidelity'}}
  // expected-error @+1 {{expected one of [lofi, hifi2, hifi3, hifi4] for Mantissa bits that a matrix product uses., got: hifi5}}
  %0 = "ttir.exp"(%x) {ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi5>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
