// RUN: ttmlir-opt %s --split-input-file --stablehlo-pipeline | FileCheck %s

// A contraction over a split dimension is combined; arguments come in shards, results as one tensor.
// CHECK-LABEL: func.func @contraction
// CHECK-SAME: %arg0: tensor<32x64xf32> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<32x32xf32>>, ttcore.shard_status = #ttcore.shard_status<presharded>}
// CHECK-SAME: -> (tensor<32x16xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>})
// CHECK: sdy.manual_computation(%arg0, %arg1) {{.*}} manual_axes={"x", "y"} (%[[A:.*]]: tensor<32x32xf32>, %[[W:.*]]: tensor<32x16xf32>)
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[A]], %[[W]]
// CHECK: "stablehlo.all_reduce"(%[[D]]) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}>
// CHECK: stablehlo.add
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @contraction(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>},
                       %w: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}]>}) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// -----

// What is reversed comes from the device at the same place from the other end.
// CHECK-LABEL: func.func @reverse
// CHECK-NOT: all_gather
// CHECK: %[[P:.*]] = "stablehlo.collective_permute"(%{{.*}}) {{.*}}source_target_pairs = dense<{{\[\[}}0, 2], [2, 0], [1, 3], [3, 1]]>
// CHECK: stablehlo.reverse %[[P]], dims = [0] : tensor<4x16xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @reverse(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// A device has the rows before 32, the other one those from there on: each reads what it has, and both are summed.
// CHECK-LABEL: func.func @rows_of_a_table
// CHECK-NOT: all_gather
// CHECK: %[[FIRST:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// CHECK: %[[SHIFTED:.*]] = stablehlo.subtract %{{.*}}, %[[FIRST]] : tensor<4x1xi32>
// CHECK: %[[INSIDE:.*]] = stablehlo.clamp %{{.*}}, %[[SHIFTED]], %{{.*}} : (tensor<i32>, tensor<4x1xi32>, tensor<i32>)
// CHECK: %[[READ:.*]] = "stablehlo.gather"(%{{.*}}, %[[INSIDE]]){{.*}} : (tensor<32x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
// CHECK: %[[KEPT:.*]] = stablehlo.select %{{.*}}, %[[READ]], %{{.*}} : tensor<4x16xi1>, tensor<4x16xf32>
// CHECK: "stablehlo.all_reduce"(%[[KEPT]])
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @rows_of_a_table(%t: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<4x1xi32>) -> tensor<4x16xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<64x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// The first half of the result is %a, the second %b: a device sends the half that it does not keep.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: all_gather
// CHECK-COUNT-2: "stablehlo.collective_permute"(%{{.*}}) {{.*}} : (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NOT: "stablehlo.collective_permute"
// CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @halves(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// A value that is repeated is gathered once, and split again.
// CHECK-LABEL: func.func @join
// CHECK: %[[G:.*]] = "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0
// CHECK: stablehlo.concatenate %[[G]], %{{.*}}, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @join(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// The gradient of a kernel: a sum over the rows of both images, to which each device adds its own and those next to it.
// CHECK-LABEL: func.func @kernel_gradient
// CHECK-NOT: all_gather
// CHECK: stablehlo.concatenate {{.*}} -> tensor<2x18x8x4xf32>
// CHECK: %[[C:.*]] = stablehlo.convolution({{.*}}pad = {{\[\[}}0, 0], [1, 1]]{{.*}} : (tensor<2x18x8x4xf32>, tensor<2x16x8x4xf32>) -> tensor<4x3x3x4xf32>
// CHECK: "stablehlo.all_reduce"(%[[C]])
sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @kernel_gradient(%x: tensor<2x64x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}, {}]>}, %g: tensor<2x64x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}, {}]>}) -> tensor<4x3x3x4xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x64x8x4xf32>, tensor<2x64x8x4xf32>) -> tensor<4x3x3x4xf32>
  return %0 : tensor<4x3x3x4xf32>
}

// -----

