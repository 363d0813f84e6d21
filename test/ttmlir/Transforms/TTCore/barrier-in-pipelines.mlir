// A barrier holds up what would fuse, and is gone from the program.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | ttmlir-translate --ttnn-to-flatbuffer -o /dev/null
// CHECK-LABEL: func.func @kept
// CHECK-NOT: ttcore.optimization_barrier
// CHECK: "ttnn.matmul"
// CHECK: "ttnn.add"
// CHECK-NOT: ttcore.optimization_barrier
func.func @kept(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>, %b: tensor<32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttcore.optimization_barrier"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.add"(%1, %b) : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
