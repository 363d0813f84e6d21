// RUN: ttmlir-opt %s --ttir-fusing | FileCheck %s
// RUN: ttmlir-opt %s --ttir-fusing=open-sizes=true | FileCheck %s --check-prefix=OPEN

// OPEN-NOT: ttir.mean

// CHECK-LABEL: @product
// CHECK: %[[M:.*]] = "ttir.mean"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x10xf32>) -> tensor<4x1xf32>
// CHECK: return %[[M]]
func.func @product(%x: tensor<4x10xf32>) -> tensor<4x1xf32> {
  %s = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x10xf32>) -> tensor<4x1xf32>
  %c = "ttir.full"() <{shape = array<i32: 1, 1>, fill_value = 0.1 : f32}> : () -> tensor<1x1xf32>
  %m = "ttir.multiply"(%c, %s) : (tensor<1x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %m : tensor<4x1xf32>
}

// CHECK-LABEL: @quotient
// CHECK: %[[M:.*]] = "ttir.mean"(%arg0) <{dim_arg = [0 : i32, -1 : i32], keep_dim = false}> : (tensor<4x5x3xbf16>) -> tensor<5xbf16>
// CHECK: return %[[M]]
func.func @quotient(%x: tensor<4x5x3xbf16>) -> tensor<5xbf16> {
  %s = "ttir.sum"(%x) <{dim_arg = [0 : i32, -1 : i32], keep_dim = false}> : (tensor<4x5x3xbf16>) -> tensor<5xbf16>
  %c = "ttir.constant"() <{value = dense<12.0> : tensor<5xbf16>}> : () -> tensor<5xbf16>
  %m = "ttir.div"(%s, %c) : (tensor<5xbf16>, tensor<5xbf16>) -> tensor<5xbf16>
  return %m : tensor<5xbf16>
}

// Another number, a sum that something else reads, a quotient of a number, integers.
// CHECK-LABEL: @others
// CHECK-NOT: ttir.mean
// CHECK: return
func.func @others(%x: tensor<4x10xf32>, %i: tensor<4x10xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %s = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x10xf32>) -> tensor<4xf32>
  %nine = "ttir.full"() <{shape = array<i32: 4>, fill_value = 9.0 : f32}> : () -> tensor<4xf32>
  %0 = "ttir.div"(%s, %nine) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x10xf32>) -> tensor<4xf32>
  %ten = "ttir.full"() <{shape = array<i32: 4>, fill_value = 10.0 : f32}> : () -> tensor<4xf32>
  %1 = "ttir.div"(%t, %ten) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x10xf32>) -> tensor<4xf32>
  %2 = "ttir.div"(%ten, %u) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = "ttir.sum"(%i) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x10xi32>) -> tensor<4xi32>
  %n = "ttir.full"() <{shape = array<i32: 4>, fill_value = 10 : i32}> : () -> tensor<4xi32>
  %3 = "ttir.div"(%v, %n) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %t, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}
