// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @make() -> (tensor<2x3xf32>, tensor<4xi32>, tensor<5x6xbf16>, tensor<7xf32>, tensor<3x8xf32>, tensor<2x16xf32>) {
  // CHECK: "ttir.constant"{{.*}} <{value = dense<{{.*}}> : tensor<2x3xf32>}>
  %0 = "ttir.constant"() <{value = dense<[[1.0, 2.5, -3.0], [0.5, 0.25, 8.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  // CHECK: "ttir.constant"{{.*}} <{value = dense<7> : tensor<4xi32>}>
  %1 = "ttir.constant"() <{value = dense<7> : tensor<4xi32>}> : () -> tensor<4xi32>
  // CHECK: "ttir.full"{{.*}} <{fill_value = 1.500000e+00 : f32, shape = array<i32: 5, 6>}>
  %2 = "ttir.full"() <{fill_value = 1.500000e+00 : f32, shape = array<i32: 5, 6>}> : () -> tensor<5x6xbf16>
  // CHECK: "ttir.zeros"{{.*}} <{shape = array<i32: 7>}>
  %3 = "ttir.zeros"() <{shape = array<i32: 7>}> : () -> tensor<7xf32>
  // CHECK: "ttir.arange"{{.*}} <{arange_dimension = 1 : i64, end = 16 : si64, start = 0 : si64, step = 2 : si64}>
  %4 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 16 : si64, start = 0 : si64, step = 2 : si64}> : () -> tensor<3x8xf32>
  // CHECK: "ttir.rand"{{.*}} <{high = 2.000000e+00 : f32, low = -2.000000e+00 : f32, seed = 11 : ui32, size = [2 : i32, 16 : i32]}>
  %5 = "ttir.rand"() <{high = 2.000000e+00 : f32, low = -2.000000e+00 : f32, seed = 11 : ui32, size = [2 : i32, 16 : i32]}> : () -> tensor<2x16xf32>
  // CHECK: ttir.empty
  %6 = ttir.empty() : tensor<9x9xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<4xi32>, tensor<5x6xbf16>, tensor<7xf32>, tensor<3x8xf32>, tensor<2x16xf32>
}
