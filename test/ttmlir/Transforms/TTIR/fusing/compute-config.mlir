// RUN: ttmlir-opt %s --ttir-fusing="ttnn-enable-conv2d-with-multiply-pattern=true" | FileCheck %s

#lofi = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
#wide = #ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true>

// A bias without a config goes into the product, whose config stays; one with another config is added by itself.
// CHECK-LABEL: @bias
// CHECK-NEXT: "ttir.linear"(%arg0, %arg1, %arg2) {{.*}}{ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK-NEXT: "ttir.linear"(%arg0, %arg1, %arg2) {{.*}}{ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK-NEXT: "ttir.matmul"{{.*}}<math_fidelity = lofi>
// CHECK-NEXT: "ttir.add"{{.*}}<math_fidelity = hifi2, fp32_dest_acc_en = true>
// CHECK-NEXT: "ttir.matmul"(%arg0, %arg1) <{{.*}}> : (tensor
// CHECK-NEXT: "ttir.add"{{.*}}<math_fidelity = lofi>
func.func @bias(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.add"(%2, %b) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %4 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %5 = "ttir.add"(%4, %b) {ttcore.compute_config = #wide} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %6 = "ttir.matmul"(%x, %w) : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %7 = "ttir.add"(%6, %b) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1, %3, %5, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// A product keeps its config, whatever is said of what only moves values around it.
// CHECK-LABEL: @moved
// CHECK-NEXT: "ttir.matmul"(%arg1, %arg0) <{transpose_a = true, transpose_b = true}> {ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK-NEXT: "ttir.matmul"(%arg1, %arg0) <{transpose_a = true, transpose_b = true}> : (tensor
// CHECK-NEXT: "ttir.slice_static"
// CHECK-NEXT: "ttir.matmul"{{.*}}<math_fidelity = lofi>
// CHECK-NEXT: "ttir.matmul"(%arg0, %arg2) <{transpose_a = false, transpose_b = true}> {{.*}}<math_fidelity = lofi>
func.func @moved(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %t: tensor<8x4xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.transpose"(%0) <{dim0 = 0 : si32, dim1 = 1 : si32}> {ttcore.compute_config = #wide} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.matmul"(%x, %w) : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.transpose"(%2) <{dim0 = 0 : si32, dim1 = 1 : si32}> {ttcore.compute_config = #wide} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "ttir.matmul"(%x, %w) {ttcore.compute_config = #lofi} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %5 = "ttir.slice_static"(%4) <{begins = [0 : i32, 0 : i32], ends = [2 : i32, 8 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %6 = "ttir.transpose"(%t) <{dim0 = 0 : si32, dim1 = 1 : si32}> {ttcore.compute_config = #wide} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %7 = "ttir.matmul"(%x, %6) {ttcore.compute_config = #lofi} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %1, %3, %5, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>
}

// Functions written out are one op where all of it computes in the same way.
// CHECK-LABEL: @functions
// CHECK-NEXT: "ttir.silu"(%arg0) {ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK-NEXT: "ttir.sigmoid"
// CHECK-NEXT: "ttir.multiply"
// CHECK-NEXT: "ttir.sigmoid"
// CHECK-NEXT: "ttir.multiply"
func.func @functions(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.sigmoid"(%x) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.multiply"(%0, %x) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.sigmoid"(%x) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.multiply"(%2, %x) {ttcore.compute_config = #wide} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "ttir.sigmoid"(%x) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "ttir.multiply"(%4, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @softmax
// CHECK-NEXT: "ttir.softmax"(%arg0) <{dimension = 1 : si32, numericStable = true}> {ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>}
// CHECK-NOT: "ttir.softmax"
func.func @softmax(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 8>}> : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %2 = "ttir.subtract"(%x, %1) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.exp"(%2) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "ttir.sum"(%3) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %5 = "ttir.broadcast"(%4) <{broadcast_dimensions = array<i64: 1, 8>}> : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %6 = "ttir.div"(%3, %5) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %8 = "ttir.subtract"(%x, %7) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %9 = "ttir.exp"(%8) {ttcore.compute_config = #wide} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %10 = "ttir.sum"(%9) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.compute_config = #lofi} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %11 = "ttir.div"(%9, %10) {ttcore.compute_config = #lofi} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %6, %11 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The kernel of attention takes no config: products that have one stay.
// CHECK-LABEL: @attention
// CHECK-NOT: attention"
func.func @attention(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x32x16xf32>, %v: tensor<2x4x32x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) {
  %0 = "ttir.matmul"(%q, %k) <{transpose_b = true}> {ttcore.compute_config = #lofi} : (tensor<2x4x8x16xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x32xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 3 : si32}> {ttcore.compute_config = #lofi} : (tensor<2x4x8x32xf32>) -> tensor<2x4x8x32xf32>
  %2 = "ttir.matmul"(%1, %v) {ttcore.compute_config = #lofi} : (tensor<2x4x8x32xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = "ttir.matmul"(%q, %k) <{transpose_b = true}> {ttcore.compute_config = #lofi} : (tensor<2x4x8x16xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x32xf32>
  %4 = "ttir.softmax"(%3) <{dimension = 3 : si32}> : (tensor<2x4x8x32xf32>) -> tensor<2x4x8x32xf32>
  %5 = "ttir.matmul"(%4, %v) : (tensor<2x4x8x32xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x16xf32>
  return %2, %5 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
}

// What is computed ahead of a convolution's weights has no config.
// CHECK-LABEL: @convolution
// CHECK: "ttir.multiply"(%{{.*}}) : (tensor<4x36xf32>
// CHECK: "ttir.conv2d"{{.*}}ttcore.compute_config = #ttnn.device_compute_kernel_config<math_fidelity = lofi>
// CHECK-NOT: "ttir.multiply"
// CHECK: "ttir.conv2d"
// CHECK: "ttir.multiply"{{.*}}math_fidelity = hifi2
func.func @convolution(%x: tensor<1x8x8x4xf32>, %w: tensor<4x4x3x3xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<1x1x1x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> {ttcore.compute_config = #lofi} : (tensor<1x8x8x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x6x6x4xf32>
  %1 = "ttir.multiply"(%0, %s) {ttcore.compute_config = #lofi} : (tensor<1x6x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x6x6x4xf32>
  %2 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> {ttcore.compute_config = #lofi} : (tensor<1x8x8x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x6x6x4xf32>
  %3 = "ttir.multiply"(%2, %s) {ttcore.compute_config = #wide} : (tensor<1x6x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x6x6x4xf32>
  return %1, %3 : tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>
}
