// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttir-micro-batches="count=2"

// expected-error@+1 {{argument 0 is 'tensor<7x6xf32>', whose rows 2 micro-batches do not divide}}
func.func @rows(%x: tensor<7x6xf32>) -> tensor<7x6xf32> {
  return %x : tensor<7x6xf32>
}

// -----

// expected-error@+1 {{argument 0 is 'tensor<f32>', whose rows 2 micro-batches do not divide}}
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @softmax(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it needs dimension 0 of operand 0 whole}}
  %0 = "ttir.softmax"(%x) <{dimension = -2 : si32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @sum(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it combines dimension 0 of operand 0}}
  %0 = "ttir.sum"(%x) <{keep_dim = false, dim_arg = [0 : i32]}> : (tensor<8x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @all(%x: tensor<8x8xf32>) -> tensor<1x1xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it combines dimension 0 of operand 0}}
  %0 = "ttir.sum"(%x) <{keep_dim = true}> : (tensor<8x8xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

func.func @transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: dimension 0 of operand 0 is dimension 1 of result 0}}
  %0 = "ttir.transpose"(%x) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @permuted(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: dimension 0 of operand 0 is dimension 1 of result 0}}
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @sliced(%x: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it needs dimension 0 of operand 0 whole}}
  %0 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @padded(%x: tensor<8x8xf32>) -> tensor<9x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it needs dimension 0 of operand 0 whole}}
  %0 = "ttir.pad"(%x) <{padding = array<i32: 0, 1, 0, 0>, value = 0.0 : f32}> : (tensor<8x8xf32>) -> tensor<9x8xf32>
  return %0 : tensor<9x8xf32>
}

// -----

func.func @reversed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it moves rows along dimension 0 of operand 0}}
  %0 = "ttir.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @gram(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it combines dimension 0 of operand 0}}
  %0 = "ttir.matmul"(%x, %x) <{transpose_a = true}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @right(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it combines dimension 0 of operand 1}}
  %0 = "ttir.matmul"(%w, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @norm(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it needs dimension 0 of operand 0 whole}}
  %0 = "ttir.layer_norm"(%x) <{normalized_shape = array<i64: 8, 8>, epsilon = 1.0e-5 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @reshaped(%x: tensor<8x8xf32>) -> tensor<1x64xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: dimension 0 of operand 0 is dimension 1 of result 0}}
  %0 = "ttir.reshape"(%x) <{shape = [1 : i32, 64 : i32]}> : (tensor<8x8xf32>) -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// -----

func.func @other_rows(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: operand 1 is 'tensor<8x8xf32>' for the whole batch}}
  %0 = "ttir.add"(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @broadcast(%x: tensor<8xf32>) -> tensor<1x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: dimension 0 of operand 0 is dimension 1 of result 0}}
  %0 = "ttir.reshape"(%x) <{shape = [1 : i32, 8 : i32]}> : (tensor<8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @columns(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: dimension 0 of operand 0 is dimension 1 of operand 1}}
  %0 = "ttir.add"(%x, %w) : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @unknown(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it is not known to work on each row by itself}}
  %0 = "ttir.dropout"(%x) <{prob = 0.5 : f32, scale = 2.0 : f32, seed = 21 : ui32, use_per_device_seed = true}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @table(%w: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{cannot work on 2 micro-batches: it needs dimension 0 of operand 1 whole}}
  %0 = "ttir.embedding"(%i, %w) : (tensor<4xi32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @rows_of_the_caller(%x: tensor<8x8xf32>) -> tensor<4x8xf32> {
    // expected-error@+1 {{cannot work on 2 micro-batches: the caller has dimension 0 in shards; expected whole tensors}}
    %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<identity>}> : (tensor<8x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  // expected-error@+1 {{argument 0 is given in shards, which may be parts of the batch; expected a whole tensor for micro-batches}}
  func.func @shards(%x: tensor<8x8xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<8x8xf32, #ttcore.tensor_mesh<"mesh">> {
    return %x : tensor<8x8xf32, #ttcore.tensor_mesh<"mesh">>
  }
}
