// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @input(%x: tensor<1x4x5x7x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op operand 'input' has shape 1x4x5x7x4; expected 1x4x5x6x4 by the attributes}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x7x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x1x120x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op operand 'input' has shape 1x1x120x4; expected 1x4x5x6x4 by the attributes}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x1x120x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @weight(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op operand 'weight' has shape 8x3x3x3x3; expected 8x4x3x3x3}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @prepared_weight(%x: tensor<1x4x5x6x4xf32>, %w: tensor<81x8xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op operand 'weight' has shape 81x8; expected 27 times at least as many rows as the channels of a group, 4 / 1, and 8 columns}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<81x8xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op attribute 'kernel_size' is [3, 3]; expected three numbers of 1 or more}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @padding(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op attribute 'padding' is [0, 0]; expected three or six numbers of 0 or more}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @window(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x4x5x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op the window spans 5 in depth, but the padded input is only 4}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 5, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<8x4x5x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @padding_mode(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op attribute 'padding_mode' is "reflect"; expected "zeros" or "replicate"}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>, padding_mode = "reflect"}> : (tensor<1x4x5x6x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op attribute 'groups' is 3, which does not divide 4 input and 8 output channels}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 3 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x2x3x4x8xf32>
  return
}

// -----

func.func @result(%x: tensor<1x4x5x6x4xf32>, %w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op result is 'tensor<1x1x24x8xf32>'; expected shape 1x2x3x4x8}}
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_depth = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x4x5x6x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x1x24x8xf32>
  return
}

// -----

func.func @prepare_groups(%w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op attribute 'groups' is 3, which does not divide 8 output channels}}
  %0 = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 1 : i32, c_in_block = 0 : i32, groups = 3 : i32}> : (tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<108x8xf32>
  return
}

// -----

func.func @prepare_alignment(%w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op attribute 'alignment' is 0; expected 1 or more}}
  %0 = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 0 : i32, c_in_block = 0 : i32, groups = 1 : i32}> : (tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<108x8xf32>
  return
}

// -----

func.func @prepare_block(%w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op attribute 'c_in_block' is 3; expected 0, or a divisor of 4 input channels}}
  %0 = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 1 : i32, c_in_block = 3 : i32, groups = 1 : i32}> : (tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<108x8xf32>
  return
}

// -----

func.func @prepare_rank(%w: tensor<8x4x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op operand 'weight_tensor' is 'tensor<8x4x3x3xf32>'; expected rank 5}}
  %0 = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 1 : i32, c_in_block = 0 : i32, groups = 1 : i32}> : (tensor<8x4x3x3xf32>, !ttnn.device) -> tensor<108x8xf32>
  return
}

// -----

func.func @prepare_result(%w: tensor<8x4x3x3x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op result is 'tensor<108x8xf32>'; expected shape 864x8}}
  %0 = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 0 : i32, groups = 1 : i32}> : (tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<108x8xf32>
  return
}

// -----

func.func @sequence(%x: tensor<1x1x17x4xf32>, %w: tensor<6x4x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv1d' op operand 'input' has shape 1x1x17x4; expected 1x1x18x4 or 2x9x4 by the attributes}}
  %0 = "ttnn.conv1d"(%x, %w, %d) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_length = 9 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 1 : i32}> : (tensor<1x1x17x4xf32>, tensor<6x4x3xf32>, !ttnn.device) -> tensor<1x1x14x6xf32>
  return
}

// -----

func.func @sequence_weight(%x: tensor<1x1x18x4xf32>, %w: tensor<6x4x2xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv1d' op operand 'weight' has shape 6x4x2; expected 6x4x3}}
  %0 = "ttnn.conv1d"(%x, %w, %d) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_length = 9 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 1 : i32}> : (tensor<1x1x18x4xf32>, tensor<6x4x2xf32>, !ttnn.device) -> tensor<1x1x14x6xf32>
  return
}

// -----

func.func @sequence_padding(%x: tensor<1x1x18x4xf32>, %w: tensor<6x4x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv1d' op attribute 'padding' is [1, 1, 1]; expected one or two numbers of 0 or more}}
  %0 = "ttnn.conv1d"(%x, %w, %d) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_length = 9 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 1, 1, 1>, stride = 1 : i32}> : (tensor<1x1x18x4xf32>, tensor<6x4x3xf32>, !ttnn.device) -> tensor<1x1x14x6xf32>
  return
}

// -----

func.func @sequence_bias(%x: tensor<1x1x18x4xf32>, %w: tensor<6x4x3xf32>, %b: tensor<6x1x1x1xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv1d' op operand 'bias' has shape 6x1x1x1; expected 6 values, one per output channel, in the last dimension}}
  %0 = "ttnn.conv1d"(%x, %w, %b, %d) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_length = 9 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 1 : i32}> : (tensor<1x1x18x4xf32>, tensor<6x4x3xf32>, tensor<6x1x1x1xf32>, !ttnn.device) -> tensor<1x1x14x6xf32>
  return
}

// -----

func.func @sequence_prepared(%x: tensor<1x1x18x4xf32>, %w: tensor<1x1x13x6xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv1d' op operand 'weight' has shape 1x1x13x6; expected 6x4x3x1}}
  %0 = "ttnn.conv1d"(%x, %w, %d) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = 4 : i32, input_length = 9 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 1 : i32}> : (tensor<1x1x18x4xf32>, tensor<1x1x13x6xf32>, !ttnn.device) -> tensor<1x1x14x6xf32>
  return
}

// -----

func.func @sequence_channels(%x: tensor<1x1x18x4xf32>, %w: tensor<6x4x3xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv1d' op attribute 'in_channels' is -1; expected 0 or more}}
  %0 = "ttnn.conv1d"(%x, %w, %d) <{batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = -1 : i32, input_length = 9 : i32, kernel_size = 3 : i32, out_channels = 6 : i32, padding = array<i32: 0>, stride = 1 : i32}> : (tensor<1x1x18x4xf32>, tensor<6x4x3xf32>, !ttnn.device) -> tensor<1x1x14x6xf32>
  return
}
