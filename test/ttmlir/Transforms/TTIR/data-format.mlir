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
