// RUN: ttmlir-opt %s --canonicalize | FileCheck %s

// What moves no value is erased.
// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x1x3xf32>, %[[I:.*]]: tensor<1x4x4x8xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[I]], %[[I]]
func.func @identities(%x: tensor<2x1x3xf32>, %i: tensor<1x4x4x8xf32>)
    -> (tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>,
        tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>,
        tensor<2x1x3xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 1, 2>}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %1 = "ttir.transpose"(%x) <{dim0 = -2 : si32, dim1 = 1 : si32}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %2 = "ttir.reshape"(%x) <{shape = [2 : i32, 1 : i32, 3 : i32]}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %3 = "ttir.broadcast"(%x) <{broadcast_dimensions = array<i64: 1, 1, 1>}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %4 = "ttir.repeat"(%x) <{repeat_dimensions = array<i64: 1, 1, 1>}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %5 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 1 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %6 = "ttir.pad"(%x) <{padding = array<i32: 0, 0, 0, 0, 0, 0>, value = 1.0 : f32}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %7 = "ttir.typecast"(%x) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %8 = "ttir.concat"(%x) <{dim = 1 : si32}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %9 = "ttir.reverse"(%x) <{dimensions = array<i64: 1>}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %10 = "ttir.repeat_interleave"(%x) <{dim = 0 : si32, repeats = 1 : ui32}> : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %11 = "ttir.upsample2d"(%i) <{scale_factor = 1 : si32, mode = "nearest"}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %12 = "ttir.max_pool2d"(%i) <{kernel = 1 : i32, stride = array<i32: 1, 1>, dilation = 1 : i32, padding = 0 : i32, ceil_mode = false}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
}

// The type is kept, the values are not where they were.
// CHECK-LABEL: @keeps_the_type_only
// CHECK: ttir.transpose
// CHECK: ttir.reverse
// CHECK: ttir.max_pool2d
func.func @keeps_the_type_only(%x: tensor<3x3xf32>, %i: tensor<1x4x4x8xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x4x4x8xf32>) {
  %0 = "ttir.transpose"(%x) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = "ttir.reverse"(%x) <{dimensions = array<i64: 1>}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "ttir.max_pool2d"(%i) <{kernel = 3 : i32, stride = 1 : i32, dilation = 1 : i32, padding = 1 : i32, ceil_mode = false}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %0, %1, %2 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x4x4x8xf32>
}

// CHECK-LABEL: @volumes
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4x4x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = "ttir.max_pool3d"
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @volumes(%x: tensor<1x4x4x4x8xf32>) -> (tensor<1x4x4x4x8xf32>, tensor<1x4x4x4x8xf32>) {
  %0 = "ttir.max_pool3d"(%x) <{kernel = 1 : i32, stride = array<i32: 1, 1, 1>, dilation = 1 : i32, padding = 0 : i32, ceil_mode = false}> : (tensor<1x4x4x4x8xf32>) -> tensor<1x4x4x4x8xf32>
  %1 = "ttir.max_pool3d"(%x) <{kernel = array<i32: 3, 1, 1>, stride = 1 : i32, dilation = 1 : i32, padding = array<i32: 1, 0, 0>, ceil_mode = false}> : (tensor<1x4x4x4x8xf32>) -> tensor<1x4x4x4x8xf32>
  return %0, %1 : tensor<1x4x4x4x8xf32>, tensor<1x4x4x4x8xf32>
}

// CHECK-LABEL: @inverse
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
func.func @inverse(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 2, 0>}> : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  %2 = "ttir.transpose"(%x) <{dim0 = 0 : si32, dim1 = -1 : si32}> : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 2, 1, 0>}> : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  %4 = "ttir.unsqueeze"(%x) <{dim = 1 : si32}> : (tensor<2x3x4xf32>) -> tensor<2x1x3x4xf32>
  %5 = "ttir.squeeze"(%4) <{dim = 1 : si32}> : (tensor<2x1x3x4xf32>) -> tensor<2x3x4xf32>
  %6 = "ttir.reverse"(%x) <{dimensions = array<i64: 0, 2>}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %7 = "ttir.reverse"(%6) <{dimensions = array<i64: -1, 0>}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %1, %3, %5, %7 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @composed
// CHECK-DAG: "ttir.permute"(%arg0) <{permutation = array<i64: 1, 2, 0>}>
// CHECK-DAG: "ttir.reshape"(%arg0) <{shape = [24 : i32]}>
// CHECK-DAG: "ttir.broadcast"(%arg1) <{broadcast_dimensions = array<i64: 2, 5>}> : (tensor<1x1xf32>) -> tensor<2x5xf32>
// CHECK-DAG: "ttir.slice_static"(%arg0) <{begins = [0 : i32, 1 : i32, 1 : i32], ends = [2 : i32, 3 : i32, 2 : i32], step = [1 : i32, 1 : i32, 2 : i32]}>
// CHECK-DAG: "ttir.concat"(%arg1, %arg1, %arg1) <{dim = 0 : si32}>
// CHECK-NEXT: return
func.func @composed(%x: tensor<2x3x4xf32>, %s: tensor<1x1xf32>)
    -> (tensor<3x4x2xf32>, tensor<24xf32>, tensor<2x5xf32>, tensor<2x2x1xf32>, tensor<3x1xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %2 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %3 = "ttir.reshape"(%2) <{shape = [24 : i32]}> : (tensor<6x4xf32>) -> tensor<24xf32>
  %4 = "ttir.broadcast"(%s) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = "ttir.broadcast"(%4) <{broadcast_dimensions = array<i64: 1, 5>}> : (tensor<2x1xf32>) -> tensor<2x5xf32>
  %6 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 1 : i32], ends = [2 : i32, 3 : i32, 4 : i32], step = [1 : i32, 1 : i32, 2 : i32]}> : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
  %7 = "ttir.slice_static"(%6) <{begins = [0 : i32, -2 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 1 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x2xf32>) -> tensor<2x2x1xf32>
  %8 = "ttir.concat"(%s, %s) <{dim = -2 : si32}> : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = "ttir.concat"(%8, %s) <{dim = 0 : si32}> : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
  return %1, %3, %5, %7, %9 : tensor<3x4x2xf32>, tensor<24xf32>, tensor<2x5xf32>, tensor<2x2x1xf32>, tensor<3x1xf32>
}

