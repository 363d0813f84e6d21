// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s

// CHECK-LABEL: @movement
func.func @movement(%x: tensor<4x6xf32>, %v: tensor<6xf32>, %z: tensor<f32>, %i: tensor<i32>) {
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [2, 0, 1] : (tensor<2x2x6xf32>) -> tensor<6x2x2xf32>
  %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x2x6xf32>) -> tensor<6x2x2xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<6xf32>) -> tensor<3x6xf32>
  %2 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<6xf32>) -> tensor<3x6xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<4x6xf32>, tensor<3x6xf32>) -> tensor<7x6xf32>
  %3 = stablehlo.concatenate %x, %2, dim = 0 : (tensor<4x6xf32>, tensor<3x6xf32>) -> tensor<7x6xf32>
  // CHECK: stablehlo.slice %{{.*}} [1:7:2, 0:4] : (tensor<7x6xf32>) -> tensor<3x4xf32>
  %4 = stablehlo.slice %3 [1:7:2, 0:4:1] : (tensor<7x6xf32>) -> tensor<3x4xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, -1], high = [1, 0], interior = [0, 2] : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x9xf32>
  %5 = stablehlo.pad %4, %z, low = [1, -1], high = [1, 0], interior = [0, 2] : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x9xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<4x6xf32>
  %6 = stablehlo.reverse %x, dims = [0] : tensor<4x6xf32>
  // CHECK: stablehlo.broadcast %{{.*}}, sizes = [2, 3] : (tensor<6xf32>) -> tensor<2x3x6xf32>
  %7 = stablehlo.broadcast %v, sizes = [2, 3] : (tensor<6xf32>) -> tensor<2x3x6xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %8 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %9 = stablehlo.dynamic_update_slice %x, %8, %i, %i : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<6xf32>) -> tensor<6x2xbf16>
  %10 = stablehlo.bitcast_convert %v : (tensor<6xf32>) -> tensor<6x2xbf16>
  return
}

// CHECK-LABEL: @products
func.func @products(%a: tensor<3x8x20xbf16>, %b: tensor<3x20x5xbf16>, %m: tensor<8x20xf32>, %n: tensor<20x7xf32>) {
  // CHECK: stablehlo.dot_general %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : {{.*}} -> tensor<3x8x5xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<3x8x20xbf16>, tensor<3x20x5xbf16>) -> tensor<3x8x5xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> :
  %1 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGH, HIGH] : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  %2 = stablehlo.dot %m, %n, precision = [HIGH, HIGH] : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  return
}

// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<2x15x17x8xf32>, %w: tensor<3x5x4x12xf32>) {
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 1], [2, 2]], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} :
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [2, 2]], rhs_dilate = [1, 1], reverse = [0, 1],} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x15x17x8xf32>, tensor<3x5x4x12xf32>) -> tensor<2x8x17x12xf32>
  // The long form of the dimension numbers means the same.
  // CHECK: stablehlo.convolution(%{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
  %1 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, feature_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<raw
    input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2,
    kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0,
    output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>}> : (tensor<2x15x17x8xf32>, tensor<3x5x4x12xf32>) -> tensor<2x13x13x12xf32>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<7x11x13xf32>, %i: tensor<7x11x13xi32>, %z: tensor<f32>, %n: tensor<i32>) {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<7x11x13xf32>, tensor<f32>) -> tensor<7x13xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<7x11x13xf32>, tensor<f32>) -> tensor<7x13xf32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0, 2] {note} : {{.*}} -> (tensor<11xf32>, tensor<11xi32>)
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%[[C:.*]]: tensor<i32>, %[[D:.*]]: tensor<i32>) {
  %1:2 = stablehlo.reduce(%x init: %z), (%i init: %n) across dimensions = [0, 2] {note} : (tensor<7x11x13xf32>, tensor<7x11x13xi32>, tensor<f32>, tensor<i32>) -> (tensor<11xf32>, tensor<11xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      // CHECK-NEXT: stablehlo.maximum %[[A]], %[[B]]
      %m = stablehlo.maximum %a, %b : tensor<f32>
      // CHECK-NEXT: stablehlo.minimum %[[C]], %[[D]]
      %o = stablehlo.minimum %c, %d : tensor<i32>
      stablehlo.return %m, %o : tensor<f32>, tensor<i32>
    }
  return
}
