// RUN: ttmlir-opt %s --ttir-global-data-format-conversion | FileCheck %s
// RUN: ttmlir-opt %s --ttir-global-data-format-conversion=target-format=bfp_bf8 | FileCheck %s --check-prefix=BFP
// RUN: not ttmlir-opt %s --ttir-global-data-format-conversion=target-format=u8 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: target-format 'u8' is not a float format

// CHECK-LABEL: func.func @f(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xsi32>) -> (tensor<4x4xf32>, tensor<4x4xi1>)
func.func @f(%a: tensor<4x4xf32>, %n: tensor<4x4xsi32>) -> (tensor<4x4xf32>, tensor<4x4xi1>) {
  // Arguments are cast once, constants not at all.
  // CHECK-NEXT: "ttir.typecast"(%arg0) {{.*}} : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  // BFP: "ttir.typecast"(%arg0) {{.*}} -> tensor<4x4x!ttcore.tile<32x32, bfp_bf8>>
  // CHECK-NEXT: "ttir.constant"() <{value = dense<1.000000e+00> : tensor<4x4xf32>}> : () -> tensor<4x4xbf16>
  %c = "ttir.constant"() <{value = dense<1.0> : tensor<4x4xf32>}> : () -> tensor<4x4xf32>
  // CHECK-NEXT: "ttir.add"{{.*}} -> tensor<4x4xbf16>
  %0 = "ttir.add"(%a, %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // Integers and booleans stay.
  // CHECK-NEXT: "ttir.gt"{{.*}} -> tensor<4x4xi1>
  %1 = "ttir.gt"(%0, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  // CHECK-NEXT: "ttir.typecast"{{.*}} : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xi1>
}

// What becomes an integer, an angle, and what is made of integers, stays; their weights of data do not.
// CHECK-LABEL: func.func @places
// BFP-LABEL: func.func @places
func.func @places(%x: tensor<8xf32>, %n: tensor<8xsi32>, %table: tensor<4000xf32>, %f: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi1>) {
  // CHECK: "ttir.multiply"{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // BFP: "ttir.multiply"{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = "ttir.constant"() <{value = dense<3.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %0 = "ttir.multiply"(%x, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ttir.typecast"{{.*}} : (tensor<8xf32>) -> tensor<8xsi32>
  %1 = "ttir.typecast"(%0) : (tensor<8xf32>) -> tensor<8xsi32>
  // CHECK: "ttir.gather"{{.*}} : (tensor<4000xbf16>, tensor<8xsi32>) -> tensor<8xbf16>
  %2 = "ttir.gather"(%table, %1) <{dim = 0 : i32}> : (tensor<4000xf32>, tensor<8xsi32>) -> tensor<8xf32>
  // CHECK: "ttir.floor"{{.*}} -> tensor<8xf32>
  %3 = "ttir.floor"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ttir.subtract"{{.*}} -> tensor<8xf32>
  %4 = "ttir.subtract"(%0, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ttir.multiply"{{.*}} : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  // BFP: "ttir.multiply"{{.*}} -> tensor<8x!ttcore.tile<32x32, bfp_bf8>>
  %5 = "ttir.multiply"(%2, %4) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ttir.typecast"{{.*}} : (tensor<8xsi32>) -> tensor<8xf32>
  %6 = "ttir.typecast"(%n) : (tensor<8xsi32>) -> tensor<8xf32>
  // Positions by frequencies: a product of places, too.
  // CHECK: "ttir.matmul"{{.*}} : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %7 = "ttir.reshape"(%6) <{shape = [8 : i32, 1 : i32]}> : (tensor<8xf32>) -> tensor<8x1xf32>
  %8 = "ttir.reshape"(%f) <{shape = [1 : i32, 8 : i32]}> : (tensor<8xf32>) -> tensor<1x8xf32>
  %9 = "ttir.matmul"(%7, %8) : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.cos"{{.*}} -> tensor<8x8xf32>
  %10 = "ttir.cos"(%9) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %11 = "ttir.sum"(%10) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<8x8xf32>) -> tensor<8xf32>
  // CHECK: "ttir.add"{{.*}} -> tensor<8xbf16>
  %12 = "ttir.add"(%11, %5) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ttir.gt"{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %13 = "ttir.gt"(%6, %f) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %5, %12, %13 : tensor<8xf32>, tensor<8xf32>, tensor<8xi1>
}
