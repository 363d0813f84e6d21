// RUN: ttmlir-opt %s --ttir-element-type-normalization --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @wide(%arg0: tensor<4xsi32>, %arg1: tensor<4xf32>, %arg2: tensor<4xui16>) -> (tensor<4xsi32>, tensor<4xi1>)
// expected-warning@+1 {{64-bit integers}}
func.func @wide(%a: tensor<4xi64>, %b: tensor<4xf64>, %c: tensor<4xui16>) -> (tensor<4xi64>, tensor<4xi1>) {
  // CHECK: (tensor<4xsi32>) -> tensor<4xsi32>
  %0 = "ttir.abs"(%a) : (tensor<4xi64>) -> tensor<4xi64>
  // Comparisons keep i1, the format of booleans.
  // CHECK: (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = "ttir.gt"(%b, %b) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  return %0, %1 : tensor<4xi64>, tensor<4xi1>
}

// CHECK-LABEL: func.func @tiles(%arg0: tensor<32x32x!ttcore.tile<32x32, bfp_bf8>>)
func.func @tiles(%a: tensor<32x32x!ttcore.tile<32x32, bfp_bf8>>) {
  return
}

// -----

// expected-error@+1 {{argument 0 is 'tensor<4xcomplex<f32>>'; no data format of the chip holds its elements}}
func.func @complex(%a: tensor<4xcomplex<f32>>) {
  return
}
