// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @reshape_count(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.reshape' op attribute 'shape' is 5 with 5 elements, but the input is 2x3 with 6}}
  %0 = "ttir.reshape"(%a0) <{shape = [5 : i32]}> : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_guess(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.reshape' op attribute 'shape' has -1 at position 1; every size must be given}}
  %0 = "ttir.reshape"(%a0) <{shape = [2 : i32, -1 : i32]}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_huge(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.reshape' op a tensor of shape 2147483647x2147483647x2147483647 has more elements than 64 bits count}}
  %0 = "ttir.reshape"(%a0) <{shape = [2147483647 : i32, 2147483647 : i32, 2147483647 : i32]}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @reshape_i64(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.reshape' op attribute 'shape' failed to satisfy constraint: 32-bit integer array attribute}}
  %0 = "ttir.reshape"(%a0) <{shape = [6]}> : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @permute_rank(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.permute' op attribute 'permutation' has 1 dimensions, but the input has rank 2}}
  %0 = "ttir.permute"(%a0) <{permutation = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @permute_twice(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.permute' op attribute 'permutation' has 0 twice}}
  %0 = "ttir.permute"(%a0) <{permutation = array<i64: 0, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @permute_range(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.permute' op attribute 'permutation' has 2; expected 0 to 1}}
  %0 = "ttir.permute"(%a0) <{permutation = array<i64: 0, 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_dim(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.transpose' op attribute 'dim1' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttir.transpose"(%a0) <{dim0 = 0 : si32, dim1 = 2 : si32}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error@+1 {{'ttir.concat' op has no inputs; expected one or more}}
  %0 = "ttir.concat"() <{dim = 0 : si32}> : () -> tensor<2xf32>
  return
}

// -----

func.func @concat_sizes(%a0: tensor<2x3xf32>, %a1: tensor<2x4xf32>) {
  // expected-error@+1 {{'ttir.concat' op operands '0' and '1' have shapes 2x3 and 2x4; they may differ only in dimension 0}}
  %0 = "ttir.concat"(%a0, %a1) <{dim = 0 : si32}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_ranks(%a0: tensor<2x3xf32>, %a1: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.concat' op operands '0' and '1' have shapes 2x3 and 2; they may differ only in dimension 0}}
  %0 = "ttir.concat"(%a0, %a1) <{dim = 0 : si32}> : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_huge(%a0: tensor<9223372036854775807xf32>, %a1: tensor<1xf32>) {
  // expected-error@+1 {{'ttir.concat' op dimension 0 of the result does not fit into 64 bits}}
  %0 = "ttir.concat"(%a0, %a1) <{dim = 0 : si32}> : (tensor<9223372036854775807xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_count(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'begins' has 1 numbers; expected one per dimension, 2}}
  %0 = "ttir.slice_static"(%a0) <{begins = [0 : i32], ends = [2 : i32], step = [1 : i32]}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_begin(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'begins' is 3 in dimension 0 of size 2}}
  %0 = "ttir.slice_static"(%a0) <{begins = [3 : i32], ends = [3 : i32], step = [1 : i32]}> : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @slice_end(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'ends' is 3 in dimension 0 of size 2}}
  %0 = "ttir.slice_static"(%a0) <{begins = [0 : i32], ends = [3 : i32], step = [1 : i32]}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_order(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'ends' is 1, before 'begins' 2, in dimension 0 of size 2}}
  %0 = "ttir.slice_static"(%a0) <{begins = [2 : i32], ends = [1 : i32], step = [1 : i32]}> : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @slice_step(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'step' is 0 in dimension 0; expected a number other than 0}}
  %0 = "ttir.slice_static"(%a0) <{begins = [1 : i32], ends = [0 : i32], step = [0 : i32]}> : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @slice_backward_forward(%a0: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'ends' is 3, after 'begins' 1, in dimension 0 of size 4}}
  %0 = "ttir.slice_static"(%a0) <{begins = [1 : i32], ends = [3 : i32], step = [-1 : i32]}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_backward_from_the_end(%a0: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op attribute 'begins' is 4 in dimension 0 of size 4; expected less, as 'step' is -2}}
  %0 = "ttir.slice_static"(%a0) <{begins = [4 : i32], ends = [0 : i32], step = [-2 : i32]}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// The end is not part of a slice.
func.func @slice_backward_to_the_first(%a0: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.slice_static' op result is 'tensor<4xf32>'; expected shape 3}}
  %0 = "ttir.slice_static"(%a0) <{begins = [3 : i32], ends = [0 : i32], step = [-1 : i32]}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @index_dim(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.index' op attribute 'dim' is 1; expected -1 to 0 for rank 1}}
  %0 = "ttir.index"(%a0) <{begin = 0 : i32, dim = 1 : i32, end = 1 : i32, step = 1 : i32}> : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @select_begin(%a0: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.index_select' op attribute 'begin' is 4; expected 0 to 3, inside dimension 0}}
  %0 = "ttir.index_select"(%a0) <{begin = 4 : si32, dim = 0 : si32, length = 1 : si32}> : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @select_length(%a0: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.index_select' op attribute 'length' is 2; expected 1 to 1, what is left of dimension 0}}
  %0 = "ttir.index_select"(%a0) <{begin = 3 : si32, dim = 0 : si32, length = 2 : si32}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_stride(%a0: tensor<4xf32>) {
  // expected-error@+1 {{'ttir.index_select' op attribute 'stride' is 1; expected 0, or 2 (the length) or more}}
  %0 = "ttir.index_select"(%a0) <{begin = 0 : si32, dim = 0 : si32, length = 2 : si32, stride = 1 : si32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_size(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.broadcast' op attribute 'broadcast_dimensions' is 2 for dimension 1 of size 3; only dimensions of size 1 can be broadcast}}
  %0 = "ttir.broadcast"(%a0) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @broadcast_rank(%a0: tensor<1x1xf32>) {
  // expected-error@+1 {{'ttir.broadcast' op attribute 'broadcast_dimensions' has 1 numbers; expected one per dimension, 2}}
  %0 = "ttir.broadcast"(%a0) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1x1xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @repeat_none(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.repeat' op attribute 'repeat_dimensions' is 0 for dimension 0; expected 1 or more}}
  %0 = "ttir.repeat"(%a0) <{repeat_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @repeat_huge(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.repeat' op dimension 0 of the result does not fit into 64 bits}}
  %0 = "ttir.repeat"(%a0) <{repeat_dimensions = array<i64: 9223372036854775807>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @interleave_none(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.repeat_interleave' op attribute 'repeats' is 0; expected 1 or more}}
  %0 = "ttir.repeat_interleave"(%a0) <{dim = 0 : si32, repeats = 0 : ui32}> : (tensor<2xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @reverse_twice(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.reverse' op attribute 'dimensions' names dimension 1 twice}}
  %0 = "ttir.reverse"(%a0) <{dimensions = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @squeeze_size(%a0: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.squeeze' op dimension 1 has size 3; only one of size 1 can be removed}}
  %0 = "ttir.squeeze"(%a0) <{dim = 1 : si32}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unsqueeze_dim(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.unsqueeze' op attribute 'dim' is 2; expected -2 to 1 for rank 2}}
  %0 = "ttir.unsqueeze"(%a0) <{dim = 2 : si32}> : (tensor<2xf32>) -> tensor<2x1x1xf32>
  return
}

// -----

func.func @pad_count(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.pad' op attribute 'padding' has 1 numbers; expected two per dimension, 2}}
  %0 = "ttir.pad"(%a0) <{padding = array<i32: 1>, value = 0.0 : f32}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_negative(%a0: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.pad' op attribute 'padding' takes 3 elements of dimension 0, which has 2}}
  %0 = "ttir.pad"(%a0) <{padding = array<i32: -1, -2>, value = 0.0 : f32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @upsample_mode(%a0: tensor<1x2x2x1xf32>) {
  // expected-error@+1 {{'ttir.upsample2d' op attribute 'mode' is "cubic"; expected "nearest" or "bilinear"}}
  %0 = "ttir.upsample2d"(%a0) <{mode = "cubic", scale_factor = 2 : si32}> : (tensor<1x2x2x1xf32>) -> tensor<1x4x4x1xf32>
  return
}

// -----

func.func @upsample_rank(%a0: tensor<2x2xf32>) {
  // expected-error@+1 {{'ttir.upsample2d' op operand 'input' is 'tensor<2x2xf32>'; expected rank 4}}
  %0 = "ttir.upsample2d"(%a0) <{scale_factor = 2 : si32}> : (tensor<2x2xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @upsample_factors(%a0: tensor<1x2x2x1xf32>) {
  // expected-error@+1 {{'ttir.upsample2d' op attribute 'scale_factor' has 1 numbers; expected one, or height and width}}
  %0 = "ttir.upsample2d"(%a0) <{scale_factor = array<i32: 2>}> : (tensor<1x2x2x1xf32>) -> tensor<1x4x4x1xf32>
  return
}

// -----

func.func @gather_rank(%a0: tensor<2x3xf32>, %a1: tensor<2xi32>) {
  // expected-error@+1 {{'ttir.gather' op operands 'input' and 'index' have ranks 2 and 1; expected the same}}
  %0 = "ttir.gather"(%a0, %a1) <{dim = 0 : i32}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_size(%a0: tensor<2x3xf32>, %a1: tensor<2x4xi32>) {
  // expected-error@+1 {{'ttir.gather' op operand 'index' has size 4 in dimension 1, the input only 3}}
  %0 = "ttir.gather"(%a0, %a1) <{dim = 0 : i32}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_float(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  // expected-error@+1 {{'ttir.gather' op operand 'index' is 'tensor<2x3xf32>'; expected integers}}
  %0 = "ttir.gather"(%a0, %a1) <{dim = 0 : i32}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_source(%a0: tensor<2x3xf32>, %a1: tensor<2x3xi32>, %a2: tensor<2x2xf32>) {
  // expected-error@+1 {{'ttir.scatter' op operand 'index' has size 3 in dimension 1, the source only 2}}
  %0 = "ttir.scatter"(%a0, %a1, %a2) <{dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @embedding_table(%a0: tensor<3xi32>, %a1: tensor<4x5x6xf32>) {
  // expected-error@+1 {{'ttir.embedding' op operand 'weight' is 'tensor<4x5x6xf32>'; expected a matrix of one row per index}}
  %0 = "ttir.embedding"(%a0, %a1) : (tensor<3xi32>, tensor<4x5x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @embedding_gradient(%a0: tensor<3xi32>, %a1: tensor<4x5xf32>, %a2: tensor<2x5xf32>) {
  // expected-error@+1 {{'ttir.embedding_backward' op operand 'in_gradient' is 'tensor<2x5xf32>'; expected 3 rows of 5}}
  %0 = "ttir.embedding_backward"(%a0, %a1, %a2) : (tensor<3xi32>, tensor<4x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return
}