// Windows take the last row of the device before and the first one of that after; the ends have zeros.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: all_gather
// CHECK: %[[LAST:.*]] = stablehlo.slice %[[X:arg[0-9]+]] [0:1, 15:16, 0:64, 0:8]
// CHECK: %[[BEFORE:.*]] = "stablehlo.collective_permute"(%[[LAST]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
// CHECK: %[[FIRST:.*]] = stablehlo.slice %[[X]] [0:1, 0:1, 0:64, 0:8]
// CHECK: %[[AFTER:.*]] = "stablehlo.collective_permute"(%[[FIRST]]) {{.*}}source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]>
// CHECK: %[[ALL:.*]] = stablehlo.concatenate %[[BEFORE]], %[[X]], %[[AFTER]], dim = 1
// CHECK: stablehlo.convolution(%[[ALL]], {{.*}}pad = {{\[\[}}0, 0], [1, 1]]{{.*}} -> tensor<1x16x64x16xf32>
sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @rows(%x: tensor<1x64x64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}, {}]>}, %w: tensor<3x3x8x16xf32>) -> tensor<1x64x64x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x64x64x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x64x64x16xf32>
  return %0 : tensor<1x64x64x16xf32>
}

// -----

// Devices begin at different places of what they have, and need nothing of others.
// CHECK-LABEL: func.func @slice
// CHECK-NOT: all_gather
// CHECK: stablehlo.dynamic_slice {{.*}} sizes = [3, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<3x16xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @slice(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6x16xf32> {
  %0 = stablehlo.slice %a [1:7, 0:16] : (tensor<8x16xf32>) -> tensor<6x16xf32>
  return %0 : tensor<6x16xf32>
}

// -----

// Windows that end where parts do take what a device has; it stays a part for others.
// CHECK-LABEL: func.func @pool
// CHECK-NOT: all_gather
// CHECK: "stablehlo.reduce_window"(%[[A:[^,]*]],
// CHECK: }) : (tensor<4x16xf32>, tensor<f32>) -> tensor<2x8xf32>
// CHECK-NOT: all_gather
// CHECK: stablehlo.negate %[[A]] : tensor<4x16xf32>
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @pool(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<4x8xf32>, tensor<8x16xf32>) {
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %start) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = stablehlo.negate %a : tensor<8x16xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<8x16xf32>
}

// -----

// Inside of a program tensors may be split by a part of an axis; what comes and goes is split by whole axes.
// CHECK-LABEL: func.func @parts_of_axes
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>]
// CHECK: stablehlo.negate %{{.*}} : tensor<4x16xf32>
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @parts_of_axes(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.negate %a : tensor<16x16xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y", "x":(1)2}, {}]> : tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// -----

// A dimension split along two axes is gathered by the inner one first.
// CHECK-LABEL: func.func @two_axes
// CHECK: %[[Y:.*]] = "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0 {{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// CHECK: "stablehlo.all_gather"(%[[Y]]) <{all_gather_dim = 0 {{.*}}replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @two_axes(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.negate %a : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

// A composite that was put in place for propagation is one again, of local types.
// CHECK-LABEL: func.func @composite
// CHECK: stablehlo.composite "my.square" %{{.*}} {composite_attributes = {a = 1 : i32}, decomposition = @outlined_composite_square_0} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: stablehlo.custom_call @tenstorrent.rms_norm(%{{.*}}) {tt.composite_attributes = {normalized_shape = dense<8> : tensor<1xi64>}, tt.has_custom_sharding} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: func.func private @outlined_composite_square_0(%arg0: tensor<4x8xf32>)
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @composite(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.composite "my.square" %a {composite_attributes = {a = 1 : i32}, decomposition = @square} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.composite "tenstorrent.rms_norm" %0 {composite_attributes = {normalized_shape = dense<8> : tensor<1xi64>}, decomposition = @norm} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func private @square(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<8x8xf32>
  %1 = stablehlo.abs %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func private @norm(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// XLA's strings, and a mesh of one axis.
// CHECK: sdy.mesh @mesh = <["x_aux"=1, "x"=2]>
// CHECK-LABEL: func.func @strings
// CHECK-SAME: tensor<4xf32>>, ttcore.shard_status = #ttcore.shard_status<presharded>
// CHECK: stablehlo.negate %{{.*}} : tensor<4xf32>
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func @strings(%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}, mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
    %0 = stablehlo.negate %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
