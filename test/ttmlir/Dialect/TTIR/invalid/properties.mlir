// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// Keys of properties are those of the op: a misspelled one would otherwise vanish.
func.func @misspelled(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{ttir.softmax has no attribute 'numeric_stabel'; did you mean 'numericStable'?}}
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32, numeric_stabel = true}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @of_another_op(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{ttir.leaky_relu has no attribute 'negative_slope'; it has parameter}}
  %0 = "ttir.leaky_relu"(%x) <{parameter = 0.01 : f32, negative_slope = 0.5 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @none(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{invalid properties {foo = 1 : i32} for op ttir.abs: this operation does not support properties}}
  %0 = "ttir.abs"(%x) <{foo = 1 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @of_stablehlo(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.exponential has no attribute 'of_nobody'; it has result_accuracy}}
  %0 = "stablehlo.exponential"(%x) <{of_nobody = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
