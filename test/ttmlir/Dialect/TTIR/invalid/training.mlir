// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @results_of_nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.adamw' op has 4 results without an operand 'max_exp_avg_sq'; expected 3}}
  %0:4 = "ttir.adamw"(%x, %x, %x, %x) <{beta1 = 0.9 : f32, beta1_pow = 0.9 : f32, beta2 = 0.9 : f32, beta2_pow = 0.9 : f32, epsilon = 1.0e-8 : f32, lr = 1.0e-3 : f32, weight_decay = 0.0 : f32}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @state_of_integers(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{'ttnn.adamw' op operand 'exp_avg' is 'tensor<4xi32>'; expected floating-point numbers}}
  "ttnn.adamw"(%x, %x, %i, %x) <{beta1 = 0.9 : f32, beta1_pow = 0.9 : f32, beta2 = 0.9 : f32, beta2_pow = 0.9 : f32, epsilon = 1.0e-8 : f32, lr = 1.0e-3 : f32, weight_decay = 0.0 : f32}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @intermediates_not_requested(%x: tensor<1x2x8x16xf32>) {
  // expected-error@+1 {{'ttir.sdpa_fw' op attribute 'return_intermediates' is false, but there are two results}}
  %0, %1 = "ttir.sdpa_fw"(%x, %x, %x) : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> (tensor<1x2x8x16xf32>, tensor<1x2x8x64xf32>)
  return
}

// -----

func.func @intermediates_missing(%x: tensor<1x2x8x16xf32>) {
  // expected-error@+1 {{'ttnn.sdpa_fw' op has 1 results; expected 2}}
  %0 = "ttnn.sdpa_fw"(%x, %x, %x) <{return_intermediates = true}> : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32>
  return
}
