// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=false" | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=false compute-cfg-math-fidelity=hifi3 compute-cfg-fp32-dest-acc-en=true" | FileCheck %s --check-prefix=ALL
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=false" | ttmlir-translate --ttnn-to-flatbuffer -o %t.ttnn

#lofi = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
#narrow = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = false>

// CHECK-NOT: ttcore.compute_config

// By name, by a row, by equations and by patterns; options fill in what an op does not say itself.
// CHECK-LABEL: @ops
// CHECK: "ttnn.matmul"{{.*}}compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
// CHECK: "ttnn.softmax"{{.*}}compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = false>
// CHECK: "ttnn.divide"{{.*}}{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK: "ttnn.multiply"{{.*}}{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = false>}
// CHECK: "ttnn.layer_norm"{{.*}}{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK: "ttnn.sum"(%{{[^{]*}}<{dim_arg = [1 : i32], keep_dim = false}>
// ALL-LABEL: @ops
// ALL: "ttnn.matmul"{{.*}}<math_fidelity = lofi, fp32_dest_acc_en = true>
// ALL: "ttnn.softmax"{{.*}}<math_fidelity = hifi2, fp32_dest_acc_en = false>
// ALL: "ttnn.divide"{{.*}}<math_fidelity = lofi>
// ALL: "ttnn.sum"{{.*}}<math_fidelity = hifi3, fp32_dest_acc_en = true>
func.func @ops(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>) -> tensor<32xf32> {
  %0 = "ttir.dot_general"(%x, %w) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> {ttcore.compute_config = #lofi} : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> {ttcore.compute_config = #narrow} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.div"(%1, %0) {ttcore.compute_config = #lofi} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = "ttir.square"(%2) {ttcore.compute_config = #narrow} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %4 = "ttir.layer_norm"(%3) <{normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 0, 0>}> {ttcore.compute_config = #lofi} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %5 = "ttir.sum"(%4) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<32x32xf32>) -> tensor<32xf32>
  return %5 : tensor<32xf32>
}

// What moves values has none; the convolution between its permutes does.
// CHECK-LABEL: @convolution
// CHECK-NOT: "ttnn.{{permute|reshape}}"{{.*}}compute_config
// CHECK: "ttnn.conv2d"{{.*}}compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
// CHECK-NOT: "ttnn.{{permute|reshape}}"{{.*}}compute_config
func.func @convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32, batch_dim = 0 : i64, channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64}> {ttcore.compute_config = #lofi} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// An activation goes into a product that computes as it does.
// CHECK-LABEL: @activation
// CHECK: "ttnn.matmul"{{.*}}<{activation = "relu", compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
// CHECK: "ttnn.matmul"{{.*}}<{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
// CHECK: "ttnn.relu"{{.*}}{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = false>}
// CHECK: "ttnn.matmul"{{.*}}<{activation = "relu", compute_config
func.func @activation(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.relu"(%0) {ttcore.compute_config = #lofi} : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %3 = "ttir.relu"(%2) {ttcore.compute_config = #narrow} : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %4 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %5 = "ttir.relu"(%4) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1, %3, %5 : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}
