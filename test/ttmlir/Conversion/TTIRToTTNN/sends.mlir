// RUN: ttmlir-opt %s --ttcore-register-device=mesh-shape=1,2 --ttnn-layout --convert-ttir-to-ttnn --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @permute
// CHECK: "ttnn.collective_permute"(%arg0) <{source_target_pairs = array<i64: 0, 1, 1, 0>}>
func.func @permute(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// CHECK-LABEL: @broadcast
// CHECK-COUNT-2: "ttnn.point_to_point"{{.*}}sender_coord = array<i64: 0, 1>
func.func @broadcast(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// CHECK-LABEL: @all_to_all
// CHECK: "ttnn.all_to_all"(%arg0) <{concat_dim = 0 : si32, replica_groups = array<i64: 0, 1>, split_count = 2 : si32, split_dim = 1 : si32}> : {{.*}} -> tensor<64x16xf32
func.func @all_to_all(%x: tensor<32x32xf32>) -> tensor<64x16xf32> {
  %0 = "ttir.all_to_all"(%x) <{split_dim = 1 : si32, concat_dim = 0 : si32, split_count = 2 : si32, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<32x32xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// -----

func.func @outside(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error@+1 {{'ttir.collective_permute' op attribute 'source_target_pairs' has target 2; the mesh 1x2 has chips 0 to 1}}
  %0 = "ttir.collective_permute"(%x) <{source_target_pairs = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
