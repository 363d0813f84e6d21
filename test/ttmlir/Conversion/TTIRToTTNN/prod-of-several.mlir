// TTNN multiplies along one dimension or all: several are taken one after the other.
// RUN: ttmlir-opt %s --ttir-to-ttnn-common-pipeline | FileCheck %s

// CHECK-LABEL: @kept
// CHECK: %[[A:.*]] = "ttnn.prod"(%{{.*}}) <{dim_arg = 0 : si64, keep_dim = true}> : {{.*}} -> tensor<1x8x2xf32
// CHECK: "ttnn.prod"(%[[A]]) <{dim_arg = -1 : si64, keep_dim = true}> : {{.*}} -> tensor<1x8x1xf32
func.func @kept(%a: tensor<4x8x2xf32>) -> tensor<1x8x1xf32> {
  %0 = "ttir.prod"(%a) <{dim_arg = [0 : i32, -1 : i32], keep_dim = true}> : (tensor<4x8x2xf32>) -> tensor<1x8x1xf32>
  return %0 : tensor<1x8x1xf32>
}

// CHECK-LABEL: @dropped
// CHECK-COUNT-2: "ttnn.prod"
// CHECK: "ttnn.reshape"{{.*}} -> tensor<8xf32
func.func @dropped(%a: tensor<4x8x2xf32>) -> tensor<8xf32> {
  %0 = "ttir.prod"(%a) <{dim_arg = [2 : i32, 0 : i32], keep_dim = false}> : (tensor<4x8x2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// What a user marks an op with is no attribute that it lacks.
// CHECK-LABEL: @marked
// CHECK: "ttnn.exp"(%{{.*}}) :
func.func @marked(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.exp"(%a) {mine} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
