// RUN: ttmlir-opt %s --convert-stablehlo-to-ttir | FileCheck %s --implicit-check-not=stablehlo.

// Rows at indices: one lookup, after the starts are moved inside.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[X:.*]]: tensor<33x7xf32>, %[[I:.*]]: tensor<5x1xi32>)
func.func @rows(%x: tensor<33x7xf32>, %i: tensor<5x1xi32>) -> tensor<5x7xf32> {
  // CHECK-NEXT: %[[C:.*]] = "ttir.clamp_scalar"(%[[I]]) <{max = 32 : i32, min = 0 : i32}>
  // CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%[[C]]) <{shape = [5 : i32]}>
  // CHECK-NEXT: %[[Y:.*]] = "ttir.embedding"(%[[R]], %[[X]])
  // CHECK-NEXT: return %[[Y]]
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<33x7xf32>, tensor<5x1xi32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// A slice that is whole has one place: its index is not read.
// CHECK-LABEL: @whole
// CHECK-NOT: ttir.clamp_scalar
// CHECK: return
func.func @whole(%x: tensor<3xf32>, %i: tensor<2x1xi32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3>}> : (tensor<3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Rows outside are given to a row that is dropped.
// CHECK-LABEL: @add
func.func @add(%x: tensor<4x3xf32>, %i: tensor<2x1xi32>, %u: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // CHECK: "ttir.clamp_scalar"(%{{.*}}) <{max = 4 : i32, min = -1 : i32}>
  // CHECK: "ttir.where"
  // CHECK: "ttir.concat"(%{{.*}}) <{dim = 0 : si32}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<5x3xf32>
  // CHECK: "ttir.scatter"(%{{.*}}) <{dim = 0 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}>
  // CHECK: "ttir.slice_static"
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: @blocks
func.func @blocks(%x: tensor<8x4xf32>, %u: tensor<2x4xf32>, %s: tensor<i32>) -> (tensor<2x4xf32>, tensor<8x4xf32>) {
  // CHECK: "ttir.clamp_scalar"(%{{.*}}) <{max = 6 : i32, min = 0 : i32}>
  // CHECK: "ttir.embedding"
  %0 = stablehlo.dynamic_slice %x, %s, %s, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  // CHECK: "ttir.scatter"(%{{.*}}) <{dim = 0 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}>
  %1 = stablehlo.dynamic_update_slice %x, %u, %s, %s : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<8x4xf32>
}

// A window that does not lie inside as a whole is left out as a whole: of two rows in four, the first begins at 2 at most.
// CHECK-LABEL: @window
func.func @window(%x: tensor<4x3xf32>, %i: tensor<2x1xi32>, %u: tensor<2x2x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[START:.*]] = "ttir.clamp_scalar"(%{{.*}}) <{max = 4 : i32, min = -2 : i32}>
  // CHECK-DAG: %[[ZERO:.*]] = "ttir.constant"() <{value = dense<0> : tensor<1x1xi32>}>
  // CHECK-DAG: %[[LAST:.*]] = "ttir.constant"() <{value = dense<2> : tensor<1x1xi32>}>
  // CHECK-DAG: "ttir.ge"(%[[START]], %[[ZERO]])
  // CHECK-DAG: "ttir.le"(%[[START]], %[[LAST]])
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// A comparator of the total order sorts by the bits; one that takes all zeros and all NaN for one sorts as TTIR does.
// CHECK-LABEL: @total_order
func.func @total_order(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[BITS:.*]] = "ttir.bitcast_convert"(%arg0) : (tensor<8xf32>) -> tensor<8xi32>
  // CHECK: %[[KEYS:.*]] = "ttir.where"({{.*}}, %[[BITS]])
  // CHECK: %{{.*}}, %[[PLACES:.*]] = "ttir.sort"(%[[KEYS]]) <{descending = true, dim = 0 : si32, stable = true}>
  // CHECK: "ttir.gather"(%arg0, %[[PLACES]])
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %before = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @one_zero_and_one_nan
func.func @one_zero_and_one_nan(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[VALUES:.*]], %{{.*}} = "ttir.sort"(%arg0)
  // CHECK-NEXT: return %[[VALUES]]
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %0 = stablehlo.compare EQ, %a, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %0, %zero, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.select %2, %nan, %1 : tensor<i1>, tensor<f32>
    %4 = stablehlo.compare EQ, %b, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.select %4, %zero, %b : tensor<i1>, tensor<f32>
    %6 = stablehlo.compare NE, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.select %6, %nan, %5 : tensor<i1>, tensor<f32>
    %before = stablehlo.compare LT, %3, %7, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
