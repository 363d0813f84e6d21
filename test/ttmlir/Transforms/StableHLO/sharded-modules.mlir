// RUN: ttmlir-opt %s --split-input-file --stablehlo-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --auto-sharding | FileCheck %s --check-prefix=AUTO

// Modules of many ops under shardings, rules and sizes of many kinds; what mutations of texts begin with.
// CHECK-LABEL: @windows
// CHECK: sdy.manual_computation
// CHECK: stablehlo.convolution
// CHECK: "stablehlo.reduce_window"
// AUTO-LABEL: @windows
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @windows(%x: tensor<8x16x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}, {?}, {?}]>}, %w: tensor<3x3x4x8xf32>) -> tensor<8x8x8x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x16x4xf32>, tensor<3x3x4x8xf32>) -> tensor<8x16x16x8xf32>
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%0, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<8x16x16x8xf32>, tensor<f32>) -> tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

// -----

// CHECK-LABEL: @sorted_and_gathered
// CHECK: "stablehlo.sort"
// CHECK: "stablehlo.gather"
// AUTO-LABEL: @sorted_and_gathered
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @sorted_and_gathered(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<8xi32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>, tensor<16x16xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %ii = stablehlo.reshape %i : (tensor<8xi32>) -> tensor<8x1xi32>
  %1 = "stablehlo.gather"(%x, %ii) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<8x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
  %2 = stablehlo.slice %0 [0:8, 4:8] : (tensor<8x16xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>, tensor<16x16xf32>
}

// -----

// CHECK-LABEL: @loop
// CHECK: stablehlo.while
// CHECK: "stablehlo.all_gather"
// AUTO-LABEL: @loop
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @loop(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<8x16xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %w:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<8x16xf32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %t = stablehlo.transpose %v, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %d = stablehlo.dot_general %v, %t, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %e = stablehlo.dot_general %d, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    stablehlo.return %j, %e : tensor<i32>, tensor<8x16xf32>
  }
  return %w#1 : tensor<8x16xf32>
}

// -----

// CHECK-LABEL: @rules
// CHECK: stablehlo.custom_call @mine
// CHECK: stablehlo.custom_call @third
// AUTO-LABEL: @rules
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @rules(%x: tensor<8x16xf32>, %y: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = stablehlo.custom_call @mine(%x, %y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=32, k=16} reduction={k}>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.custom_call @other(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, jk]) {i=8, j=4, k=8} need_replication={k} blocked_propagation={i}>} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.custom_call @third(%1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=32} permutation={j}, custom>} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}

// -----

// CHECK-LABEL: @unknown_sizes
// CHECK: stablehlo.tanh {{.*}} : tensor<?x32xf32>
// CHECK: stablehlo.tanh {{.*}} : tensor<0x16xf32>
// AUTO-LABEL: @unknown_sizes
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @unknown_sizes(%x: tensor<?x16xf32>, %y: tensor<16x32xf32>, %z: tensor<8x16xcomplex<f32>>) -> (tensor<?x32xf32>, tensor<8x16xcomplex<f32>>, tensor<0x16xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>
  %1 = stablehlo.tanh %0 : tensor<?x32xf32>
  %2 = stablehlo.add %z, %z : tensor<8x16xcomplex<f32>>
  %3 = stablehlo.constant dense<> : tensor<0x16xf32>
  %4 = stablehlo.tanh %3 : tensor<0x16xf32>
  return %1, %2, %4 : tensor<?x32xf32>, tensor<8x16xcomplex<f32>>, tensor<0x16xf32>
}
