// RUN: ttmlir-opt %s --stablehlo-legalize-deprecated-ops --convert-stablehlo-to-ttir | FileCheck %s --implicit-check-not=stablehlo.

// CHECK-LABEL: @creation
func.func @creation() -> (tensor<2xf32>, tensor<3x4xi32>, tensor<300x4xf32>, tensor<f32>) {
  // CHECK: "ttir.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: "ttir.arange"() <{arange_dimension = 1 : i64, end = 4 : si64, start = 0 : si64, step = 1 : si64}> : () -> tensor<3x4xi32>
  %1 = stablehlo.iota dim = 1 : tensor<3x4xi32>
  // A file holds equal values once.
  // CHECK: "ttir.full"() <{fill_value = 0x7FC00000 : f32, shape = array<i32: 300, 4>}> : () -> tensor<300x4xf32>
  %2 = stablehlo.constant dense<0x7FC00000> : tensor<300x4xf32>
  // CHECK: "ttir.constant"() <{value = dense<2.500000e+00> : tensor<f32>}>
  %3 = stablehlo.constant dense<2.5> : tensor<f32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<3x4xi32>, tensor<300x4xf32>, tensor<f32>
}

// Reshapes to, and permutes of, the same shape are nothing.
// CHECK-LABEL: @nothing
// CHECK-SAME: (%[[A:.*]]: tensor<4x6xf32>)
// CHECK-NEXT: return %[[A]]
func.func @nothing(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.transpose %0, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.concatenate %1, dim = 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// CHECK-LABEL: @movement
func.func @movement(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  // CHECK: "ttir.concat"(%{{.*}}) <{dim = 1 : si32}> : {{.*}} -> tensor<4x12xf32>
  %0 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: "ttir.slice_static"(%{{.*}}) <{begins = [0 : i32, 1 : i32], ends = [4 : i32, 12 : i32], step = [1 : i32, 2 : i32]}> : {{.*}} -> tensor<4x6xf32>
  %1 = stablehlo.slice %0 [0:4, 1:12:2] : (tensor<4x12xf32>) -> tensor<4x6xf32>
  // CHECK: "ttir.reverse"(%{{.*}}) <{dimensions = array<i64: 0>}>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<4x6xf32>
  // CHECK: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 1, 0>}>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// Dimensions that change places are permuted first.
// CHECK-LABEL: @broadcast
func.func @broadcast(%a: tensor<3x2xf32>, %s: tensor<f32>) -> (tensor<2x5x3xf32>, tensor<4xf32>) {
  // CHECK: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 1, 0>}> : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK: "ttir.reshape"(%{{.*}}) <{shape = [2 : i32, 1 : i32, 3 : i32]}>
  // CHECK: "ttir.broadcast"(%{{.*}}) <{broadcast_dimensions = array<i64: 1, 5, 1>}> : (tensor<2x1x3xf32>) -> tensor<2x5x3xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<3x2xf32>) -> tensor<2x5x3xf32>
  // CHECK: "ttir.reshape"(%{{.*}}) <{shape = [1 : i32]}> : (tensor<f32>) -> tensor<1xf32>
  // CHECK: "ttir.broadcast"(%{{.*}}) <{broadcast_dimensions = array<i64: 4>}> : (tensor<1xf32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast %s, sizes = [4] : (tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<2x5x3xf32>, tensor<4xf32>
}

// The padding value is an attribute, so that its constant goes.
// CHECK-LABEL: @pad
// CHECK-NEXT: "ttir.pad"(%{{.*}}) <{padding = array<i32: 1, 2>, value = 3.000000e+00 : f32}> : (tensor<4xi32>) -> tensor<7xi32>
// CHECK-NEXT: return
func.func @pad(%a: tensor<4xi32>) -> tensor<7xi32> {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.pad %a, %c, low = [1], high = [2], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<7xi32>
  return %0 : tensor<7xi32>
}

// CHECK-LABEL: @products
func.func @products(%m: tensor<8x20xf32>, %n: tensor<20x7xf32>, %t: tensor<7x20xf32>, %v: tensor<20xf32>,
                    %a: tensor<8x3x20xbf16>, %b: tensor<3x20x5x2xbf16>) -> (tensor<8x7xf32>, tensor<8x7xf32>, tensor<8xf32>, tensor<3x8x5x2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = "ttir.matmul"(%{{.*}}) <{transpose_a = false, transpose_b = false}> : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  %0 = stablehlo.dot %m, %n : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  // CHECK-NEXT: %[[B:.*]] = "ttir.matmul"(%{{.*}}) <{transpose_a = false, transpose_b = true}> : (tensor<8x20xf32>, tensor<7x20xf32>) -> tensor<8x7xf32>
  %1 = stablehlo.dot_general %m, %t, contracting_dims = [1] x [1] : (tensor<8x20xf32>, tensor<7x20xf32>) -> tensor<8x7xf32>
  // CHECK-NEXT: "ttir.reshape"(%{{.*}}) <{shape = [{{1|20}} : i32, {{1|20}} : i32]}>
  // CHECK-NEXT: "ttir.matmul"(%{{.*}}) {{.*}} -> tensor<8x1xf32>
  // CHECK-NEXT: "ttir.reshape"(%{{.*}}) <{shape = [8 : i32]}>
  %2 = stablehlo.dot %m, %v : (tensor<8x20xf32>, tensor<20xf32>) -> tensor<8xf32>
  // Batches come first, and dimensions that are left are joined.
  // CHECK-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 1, 0, 2>}> : (tensor<8x3x20xbf16>) -> tensor<3x8x20xbf16>
  // CHECK-NEXT: "ttir.reshape"(%{{.*}}) {{.*}} : (tensor<3x20x5x2xbf16>) -> tensor<3x20x10xbf16>
  // CHECK-NEXT: "ttir.matmul"(%{{.*}}) {{.*}} : (tensor<3x8x20xbf16>, tensor<3x20x10xbf16>) -> tensor<3x8x10xf32>
  // CHECK-NEXT: "ttir.reshape"(%{{.*}}) {{.*}} : (tensor<3x8x10xf32>) -> tensor<3x8x5x2xf32>
  %3 = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<8x3x20xbf16>, tensor<3x20x5x2xbf16>) -> tensor<3x8x5x2xf32>
  return %0, %1, %2, %3 : tensor<8x7xf32>, tensor<8x7xf32>, tensor<8xf32>, tensor<3x8x5x2xf32>
}
