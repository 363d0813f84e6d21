// Attributes other than an op's own that are most likely meant as such; what other tools attach passes.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics -o /dev/null

func.func @near(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-warning@+1 {{ttir.softmax has no attribute 'numeric_stabel'; did you mean 'numericStable'?; it is not read}}
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32}> {numeric_stabel = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Once for each op and name.
  %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> {numeric_stabel = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

func.func @of_another_op(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-warning@+1 {{ttir.abs has no attribute 'dilation'; it is not read}}
  %0 = "ttir.abs"(%x) {dilation = 2 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @of_others(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> {note = 3 : i32, mhlo.sharding = "", xla_shape = "f32[8,4]", result_layout = dense<0> : tensor<1xindex>, _output_shapes = [], tool.permutations = 1 : i32} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
