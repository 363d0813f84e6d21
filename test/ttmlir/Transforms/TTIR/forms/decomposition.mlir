// RUN: ttmlir-opt %s --ttir-to-ttir-decomposition | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttir-decomposition=config=ttnn -o %t.mlir
// RUN: ttmlir-opt %s --ttir-to-ttir-decomposition=config=ttmetal | diff - %t.mlir
// RUN: ttmlir-opt %s --ttir-to-ttir-decomposition=config=cpu-fallback | diff - %t.mlir
// RUN: ttmlir-opt %t.mlir --ttir-to-ttir-decomposition | diff - %t.mlir
// RUN: not ttmlir-opt %s --ttir-to-ttir-decomposition=config=gpu 2>&1 | FileCheck %s --check-prefix=CONFIG
// CONFIG: for the --config option: 'gpu' is not possible; expected ttnn, ttmetal or cpu-fallback

// CHECK-LABEL: func.func @dot
// CHECK: %[[A:.*]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}>
// CHECK: %[[B:.*]] = "ttir.reshape"(%[[A]]) <{shape = [2 : i32, 20 : i32, 3 : i32]}>
// CHECK: %[[C:.*]] = "ttir.matmul"(%[[B]], %arg1) {{.*}} -> tensor<2x20x6xf32>
// CHECK: "ttir.reshape"(%[[C]]) {{.*}} -> tensor<2x4x5x6xf32>
func.func @dot(%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x6xf32>) -> tensor<2x4x5x6xf32> {
  %0 = "ttir.dot_general"(%a, %b) <{batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 1>}> : (tensor<2x3x4x5xf32>, tensor<2x3x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// Two vectors: a product of matrices of one row and one column.
// CHECK-LABEL: func.func @inner
// CHECK: "ttir.matmul"{{.*}} -> tensor<1x1xf32>
// CHECK: "ttir.reshape"{{.*}} -> tensor<f32>
func.func @inner(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<f32> {
  %0 = "ttir.dot_general"(%a, %b) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 0>, contract_dims_rhs = array<i64: 0>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @parts
// CHECK: "ttir.slice_static"(%arg0) <{begins = [0 : i32, 2 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 3 : i32]}>
// CHECK: %[[STRIDES:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 1 : i32], ends = [4 : i32, 7 : i32]
// CHECK: %[[ROWS:.*]] = "ttir.reshape"(%[[STRIDES]]) <{shape = [4 : i32, 2 : i32, 3 : i32]}>
// CHECK: %[[RUNS:.*]] = "ttir.slice_static"(%[[ROWS]]) <{begins = [0 : i32, 0 : i32, 0 : i32], ends = [4 : i32, 2 : i32, 2 : i32]
// CHECK: %[[WHOLE:.*]] = "ttir.reshape"(%[[RUNS]]) <{shape = [4 : i32, 4 : i32]}>
// CHECK: %[[LAST:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 7 : i32], ends = [4 : i32, 8 : i32]
// CHECK: "ttir.concat"(%[[WHOLE]], %[[LAST]]) <{dim = 1 : si32}>
func.func @parts(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x5xf32>) {
  %0 = "ttir.index"(%x) <{dim = 1 : i32, begin = 2 : i32, end = 8 : i32, step = 3 : i32}> : (tensor<4x8xf32>) -> tensor<4x2xf32>
  %1 = "ttir.index_select"(%x) <{dim = -1 : si32, begin = 1 : si32, length = 2 : si32, stride = 3 : si32}> : (tensor<4x8xf32>) -> tensor<4x5xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x5xf32>
}

// CHECK-LABEL: func.func @shapes
// CHECK: "ttir.reshape"(%arg0) <{shape = [4 : i32]}>
// CHECK: "ttir.reshape"(%arg0) <{shape = [4 : i32, 1 : i32, 1 : i32]}>
// CHECK: "ttir.full"() <{fill_value = 4 : i32
func.func @shapes(%x: tensor<4x1xf32>) -> (tensor<4xf32>, tensor<4x1x1xf32>, tensor<1xi32>) {
  %0 = "ttir.squeeze"(%x) <{dim = 1 : si32}> : (tensor<4x1xf32>) -> tensor<4xf32>
  %1 = "ttir.unsqueeze"(%x) <{dim = 1 : si32}> : (tensor<4x1xf32>) -> tensor<4x1x1xf32>
  %2 = "ttir.get_dimension_size"(%x) <{dimension = 0 : i32}> : (tensor<4x1xf32>) -> tensor<1xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4x1x1xf32>, tensor<1xi32>
}