// A reshape cannot do what a permute does; another dimension is another concatenation; a cast between rounds.
// CHECK-LABEL: @not_composed
// CHECK: ttir.permute
// CHECK: ttir.reshape
// CHECK: ttir.concat
// CHECK: ttir.concat
// CHECK: ttir.reshape{{.*}} -> tensor<6xbf16>
// CHECK: ttir.reshape{{.*}} -> tensor<3x2xf32>
func.func @not_composed(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<4x6xf32>, tensor<3x2xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32]}> : (tensor<3x2xf32>) -> tensor<6xf32>
  %2 = "ttir.concat"(%x, %x) <{dim = 1 : si32}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = "ttir.concat"(%2, %2) <{dim = 0 : si32}> : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %4 = "ttir.reshape"(%x) <{shape = [6 : i32]}> : (tensor<2x3xf32>) -> tensor<6xbf16>
  %5 = "ttir.reshape"(%4) <{shape = [3 : i32, 2 : i32]}> : (tensor<6xbf16>) -> tensor<3x2xf32>
  return %1, %3, %5 : tensor<6xf32>, tensor<4x6xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: @casts
// CHECK-SAME: (%[[B:.*]]: tensor<4xbf16>, %[[F:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi8>)
// CHECK-DAG: %[[A:.*]] = "ttir.typecast"(%[[I]]) {{.*}} : (tensor<4xi8>) -> tensor<4xf32>
// CHECK-DAG: %[[N:.*]] = "ttir.typecast"(%[[F]]) {{.*}} -> tensor<4xbf16>
// CHECK-DAG: %[[W:.*]] = "ttir.typecast"(%[[N]]) {{.*}} -> tensor<4xf32>
// CHECK: return %[[B]], %[[A]], %[[W]]
func.func @casts(%b: tensor<4xbf16>, %f: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "ttir.typecast"(%b) : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = "ttir.typecast"(%0) : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = "ttir.typecast"(%i) : (tensor<4xi8>) -> tensor<4xi32>
  %3 = "ttir.typecast"(%2) : (tensor<4xi32>) -> tensor<4xf32>
  %4 = "ttir.typecast"(%f) : (tensor<4xf32>) -> tensor<4xbf16>
  %5 = "ttir.typecast"(%4) : (tensor<4xbf16>) -> tensor<4xf32>
  return %1, %3, %5 : tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>
}

// Of one value each, the greatest, the smallest and the product are that value. A sum of -0.0 and nothing is 0.0.
// CHECK-LABEL: @reductions
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>)
// CHECK: %[[R:.*]] = "ttir.reshape"(%[[X]]) <{shape = [4 : i32]}>
// CHECK: %[[S:.*]] = "ttir.sum"
// CHECK: return %[[X]], %[[R]], %[[S]]
func.func @reductions(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>, tensor<4x1xf32>) {
  %0 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = "ttir.prod"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x1xf32>) -> tensor<4xf32>
  %2 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0, %1, %2 : tensor<4x1xf32>, tensor<4xf32>, tensor<4x1xf32>
}

// Rows 7, 5, 3, 1, of which the last three in reverse; columns 3 and 1.
// CHECK-LABEL: @slices_backward
// CHECK-NEXT: %[[C:.*]] = "ttir.constant"() <{value = dense<[6, 4, 2]> : tensor<3xi32>}>
// CHECK-NEXT: %[[R:.*]] = "ttir.slice_static"(%arg0) <{begins = [1 : i32, 3 : i32], ends = [6 : i32, 0 : i32], step = [2 : i32, -2 : i32]}> : (tensor<8x4xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[R]], %[[C]]
func.func @slices_backward(%x: tensor<8x4xf32>) -> (tensor<3x2xf32>, tensor<3xi32>) {
  %0 = "ttir.slice_static"(%x) <{begins = [7 : i32, 0 : i32], ends = [0 : i32, 4 : i32], step = [-2 : i32, 1 : i32]}> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [3 : i32, 3 : i32], ends = [0 : i32, -4 : i32], step = [-1 : i32, -2 : i32]}> : (tensor<4x4xf32>) -> tensor<3x2xf32>
  %2 = "ttir.constant"() <{value = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>}> : () -> tensor<8xi32>
  %3 = "ttir.slice_static"(%2) <{begins = [-2 : i32], ends = [1 : i32], step = [-2 : i32]}> : (tensor<8xi32>) -> tensor<3xi32>
  return %1, %3 : tensor<3x2xf32>, tensor<3xi32>
}
