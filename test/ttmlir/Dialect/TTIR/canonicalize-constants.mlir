// RUN: ttmlir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @moved
// CHECK-DAG: dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG: dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// CHECK-DAG: dense<{{\[\[}}3], [6]]> : tensor<2x1xi32>
// CHECK-DAG: dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
// CHECK-DAG: "ttir.full"() <{fill_value = 2.500000e+00 : f32, shape = array<i32: 3, 8>}> : () -> tensor<3x8xf32>
// CHECK-NOT: permute
// CHECK: return
func.func @moved() -> (tensor<3x2xi32>, tensor<6xi32>, tensor<2x1xi32>, tensor<2x3xi32>, tensor<3x8xf32>) {
  %c = "ttir.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %s = "ttir.full"() <{shape = array<i32: 1, 4>, fill_value = 2.5 : f32}> : () -> tensor<1x4xf32>
  %0 = "ttir.permute"(%c) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = "ttir.reshape"(%c) <{shape = [6 : i32]}> : (tensor<2x3xi32>) -> tensor<6xi32>
  %2 = "ttir.slice_static"(%c) <{begins = [0 : i32, 2 : i32], ends = [2 : i32, 3 : i32], step = [1 : i32, 1 : i32]}> : (tensor<2x3xi32>) -> tensor<2x1xi32>
  %3 = "ttir.reverse"(%c) <{dimensions = array<i64: -1>}> : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = "ttir.repeat"(%s) <{repeat_dimensions = array<i64: 1, 2>}> : (tensor<1x4xf32>) -> tensor<1x8xf32>
  %5 = "ttir.broadcast"(%4) <{broadcast_dimensions = array<i64: 3, 1>}> : (tensor<1x8xf32>) -> tensor<3x8xf32>
  return %0, %1, %2, %3, %5 : tensor<3x2xi32>, tensor<6xi32>, tensor<2x1xi32>, tensor<2x3xi32>, tensor<3x8xf32>
}

// Rounded once to the type of the result: 1 + 2^-9 is no bf16. Integers wrap.
// CHECK-LABEL: @computed
// CHECK-DAG: fill_value = 1.000000e+00 : f32, {{.*}} -> tensor<4xbf16>
// CHECK-DAG: fill_value = -2147483648 : i32
// CHECK-DAG: fill_value = 1 : i32, {{.*}} -> tensor<4xi1>
// CHECK-DAG: fill_value = 0.333333343 : f32
// CHECK-NOT: ttir.add
// CHECK: return
func.func @computed() -> (tensor<4xbf16>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>) {
  %one = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xbf16>
  %small = "ttir.full"() <{shape = array<i32: 4>, fill_value = 0.001953125 : f32}> : () -> tensor<4xbf16>
  %max = "ttir.full"() <{shape = array<i32: 4>, fill_value = 2147483647 : i32}> : () -> tensor<4xi32>
  %i = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xi32>
  %a = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %b = "ttir.full"() <{shape = array<i32: 4>, fill_value = 3.0 : f32}> : () -> tensor<4xf32>
  %0 = "ttir.add"(%one, %small) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %1 = "ttir.add"(%max, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = "ttir.lt"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = "ttir.div"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xbf16>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>
}

// The library approximates; a constant's declared type may not be that of its values; resources are not read.
// CHECK-LABEL: @not_computed
// CHECK: ttir.exp
// CHECK: ttir.permute
// CHECK: ttir.permute
// CHECK: ttir.reshape
func.func @not_computed() -> (tensor<4xf32>, tensor<2x2xbf16>, tensor<2x2xf32>, tensor<4xbf16>) {
  %a = "ttir.ones"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  %c = "ttir.constant"() <{value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xbf16>
  %r = "ttir.constant"() <{value = dense_resource<values> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.permute"(%c) <{permutation = array<i64: 1, 0>}> : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %2 = "ttir.permute"(%r) <{permutation = array<i64: 1, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = "ttir.reshape"(%c) <{shape = [4 : i32]}> : (tensor<2x2xbf16>) -> tensor<4xbf16>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<2x2xbf16>, tensor<2x2xf32>, tensor<4xbf16>
}

// Block formats have no elements of their own.
// CHECK-LABEL: @blocks
// CHECK: return
func.func @blocks() -> tensor<1x4x!ttcore.tile<32x32, bfp_bf8>> {
  %a = "ttir.full"() <{shape = array<i32: 4>, fill_value = 2.0 : f32}> : () -> tensor<4x!ttcore.tile<32x32, bfp_bf8>>
  %0 = "ttir.reshape"(%a) <{shape = [1 : i32, 4 : i32]}> : (tensor<4x!ttcore.tile<32x32, bfp_bf8>>) -> tensor<1x4x!ttcore.tile<32x32, bfp_bf8>>
  return %0 : tensor<1x4x!ttcore.tile<32x32, bfp_bf8>>
}

// CHECK-LABEL: @size
// CHECK: "ttir.full"() <{fill_value = 3 : i32, shape = array<i32: 1>}> : () -> tensor<1xi32>
func.func @size(%x: tensor<2x3xf32>) -> tensor<1xi32> {
  %0 = "ttir.get_dimension_size"(%x) <{dimension = -1 : i32}> : (tensor<2x3xf32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}

{-#
  dialect_resources: {
    builtin: {
      values: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
