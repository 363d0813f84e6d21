// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @sizes_differ(%a0: tensor<2x3xf32>, %a1: tensor<2x4xf32>) {
  // expected-error@+1 {{'ttir.add' op operand shapes 2x3 and 2x4 do not broadcast: sizes 3 and 4 in dimension 1}}
  %0 = "ttir.add"(%a0, %a1) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @third_operand_differs(%a0: tensor<2x3xi1>, %a1: tensor<3xf32>, %a2: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.where' op operand shapes 2x3 and 2 do not broadcast: sizes 3 and 2 in dimension 1}}
  %0 = "ttir.where"(%a0, %a1, %a2) : (tensor<2x3xi1>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result_shape(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.relu' op result is 'tensor<3x2xf32>'; expected shape 2x3}}
  %0 = "ttir.relu"(%a0) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @result_rank(%a0: tensor<f32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.multiply' op result is 'tensor<f32>'; expected shape 4}}
  %0 = "ttir.multiply"(%a0, %a1) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dynamic(%a0: tensor<?xf32>) {
  // expected-error@+1 {{'ttir.exp' op operand 'input' is 'tensor<?xf32>'; dynamic dimensions are not supported}}
  %0 = "ttir.exp"(%a0) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_result(%a0: tensor<3xf32>) {
  // expected-error@+1 {{'ttir.exp' op result is 'tensor<?xf32>'; expected shape 3}}
  %0 = "ttir.exp"(%a0) : (tensor<3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @unranked(%a0: tensor<*xf32>) {
  // expected-error@+1 {{'ttir.exp' op operand #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %0 = "ttir.exp"(%a0) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @huge(%a0: tensor<3037000500x1xf32>, %a1: tensor<1x3037000500xf32>) {
  // expected-error@+1 {{'ttir.add' op a tensor of shape 3037000500x3037000500 has more elements than 64 bits count}}
  %0 = "ttir.add"(%a0, %a1) : (tensor<3037000500x1xf32>, tensor<1x3037000500xf32>) -> tensor<3037000500x3037000500xf32>
  return
}

// -----

func.func @huge_operand(%a0: tensor<9223372036854775807x3xf32>) {
  // expected-error@+1 {{'ttir.exp' op a tensor of shape 9223372036854775807x3 has more elements than 64 bits count}}
  %0 = "ttir.exp"(%a0) : (tensor<9223372036854775807x3xf32>) -> tensor<9223372036854775807x3xf32>
  return
}

// -----

func.func @operands_missing(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.add' op expected 2 operands, but found 1}}
  %0 = "ttir.add"(%a0) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_types(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.clamp_scalar' op failed to verify that attributes 'min' and 'max' have the same type}}
  %0 = "ttir.clamp_scalar"(%a0) <{max = 1.0 : f32, min = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_without_max(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.clamp_scalar' op requires attribute 'max'}}
  %0 = "ttir.clamp_scalar"(%a0) <{min = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @leaky_relu_double(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.leaky_relu' op attribute 'parameter' failed to satisfy constraint: 32-bit float attribute}}
  %0 = "ttir.leaky_relu"(%a0) <{parameter = 1.0 : f64}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @gelu_mode(%a0: tensor<2xf32>, %a1: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.gelu_bw' op attribute 'approximate' is "fast"; expected "none" or "tanh"}}
  %0 = "ttir.gelu_bw"(%a0, %a1) <{approximate = "fast"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @shift_floats(%a0: tensor<2xi32>, %a1: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.logical_left_shift' op operand 'rhs' is 'tensor<2xf32>'; expected integers}}
  %0 = "ttir.logical_left_shift"(%a0, %a1) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @bitcast_width(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.bitcast_convert' op failed to verify that element types of input and result have the same width}}
  %0 = "ttir.bitcast_convert"(%a0) : (tensor<2xf32>) -> tensor<2xi16>
  return
}
