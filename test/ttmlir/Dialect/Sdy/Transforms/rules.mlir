// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(sdy-populate-op-sharding-rules))' | FileCheck %s
// Rules by family. Ops inside of regions work on scalars.

// CHECK-LABEL: @elementwise(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([], [i, j], [i, j])->([i, j]) {i=4, j=8}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j], [i, j])->([i, j]) {i=4, j=8}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @elementwise(%a: tensor<4x8xf32>, %p: tensor<i1>, %t: tensor<4x8xi1>) {
  %0 = stablehlo.add %a, %a : tensor<4x8xf32>
  %1 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<4x8xf32>
  %2 = stablehlo.select %t, %a, %a : tensor<4x8xi1>, tensor<4x8xf32>
  %3 = stablehlo.compare LT, %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %4 = stablehlo.convert %a : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return
}
// CHECK-LABEL: @bitcast(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i, j]) {i=4, j=2} need_replication={j}>
func.func @bitcast(%a: tensor<4xf32>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xbf16>
  return
}
// CHECK-LABEL: @broadcast(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j, l]) {i=4, j=3, k=1, l=8}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([])->([i, j]) {i=4, j=3}>
func.func @broadcast(%a: tensor<4x1xf32>, %s: tensor<f32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<4x1xf32>) -> tensor<4x3x8xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
  return
}
// CHECK-LABEL: @transpose(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([j, k, i])->([i, j, k]) {i=4, j=2, k=3}>
func.func @transpose(%a: tensor<2x3x4xf32>) {
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return
}
// CHECK-LABEL: @reshape(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, jk]) {i=2, j=4, k=4}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([ijk])->([i, j, k]) {i=2, j=3, k=2}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, l])->([j, k, l]) {i=1, j=8, k=1, l=32}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k, m])->([j, l]) {i=2, j=5, k=3, l=6, m=5}>
func.func @reshape(%a: tensor<8x4xf32>, %b: tensor<12xf32>, %c: tensor<1x8x32xf32>, %d: tensor<6x4xf32>, %e: tensor<2x3x5xf32>, %f: tensor<0x4xf32>) {
  %0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x16xf32>
  %1 = stablehlo.reshape %b : (tensor<12xf32>) -> tensor<2x3x2xf32>
  %2 = stablehlo.reshape %c : (tensor<1x8x32xf32>) -> tensor<8x1x32xf32>
  %3 = stablehlo.reshape %d : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.reshape %e : (tensor<2x3x5xf32>) -> tensor<5x6xf32>
  %5 = stablehlo.reshape %f : (tensor<0x4xf32>) -> tensor<0xf32>
  return
}
// CHECK-LABEL: @dot(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=4, k=16, l=8} reduction={l}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j])->([i]) {i=4, j=8} reduction={j}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k, l], [i, l, j])->([i, j, k]) {i=2, j=16, k=4, l=8} reduction={l}>
func.func @dot(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>, %m: tensor<4x8xf32>, %v: tensor<8xf32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  %1 = stablehlo.dot %m, %v : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.einsum %a, %b, config = "bij,bjk->bki" : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x16x4xf32>
  return
}
// CHECK-LABEL: @reduce(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i]) {i=4, j=8} reduction={j}>
func.func @reduce(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// CHECK-LABEL: @windows(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=4} permutation={j}>
func.func @windows(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// CHECK-LABEL: @moves(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={i}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={j}>
func.func @moves(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  %0 = stablehlo.slice %a [0:4, 2:6] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.pad %a, %z, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x10xf32>
  %2 = stablehlo.reverse %a, dims = [0] : tensor<4x8xf32>
  %3 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.slice %a [0:4, 4:8] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.concatenate %4, %0, dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return
}
// CHECK-LABEL: @dynamic_places(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=4, j=8, k=2} need_replication={j, k}>
func.func @dynamic_places(%a: tensor<4x8xf32>, %u: tensor<4x2xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [4, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %1 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}
// Devices read the rows that they hold, and the results are summed, as in Shardy; a table that is smaller than what is
// read of it is gathered.
// CHECK-LABEL: @gather(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([l, k], [i, j])->([i, j, k]) {i=2, j=4, k=32, l=16} reduction={l}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([l, k], [i, j])->([i, j, k]) {i=2, j=4, k=32, l=8} need_replication={l}>
func.func @gather(%t: tensor<16x32xf32>, %s: tensor<8x32xf32>, %i: tensor<2x4xi32>) {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<16x32xf32>, tensor<2x4xi32>) -> tensor<2x4x32xf32>
  %1 = "stablehlo.gather"(%s, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<8x32xf32>, tensor<2x4xi32>) -> tensor<2x4x32xf32>
  return
}
// CHECK-LABEL: @scatter(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=32, k=16, l=1} need_replication={i, k, l}>
func.func @scatter(%t: tensor<16x32xf32>, %i: tensor<4x1xi32>, %u: tensor<4x32xf32>) {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<16x32xf32>, tensor<4x1xi32>, tensor<4x32xf32>) -> tensor<16x32xf32>
  return
}
// CHECK-LABEL: @convolution(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, l, j, k], [m, l, n, o])->([i, m, j, k]) {i=2, j=16, k=16, l=8, m=4, n=1, o=1} reduction={l} permutation={j, k}>
func.func @convolution(%x: tensor<2x8x16x16xf32>, %w: tensor<4x8x3x3xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x16x16xf32>, tensor<4x8x3x3xf32>) -> tensor<2x4x16x16xf32>
  return
}
// CHECK-LABEL: @sort(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}>
func.func @sort(%a: tensor<4x8xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %p = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
// CHECK-LABEL: @normalization(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [j], [j], [j], [j])->([i, j, k]) {i=2, j=4, k=8}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [j], [j])->([i, j, k], [j], [j]) {i=2, j=4, k=8} need_replication={i, k}>
func.func @normalization(%x: tensor<2x4x8xf32>, %p: tensor<4xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %p, %p, %p, %p) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  %1:3 = "stablehlo.batch_norm_training"(%x, %p, %p) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
// CHECK-LABEL: @linear_algebra(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=2, j=4, k=4} need_replication={j, k}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, l], [i, j, k])->([i, l, k]) {i=2, j=4, k=8, l=4} need_replication={j, k, l}>
func.func @linear_algebra(%a: tensor<2x4x4xf32>, %b: tensor<2x4x8xf32>) {
  %0 = stablehlo.cholesky %a : tensor<2x4x4xf32>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x4x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}
// CHECK-LABEL: @custom_calls(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, m], [i, j, l, m], [i, j, l, m])->([i, j, k, m]) {i=2, j=8, k=16, l=16, m=32} need_replication={k, l, m} blocked_propagation={k, l, m}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j])->([i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}>
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_calls(%q: tensor<2x8x16x32xf32>, %k: tensor<2x4x16x32xf32>, %x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  %0 = stablehlo.custom_call @tt.scaled_dot_product_attention(%q, %k, %k) : (tensor<2x8x16x32xf32>, tensor<2x4x16x32xf32>, tensor<2x4x16x32xf32>) -> tensor<2x8x16x32xf32>
  %1 = stablehlo.custom_call @tenstorrent.rms_norm(%x, %w) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.custom_call @unknown(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = stablehlo.custom_call @tt.paged_update_cache(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %5 = stablehlo.custom_call @tt.paged_update_cache(%w, %w, %w, %w) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}
// CHECK-LABEL: @without(
// CHECK-NOT: sdy.sharding_rule = #sdy.op_sharding_rule<([i
func.func @without(%a: tensor<?x8xf32>) {
  %0 = stablehlo.add %a, %a : tensor<?x8xf32>
  return
}
// CHECK-LABEL: @attention_without_heads(
// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, {{.}}, j, l], [i, {{.}}, k, l], [i, {{.}}, k, l])->
func.func @attention_without_heads(%q: tensor<2x8x16x32xf32>, %k: tensor<2x0x16x32xf32>) {
  %0 = stablehlo.custom_call @tt.scaled_dot_product_attention(%q, %k, %k) : (tensor<2x8x16x32xf32>, tensor<2x0x16x32xf32>, tensor<2x0x16x32xf32>) -> tensor<2x8x16x32xf32>
  return
}
