// RUN: ttmlir-opt %s --ttir-fusing | FileCheck %s

// Ops of different epochs or fusion groups are not fused; the fused op has the requests of its parts.
// CHECK-LABEL: @bias
// CHECK-NEXT: "ttir.linear"(%arg0, %arg1, %arg2) {{.*}}{ttcore.epoch = 1 : i64}
// CHECK-NEXT: "ttir.matmul"{{.*}}{ttcore.epoch = 1 : i64}
// CHECK-NEXT: "ttir.add"{{.*}}{ttcore.epoch = 2 : i64}
// CHECK-NEXT: "ttir.linear"{{.*}}{ttcore.epoch = 2 : i64, ttcore.fusion_group = "sum"}
// CHECK-NEXT: "ttir.matmul"{{.*}}{ttcore.epoch = 2 : i64}
// CHECK-NEXT: "ttir.add"{{.*}}{ttcore.epoch = 2 : i64, ttcore.fusion_group = "sum"}
func.func @bias(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.matmul"(%x, %w) {ttcore.epoch = 1 : i64} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.add"(%0, %b) {ttcore.epoch = 1 : i64} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.matmul"(%x, %w) {ttcore.epoch = 1 : i64} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.add"(%2, %b) {ttcore.epoch = 2 : i64} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %4 = "ttir.matmul"(%x, %w) {ttcore.epoch = 2 : i64, ttcore.fusion_group = "sum"} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %5 = "ttir.add"(%4, %b) {ttcore.epoch = 2 : i64, ttcore.fusion_group = "sum"} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %6 = "ttir.matmul"(%x, %w) {ttcore.epoch = 2 : i64} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %7 = "ttir.add"(%6, %b) {ttcore.epoch = 2 : i64, ttcore.fusion_group = "sum"} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1, %3, %5, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @functions
// CHECK-NEXT: "ttir.silu"(%arg0) {ttcore.epoch = 0 : i64}
// CHECK-NEXT: "ttir.sigmoid"
// CHECK-NEXT: "ttir.multiply"
// CHECK-NEXT: "ttir.sigmoid"
// CHECK-NEXT: "ttir.multiply"
func.func @functions(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.sigmoid"(%x) {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.multiply"(%0, %x) {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.sigmoid"(%x) {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.multiply"(%2, %x) {ttcore.epoch = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "ttir.sigmoid"(%x) {ttcore.fusion_group = "sigmoid"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "ttir.multiply"(%4, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// A group of ops (softmax), and ops that a pass created, which have no number.
// CHECK-LABEL: @softmax
// CHECK-NEXT: "ttir.softmax"(%arg0) {{.*}}{ttcore.epoch = 0 : i64}
// CHECK-NOT: "ttir.softmax"
func.func @softmax(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %1 = "ttir.subtract"(%x, %0) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %2 = "ttir.exp"(%1) {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.sum"(%2) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %4 = "ttir.div"(%2, %3) {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %5 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %6 = "ttir.subtract"(%x, %5) {ttcore.epoch = 0 : i64} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %7 = "ttir.exp"(%6) {ttcore.epoch = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = "ttir.sum"(%7) <{dim_arg = [1 : i32], keep_dim = true}> {ttcore.epoch = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %9 = "ttir.div"(%7, %8) {ttcore.epoch = 1 : i64} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %4, %9 : tensor<8x8xf32>, tensor<8x8xf32>
}
