// RUN: ttmlir-opt %s --ttnn-unique-locations --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @different
func.func @different(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @same(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
  // expected-error@unknown {{'ttir.neg' op has the same location as the 'ttir.exp' before it}}
  %1 = "ttir.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
  return %1 : tensor<4xf32>
}
