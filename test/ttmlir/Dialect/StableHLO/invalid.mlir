// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @different_shapes(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{stablehlo.add: operand 1 is 'tensor<5xf32>'; expected the shape of 'tensor<4xf32>', which operand 0 has}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @different_elements(%a: tensor<4xf32>, %b: tensor<4xbf16>) {
  // expected-error@+1 {{stablehlo.multiply: operand 1 is 'tensor<4xbf16>'; expected the element type of 'tensor<4xf32>', which operand 0 has}}
  %0 = "stablehlo.multiply"(%a, %b) : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>
  return
}

// -----

func.func @wrong_result(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.tanh' op has results ('tensor<5xf32>'); expected ('tensor<4xf32>')}}
  %0 = stablehlo.tanh %a : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @integers_have_no_tanh(%a: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.tanh %a : tensor<4xi32>
  return
}

// -----

func.func @too_many_types(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a function of 1 operands and 1 result, found '(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = stablehlo.tanh %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @compare_floats_as_integers(%a: tensor<4xf32>) {
  // expected-error@+1 {{compares elements of type 'f32' as SIGNED}}
  %0 = stablehlo.compare LT, %a, %a, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @complex_numbers_have_no_order(%a: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{compares complex numbers with LT; only EQ and NE are defined}}
  %0 = stablehlo.compare LT, %a, %a : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}

// -----

func.func @predicate_shape(%p: tensor<3xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{stablehlo.select: operand 0 is 'tensor<3xi1>'; expected a scalar or the shape of 'tensor<4xf32>'}}
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @bound_type(%b: tensor<bf16>, %a: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{stablehlo.clamp: operand 0 is 'tensor<bf16>'; expected the element type of 'tensor<4xf32>', which operand 1 has}}
  %0 = stablehlo.clamp %b, %a, %c : (tensor<bf16>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @accuracy_without_tolerance(%a: tensor<4xf32>) {
  // expected-error@+1 {{result_accuracy of mode TOLERANCE has no tolerance; expected atol, rtol or ulps}}
  %0 = stablehlo.log %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @float_format(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a float format such as e5m10, found 'bf16'}}
  %0 = stablehlo.reduce_precision %a, format = bf16 : tensor<4xf32>
  return
}

// -----

func.func @iota_dimension() {
  // expected-error@+1 {{counts along dimension 2 of a result of rank 2}}
  %0 = stablehlo.iota dim = 2 : tensor<3x4xi32>
  return
}

// -----

func.func @constant_of_a_vector() {
  // expected-error@+1 {{expected the elements of a ranked tensor, found dense<0> : vector<4xi32>}}
  %0 = stablehlo.constant dense<0> : vector<4xi32>
  return
}

// -----

func.func @element_count(%a: tensor<4x6xf32>) {
  // expected-error@+1 {{has 24 elements in 'tensor<4x6xf32>' and 25 in 'tensor<5x5xf32>'}}
  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @countless_elements(%a: tensor<4xf32>) {
  // expected-error@+1 {{has more elements than can be counted}}
  %0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @dimension_twice(%a: tensor<4x6xf32>) {
  // expected-error@+1 {{stablehlo.transpose: dims names dimension 0 twice}}
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<4x6xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dimension_out_of_range(%a: tensor<4x6xf32>) {
  // expected-error@+1 {{stablehlo.reverse: dims names dimension 2 of a tensor of rank 2}}
  %0 = stablehlo.reverse %a, dims = [2] : tensor<4x6xf32>
  return
}

// -----

func.func @broadcast_size(%a: tensor<4xf32>) {
  // expected-error@+1 {{places dimension 0 of size 4 in dimension 1 of size 6; expected size 1 or the same size}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @nothing_to_concatenate() {
  // expected-error@+1 {{stablehlo.concatenate: has no operands; expected 1 or more}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_sizes(%a: tensor<4x6xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{stablehlo.concatenate: operand 1 has size 5 in dimension 1, others have 6; only dimension 0 may differ}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @slice_range(%a: tensor<4xf32>) {
  // expected-error@+1 {{stablehlo.slice: the range 2:5 does not fit dimension 0 of 'tensor<4xf32>'}}
  %0 = stablehlo.slice %a [2:5] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_stride(%a: tensor<4xf32>) {
  // expected-error@+1 {{stablehlo.slice: the stride of dimension 0 is 0; expected 1 or more}}
  %0 = stablehlo.slice %a [0:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @padding_removes_everything(%a: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{stablehlo.pad: dimension 0 of size 4 padded by -3 and -2 has less than no elements}}
  %0 = stablehlo.pad %a, %z, low = [-3], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @padding_overflows(%a: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{stablehlo.pad: dimension 0 of size 4 padded by 0 and 0 overflows}}
  %0 = stablehlo.pad %a, %z, low = [0], high = [0], interior = [9223372036854775807] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @block_size(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{stablehlo.dynamic_slice: a block of size 5 does not fit dimension 0 of 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @parts_of_elements(%a: tensor<4xf32>) {
  // expected-error@+1 {{needs a last dimension of 2 in 'tensor<4x3xbf16>', for the parts of an element of 'tensor<4xf32>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x3xbf16>
  return
}

// -----

func.func @contracting_sizes(%a: tensor<8x20xf32>, %b: tensor<21x7xf32>) {
  // expected-error@+1 {{stablehlo.dot_general: contracting dimensions 1 of lhs and 0 of rhs have sizes 20 and 21}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x20xf32>, tensor<21x7xf32>) -> tensor<8x7xf32>
  return
}

// -----

func.func @contracting_counts(%a: tensor<8x20xf32>, %b: tensor<20x7xf32>) {
  // expected-error@+1 {{stablehlo.dot_general: has 2 contracting dimensions of lhs and 1 of rhs; expected the same number}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [0] : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @precisions(%a: tensor<8x20xf32>, %b: tensor<20x7xf32>) {
  // expected-error@+1 {{has 3 precisions; expected one for each of 2 operands}}
  %0 = stablehlo.dot %a, %b, precision = [HIGH, HIGH, HIGH] : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  return
}

// -----

func.func @precision_name(%a: tensor<8x20xf32>, %b: tensor<20x7xf32>) {
  // expected-error@+1 {{expected DEFAULT, HIGH or HIGHEST, found 'LOW'}}
  %0 = stablehlo.dot %a, %b, precision = [LOW, HIGH] : (tensor<8x20xf32>, tensor<20x7xf32>) -> tensor<8x7xf32>
  return
}

// -----

func.func @convolution_dimension(%x: tensor<1x4x9x9xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{dimension 'f' is missing}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, 2]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x7xf32>
  return
}

// -----

func.func @convolution_features(%x: tensor<1x4x9x9xf32>, %w: tensor<6x5x3x3xf32>) {
  // expected-error@+1 {{stablehlo.convolution: the input has 4 features in each of 1 groups, the kernel takes 5}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x9x9xf32>, tensor<6x5x3x3xf32>) -> tensor<1x6x7x7xf32>
  return
}

// -----

func.func @convolution_groups(%x: tensor<1x4x9x9xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{stablehlo.convolution: the input feature dimension has size 4, which 3 groups do not divide}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x7xf32>
  return
}

// -----

func.func @convolution_stride(%x: tensor<1x4x9x9xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{stablehlo.convolution: window strides contains 0; expected positive numbers}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x7xf32>
  return
}

// -----

func.func @conv_attribute() {
  // expected-error@+1 {{conv: input dimension 5 is out of range; expected 0 to 3, each once}}
  %0 = stablehlo.constant {dims = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 5, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>} dense<0> : tensor<i32>
  return
}

// -----

func.func @applied_op(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.subtract' cannot be applied; expected a commutative stablehlo op of two operands, or a reducer region}}
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.subtract across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @initial_value(%x: tensor<4xf32>, %z: tensor<1xf32>) {
  // expected-error@+1 {{stablehlo.reduce: operand 1 is 'tensor<1xf32>'; expected a scalar with the element type of 'tensor<4xf32>'}}
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<f32>
  return
}

// -----

func.func @operands_come_in_pairs(%x: tensor<4xf32>) {
  // expected-error@+1 {{stablehlo.reduce: has 1 operands; expected one or more tensors and an initial value for each}}
  %0 = "stablehlo.reduce"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @region_arguments(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{has region argument 1 of type 'tensor<1xf32>'; expected 'tensor<f32>'}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<1xf32>) {
      stablehlo.return %a : tensor<f32>
    }
  return
}

// -----

func.func @window_rank(%x: tensor<4x4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{stablehlo.reduce_window: window_dimensions has 1 values; expected one for each of 2 dimensions}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @window_size(%x: tensor<4x4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{stablehlo.reduce_window: window_dimensions contains -9223372036854775808; expected positive numbers}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, -9223372036854775808>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
