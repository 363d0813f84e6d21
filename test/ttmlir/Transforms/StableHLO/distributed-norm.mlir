// RUN: ttmlir-opt %s -split-input-file --fuse-distributed-custom-calls | FileCheck %s
// RUN: ttmlir-opt %s -split-input-file --register-custom-sharding-rule | FileCheck %s --check-prefix=SAME

// Rows and weights are gathered along "y", and so is the result sliced.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-LABEL: @norm
// CHECK: %[[R:.*]] = stablehlo.custom_call @tenstorrent.distributed_rms_norm(%arg0, %arg1) {tt.composite_attributes = {cluster_axis = 1 : i32, epsilon = 9.99999974E-6 : f32}, tt.has_custom_sharding} : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: return %[[R]]
// SAME: @norm
// SAME: stablehlo.custom_call @tenstorrent.rms_norm
func.func @norm(%x: tensor<32x32xf32>, %w: tensor<32xf32>) -> tensor<32x32xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<32x32xf32>) -> tensor<32x128xf32>
  %1 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<32xf32>) -> tensor<128xf32>
  %2 = stablehlo.custom_call @tenstorrent.rms_norm(%0, %1) {tt.composite_attributes = {epsilon = 9.99999974E-6 : f32, normalized_shape = dense<128> : tensor<1xi64>}, tt.has_custom_sharding} : (tensor<32x128xf32>, tensor<128xf32>) -> tensor<32x128xf32>
  %3 = stablehlo.composite "sdy.all_slice" %2 {composite_attributes = {out_sharding = #sdy.sharding<@mesh, [{}, {"y"}]>, slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"y"}]>}, decomposition = @slice} : (tensor<32x128xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}
func.func private @slice(%x: tensor<32x128xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.slice %x [0:32, 0:32] : (tensor<32x128xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// Along columns, of a mesh 4x1, and without a weight.
sdy.mesh @mesh = <["x"=4, "y"=1]>
// CHECK-LABEL: @columns
// CHECK: @tenstorrent.distributed_rms_norm(%arg0) {tt.composite_attributes = {cluster_axis = 0 : i32}
func.func @columns(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<32x32xf32>) -> tensor<32x128xf32>
  %2 = stablehlo.custom_call @tenstorrent.rms_norm(%0) {tt.composite_attributes = {normalized_shape = dense<128> : tensor<1xi64>}} : (tensor<32x128xf32>) -> tensor<32x128xf32>
  %3 = stablehlo.composite "sdy.all_slice" %2 {composite_attributes = {slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"x"}]>}, decomposition = @slice} : (tensor<32x128xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}
func.func private @slice(%x: tensor<32x128xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.slice %x [0:32, 0:32] : (tensor<32x128xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// The result is sliced along another axis than the rows were gathered; and a weight that is whole.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @others
// CHECK-COUNT-2: stablehlo.custom_call @tenstorrent.rms_norm
func.func @others(%x: tensor<32x32xf32>, %w: tensor<64xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x64xf32>
  %1 = stablehlo.custom_call @tenstorrent.rms_norm(%0) {tt.composite_attributes = {normalized_shape = dense<64> : tensor<1xi64>}} : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %2 = stablehlo.composite "sdy.all_slice" %1 {composite_attributes = {slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"y"}]>}, decomposition = @slice} : (tensor<32x64xf32>) -> tensor<32x32xf32>
  %3 = stablehlo.custom_call @tenstorrent.rms_norm(%0, %w) {tt.composite_attributes = {normalized_shape = dense<64> : tensor<1xi64>}} : (tensor<32x64xf32>, tensor<64xf32>) -> tensor<32x64xf32>
  %4 = stablehlo.composite "sdy.all_slice" %3 {composite_attributes = {slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"x"}]>}, decomposition = @slice} : (tensor<32x64xf32>) -> tensor<32x32xf32>
  return %2, %4 : tensor<32x32xf32>, tensor<32x32xf32>
}
func.func private @slice(%x: tensor<32x64xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.slice %x [0:32, 0:32] : (tensor<32x64xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// Several dimensions are normalized at once: their squares would be summed over the last one only.
sdy.mesh @mesh = <["x"=1, "y"=2]>
// CHECK-LABEL: @planes
// CHECK: stablehlo.custom_call @tenstorrent.rms_norm
// CHECK-NOT: distributed_rms_norm
func.func @planes(%x: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 2 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4x64xf32>) -> tensor<8x4x128xf32>
  %1 = stablehlo.custom_call @tenstorrent.rms_norm(%0) {tt.composite_attributes = {normalized_shape = dense<[4, 128]> : tensor<2xi64>}} : (tensor<8x4x128xf32>) -> tensor<8x4x128xf32>
  %2 = stablehlo.composite "sdy.all_slice" %1 {composite_attributes = {slicing_axes = #sdy<list_of_axis_ref_lists[{}, {}, {"y"}]>}, decomposition = @slice} : (tensor<8x4x128xf32>) -> tensor<8x4x64xf32>
  return %2 : tensor<8x4x64xf32>
}
func.func private @slice(%x: tensor<8x4x128xf32>) -> tensor<8x4x64xf32> {
  %0 = stablehlo.slice %x [0:8, 0:4, 0:64] : (tensor<8x4x128xf32>) -> tensor<8x4x64xf32>
  return %0 : tensor<8x4x64xf32>
}
