// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @full_negative() {
  // expected-error@+1 {{'ttir.full' op attribute 'shape' is [2, -1]; sizes cannot be negative}}
  %0 = "ttir.full"() <{fill_value = 0.0 : f32, shape = array<i32: 2, -1>}> : () -> tensor<2x1xf32>
  return
}

// -----

func.func @full_value() {
  // expected-error@+1 {{'ttir.full' op attribute 'fill_value' failed to satisfy constraint: 32-bit float or 32-bit integer}}
  %0 = "ttir.full"() <{fill_value = 0.0 : f64, shape = array<i32: 2>}> : () -> tensor<2xf32>
  return
}

// -----

func.func @zeros_result() {
  // expected-error@+1 {{'ttir.zeros' op result is 'tensor<3xf32>'; expected shape 2}}
  %0 = "ttir.zeros"() <{shape = array<i32: 2>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @ones_huge() {
  // expected-error@+1 {{'ttir.ones' op a tensor of shape 2147483647x2147483647x2147483647 has more elements than 64 bits count}}
  %0 = "ttir.ones"() <{shape = array<i32: 2147483647, 2147483647, 2147483647>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @constant_result() {
  // expected-error@+1 {{'ttir.constant' op result is 'tensor<3xf32>'; expected shape 2}}
  %0 = "ttir.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @constant_vector() {
  // expected-error@+1 {{'ttir.constant' op attribute 'value' is no ranked tensor}}
  %0 = "ttir.constant"() <{value = dense<1.0> : vector<2xf32>}> : () -> tensor<2xf32>
  return
}

// -----

func.func @arange_step() {
  // expected-error@+1 {{'ttir.arange' op attribute 'step' is 0}}
  %0 = "ttir.arange"() <{arange_dimension = 0 : i64, end = 4 : si64, start = 0 : si64, step = 0 : si64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @arange_direction() {
  // expected-error@+1 {{'ttir.arange' op attribute 'step' is -1, which does not lead from 0 to 4}}
  %0 = "ttir.arange"() <{arange_dimension = 0 : i64, end = 4 : si64, start = 0 : si64, step = -1 : si64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @arange_huge() {
  // expected-error@+1 {{'ttir.arange' op the sequence from -2 to 9223372036854775807 does not fit into 64 bits}}
  %0 = "ttir.arange"() <{arange_dimension = 0 : i64, end = 9223372036854775807 : si64, start = -2 : si64, step = 1 : si64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @arange_size() {
  // expected-error@+1 {{'ttir.arange' op result has size 3 in dimension 1, but the sequence has 4 values}}
  %0 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 4 : si64, start = 0 : si64, step = 1 : si64}> : () -> tensor<4x3xf32>
  return
}

// -----

func.func @arange_dim() {
  // expected-error@+1 {{'ttir.arange' op attribute 'arange_dimension' is 1, but the result has shape 4}}
  %0 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 4 : si64, start = 0 : si64, step = 1 : si64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @rand_size() {
  // expected-error@+1 {{'ttir.rand' op attribute 'size' is [2, -2]; sizes cannot be negative}}
  %0 = "ttir.rand"() <{size = [2 : i32, -2 : i32]}> : () -> tensor<2xf32>
  return
}

// -----

func.func @alloc_size() {
  // expected-error@+1 {{'ttir.alloc' op attribute 'size' is 0; expected 1 or more}}
  %0 = "ttir.alloc"() <{address = 0 : i64, memory_space = #ttcore.memory_space<dram>, size = 0 : i64}> : () -> tensor<2xf32>
  return
}
