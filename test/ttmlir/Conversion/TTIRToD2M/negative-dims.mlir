// RUN: ttmlir-opt %s --ttcore-register-device --ttir-to-d2m | FileCheck %s

// Negative dimensions count from the end.
// CHECK-DAG: memref.global "private" constant @{{.*}} : memref<1xi32> = dense<7>
// CHECK-DAG: memref.global "private" constant @{{.*}} : memref<1xi32> = dense<3>

// CHECK-LABEL: func.func @sizes
// CHECK-NOT: ttir.
func.func @sizes(%x: tensor<3x7xf32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %0 = "ttir.get_dimension_size"(%x) <{dimension = -1 : i32}> : (tensor<3x7xf32>) -> tensor<1xi32>
  %1 = "ttir.get_dimension_size"(%x) <{dimension = -2 : i32}> : (tensor<3x7xf32>) -> tensor<1xi32>
  return %0, %1 : tensor<1xi32>, tensor<1xi32>
}

// CHECK-LABEL: func.func @quantized
// CHECK-NOT: ttir.
func.func @quantized(%x: tensor<3x7xf32>, %scale: tensor<7xf32>, %zero: tensor<7xi32>) -> tensor<3x7xi32> {
  %0 = "ttir.quantize_unrolled"(%x, %scale, %zero) <{axis = -1 : i32}>
      : (tensor<3x7xf32>, tensor<7xf32>, tensor<7xi32>) -> tensor<3x7xi32>
  return %0 : tensor<3x7xi32>
}

// Nothing is scattered.
// CHECK-LABEL: func.func @unchanged
// CHECK-NOT: d2m.tile_add
// CHECK: return
func.func @unchanged(%x: tensor<3x7xf32>, %i: tensor<3x0xi32>, %s: tensor<3x0xf32>) -> tensor<3x7xf32> {
  %0 = "ttir.scatter"(%x, %i, %s) <{dim = -1 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}>
      : (tensor<3x7xf32>, tensor<3x0xi32>, tensor<3x0xf32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}
