// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// Element types, where values are not converted to those of a declared result.

func.func @positions(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'ttir.sort' op result 1 is 'tensor<2x3xf32>'; expected integers}}
  %0, %1 = "ttir.sort"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0 : tensor<2x3xf32>
}

// -----

func.func @sorted(%x: tensor<2x3xf32>) -> tensor<2x3xi32> {
  // expected-error@+1 {{'ttnn.sort' op result 0 is 'tensor<2x3xi32>'; expected floating-point numbers}}
  %0, %1 = "ttnn.sort"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
  return %0 : tensor<2x3xi32>
}

// -----

func.func @exchanged(%x: tensor<4x8xf32>) -> tensor<2x16xi32> {
  // expected-error@+1 {{'ttir.all_to_all' op result is 'tensor<2x16xi32>'; expected elements of type f32, as of operand 'input'}}
  %0 = "ttir.all_to_all"(%x) <{split_dim = 0 : si32, concat_dim = 1 : si32, split_count = 2 : si32, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<2x16xi32>
  return %0 : tensor<2x16xi32>
}

// -----

func.func @reduced(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'ttir.all_reduce' op attribute 'reduce_type' is mean; expected sum, max, min or prod}}
  %0 = "ttir.all_reduce"(%x) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<mean>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @copied(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error@+1 {{'ttnn.copy' op operand 'dst' is 'tensor<2x3xi32>'; expected floating-point numbers}}
  "ttnn.copy"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xi32>) -> ()
  return
}

// -----

func.func @trace(%d: !ttnn.device, %x: tensor<f32>) {
  // expected-error@+1 {{'ttnn.execute_trace' op operand 'trace_id' is 'tensor<f32>'; expected integers}}
  "ttnn.execute_trace"(%d, %x) : (!ttnn.device, tensor<f32>) -> ()
  return
}

// -----

func.func @queue(%d: !ttnn.device, %x: tensor<ui32>) {
  // expected-error@+1 {{'ttnn.execute_trace' op attribute 'cq_id' is 7; expected 0 or 1}}
  "ttnn.execute_trace"(%d, %x) <{cq_id = 7 : ui32}> : (!ttnn.device, tensor<ui32>) -> ()
  return
}

// -----

func.func @scales(%x: tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:1, {0.1,0.2,0.3}>> {
  // expected-error@+1 {{expected 4 scales, the size of dimension 1, found 3}}
  %0 = "ttir.quantize"(%x) : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:1, {0.1,0.2,0.3}>>
  return %0 : tensor<2x4x!quant.uniform<i8:f32:1, {0.1,0.2,0.3}>>
}

// -----

func.func @axis(%x: tensor<3x!quant.uniform<i8:f32, 0.1>>) -> tensor<3x!quant.uniform<i8:f32:5, {0.1,0.2,0.3}>> {
  // expected-error@+1 {{expected a quantized dimension of 0 to 0}}
  %0 = "ttir.requantize"(%x) : (tensor<3x!quant.uniform<i8:f32, 0.1>>) -> tensor<3x!quant.uniform<i8:f32:5, {0.1,0.2,0.3}>>
  return %0 : tensor<3x!quant.uniform<i8:f32:5, {0.1,0.2,0.3}>>
}

// -----

func.func @unquantized(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'ttir.dequantize' op operand 'input' is 'tensor<3xf32>'; expected a quantized element type}}
  %0 = "ttir.dequantize"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @parameters(%x: tensor<2x3xf32>, %s: tensor<3xi32>, %z: tensor<3xi32>) -> tensor<2x3xi32> {
  // expected-error@+1 {{'ttnn.quantize' op operand 'scale' is 'tensor<3xi32>'; expected floating-point numbers}}
  %0 = "ttnn.quantize"(%x, %s, %z) <{axis = 1 : i32}> : (tensor<2x3xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// -----

#dram = #ttnn.buffer_type<dram>
func.func @prepared(%w: tensor<6x3x3x3xf32>, %d: !ttnn.device) -> tensor<1x1x36x6xf32> {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op operand 'weight_tensor' has shape 6x3x3x3; expected 6x4x3x3}}
  %0 = "ttnn.prepare_conv2d_weights"(%w, %d) <{input_memory_config = #ttnn.memory_config<#dram, <interleaved>>, input_tensor_layout = #ttnn.layout<row_major>, weights_format = "OIHW", in_channels = 4 : i32, out_channels = 6 : i32, batch_size = 1 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = array<i32: 1, 1>, dilation = array<i32: 1, 1>, has_bias = false, groups = 1 : i32, input_dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<6x3x3x3xf32>, !ttnn.device) -> tensor<1x1x36x6xf32>
  return %0 : tensor<1x1x36x6xf32>
}

// -----

#dram = #ttnn.buffer_type<dram>
func.func @format(%w: tensor<6x4x3x3xf32>, %d: !ttnn.device) -> tensor<1x1x36x6xf32> {
  // expected-error@+1 {{attribute 'weights_format' is "HWOI"; expected "OIHW"}}
  %0 = "ttnn.prepare_conv2d_weights"(%w, %d) <{input_memory_config = #ttnn.memory_config<#dram, <interleaved>>, input_tensor_layout = #ttnn.layout<row_major>, weights_format = "HWOI", in_channels = 4 : i32, out_channels = 6 : i32, batch_size = 1 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = array<i32: 1, 1>, dilation = array<i32: 1, 1>, has_bias = false, groups = 1 : i32, input_dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<6x4x3x3xf32>, !ttnn.device) -> tensor<1x1x36x6xf32>
  return %0 : tensor<1x1x36x6xf32>
}

// -----

// expected-error@+1 {{collapsed_intervals has [0, 2); expected intervals of 2 dimensions, one after another}}
module attributes {t.layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<[[1, 2], [0, 2]]> : tensor<2x2xi64>, l1, sharded>} {}
