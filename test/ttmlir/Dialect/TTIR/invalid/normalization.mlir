// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @softmax_dim(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.softmax' op attribute 'dimension' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttir.softmax"(%a0) <{dimension = 2 : si32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @normalized_shape(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.layer_norm' op attribute 'normalized_shape' is 2; expected the last sizes of 2x3}}
  %0 = "ttir.layer_norm"(%a0) <{normalized_shape = array<i64: 2>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @weight(%a0: tensor<2x3xf32>, %a1: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.rms_norm' op operand 'weight' has shape 2; expected 3}}
  %0 = "ttir.rms_norm"(%a0, %a1) <{normalized_shape = array<i64: 3>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @no_input(%a0: tensor<3xf32>) {
  // expected-error@+1 {{'ttir.rms_norm' op operand 'input' is missing}}
  %0 = "ttir.rms_norm"(%a0) <{normalized_shape = array<i64: 3>, operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_scale(%a0: tensor<2x3x4x4xf32>, %a1: tensor<4xf32>, %a2: tensor<3xf32>, %a3: tensor<3xf32>, %a4: tensor<3xf32>) {
  // expected-error@+1 {{'ttir.batch_norm_inference' op operand 'scale' has shape 4; expected 3}}
  %0 = "ttir.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{dimension = 1 : i32, epsilon = 1.0e-5 : f32}> : (tensor<2x3x4x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  return
}

// -----

func.func @batch_norm_dim(%a0: tensor<2x3x4x4xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>, %a3: tensor<3xf32>, %a4: tensor<3xf32>) {
  // expected-error@+1 {{'ttir.batch_norm_training' op attribute 'dimension' is 4; expected -4 to 3 for rank 4}}
  %0:3 = "ttir.batch_norm_training"(%a0, %a1, %a2, %a3, %a4) <{dimension = 4 : i32, epsilon = 1.0e-5 : f32, momentum = 0.1 : f32}> : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_result(%a0: tensor<2x3x4x4xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>, %a3: tensor<3xf32>, %a4: tensor<3xf32>) {
  // expected-error@+1 {{'ttir.batch_norm_training' op result 1 is 'tensor<4xf32>'; expected shape 3}}
  %0:3 = "ttir.batch_norm_training"(%a0, %a1, %a2, %a3, %a4) <{dimension = 1 : i32, epsilon = 1.0e-5 : f32, momentum = 0.1 : f32}> : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x4xf32>, tensor<4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @group_norm(%a0: tensor<1x4x4x3xf32>) {
  // expected-error@+1 {{'ttir.group_norm' op attribute 'num_groups' is 2, which does not divide 3 channels}}
  %0 = "ttir.group_norm"(%a0) <{num_groups = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return
}
