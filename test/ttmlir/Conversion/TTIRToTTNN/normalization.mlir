// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn | FileCheck %s

// The statistics that training returns are computed by separate ops.
// CHECK-LABEL: func.func @training
// CHECK: "ttnn.permute"(%arg0) <{{{.*}}permutation = array<i64: 0, 3, 1, 2>}>
// CHECK: "ttnn.mean"{{.*}}dim_arg = [0 : i32, 2 : i32, 3 : i32], keep_dim = false{{.*}} -> tensor<5xf32
// CHECK: "ttnn.mean"
// CHECK: "ttnn.batch_norm_training"(%{{.*}}, %arg1, %arg2) <{epsilon = {{.*}}, momentum = {{.*}}, operandSegmentSizes = array<i32: 1, 0, 0, 1, 1>}>
// CHECK: "ttnn.permute"{{.*}}permutation = array<i64: 0, 2, 3, 1>
func.func @training(%x: tensor<2x4x3x5xf32>, %s: tensor<5xf32>, %o: tensor<5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32>) -> (tensor<2x4x3x5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0, %1, %2 = "ttir.batch_norm_training"(%x, %s, %o, %m, %v) <{dimension = 3 : i32, epsilon = 1.0e-3 : f32, momentum = 0.1 : f32}> : (tensor<2x4x3x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<2x4x3x5xf32>, tensor<5xf32>, tensor<5xf32>)
  return %0, %1, %2 : tensor<2x4x3x5xf32>, tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: func.func @inference
// CHECK: "ttnn.reshape"(%arg0) {{.*}} -> tensor<6x5x1x1xf32
// CHECK: "ttnn.batch_norm_inference"(%{{.*}}, %arg3, %arg4, %arg1, %arg2)
// CHECK: "ttnn.reshape"{{.*}} -> tensor<6x5xf32
func.func @inference(%x: tensor<6x5xf32>, %s: tensor<5xf32>, %o: tensor<5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32>) -> tensor<6x5xf32> {
  %0 = "ttir.batch_norm_inference"(%x, %s, %o, %m, %v) <{dimension = 1 : i32, epsilon = 1.0e-3 : f32}> : (tensor<6x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
