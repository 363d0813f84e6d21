// RUN: ttmlir-opt %s --ttir-hoist-constants=min-bytes=16 | FileCheck %s

// CHECK: value = dense_resource<constant> : tensor<4xf32>
// CHECK: value = dense<1.000000e+00> : tensor<400xf32>
// CHECK: value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: value = dense_resource<constant> : tensor<4xf32>
// CHECK: constant: "0x100000000000803F000000400000404000008040"
func.func @f() -> (tensor<4xf32>, tensor<400xf32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = "ttir.constant"() <{value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %1 = "ttir.constant"() <{value = dense<1.0> : tensor<400xf32>}> : () -> tensor<400xf32>
  %2 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %3 = "ttir.constant"() <{value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<400xf32>, tensor<2xf32>, tensor<4xf32>
}
