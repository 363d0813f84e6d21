// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @weight(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x3x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op operand 'weight' has shape 2x3x3x3; expected 2x4x3x3}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @weight_rank(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op operand 'weight' is 'tensor<2x4x3xf32>'; expected rank 4}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @input_rank(%a0: tensor<8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op operand 'input' is 'tensor<8x8x4xf32>'; expected rank 4}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @bias(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>, %a2: tensor<1x1x1x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op operand 'bias' has shape 1x1x1x3; expected 2 values, one per output channel}}
  %0 = "ttir.conv2d"(%a0, %a1, %a2) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>, tensor<1x1x1x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @groups(%a0: tensor<1x8x8x4xf32>, %a1: tensor<3x1x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'groups' is 3, which does not divide 4 input and 3 output channels}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 3 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x1x3x3xf32>) -> tensor<1x6x6x3xf32>
  return
}

// -----

func.func @no_groups(%a0: tensor<1x8x8x4xf32>, %a1: tensor<3x1x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'groups' is 0, which does not divide 4 input and 3 output channels}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 0 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x1x3x3xf32>) -> tensor<1x6x6x3xf32>
  return
}

// -----

func.func @stride(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'stride' has 0; expected 1 or more}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = array<i32: 1, 0>, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @stride_count(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'stride' has 3 numbers; expected one, or 2}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = array<i32: 1, 1, 1>, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @padding_count(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'padding' has 3 numbers; expected one, 2 or 4}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = array<i32: 1, 1, 1>, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @padding_negative(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'padding' has -1; expected 0 or more}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = -1 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @too_small(%a0: tensor<1x8x9x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op the window spans 9 in height, but the padded input is only 8}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 4 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x9x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x1x1x2xf32>
  return
}

// -----

func.func @dims_twice(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'width_dim' is 1, as another dimension attribute}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @dims_range(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'batch_dim' is -1; expected 0 to 3}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = -1 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @flattened(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x1x1xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op operand 'input' has shape 1x1x64x4; expected 1x1x56x4 by 'flattened_compat_info'}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 7>, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x1x64x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x1x64x2xf32>
  return
}

// -----

func.func @flattened_negative(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x1x1xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'flattened_compat_info' has -1; expected 0 or more}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = -1, input_height = 8, input_width = 7>, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x1x64x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x1x64x2xf32>
  return
}

// -----

func.func @flattened_dims(%a0: tensor<1x1x64x4xf32>, %a1: tensor<2x4x1x1xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op attribute 'flattened_compat_info' needs dimensions in order batch, height, width, channel}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 8>, groups = 1 : i32, height_dim = 3 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x1x64x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x1x64x2xf32>
  return
}

// -----

func.func @conv_result(%a0: tensor<1x8x8x4xf32>, %a1: tensor<2x4x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv2d' op result is 'tensor<1x8x8x2xf32>'; expected shape 1x6x6x2}}
  %0 = "ttir.conv2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x8x8x2xf32>
  return
}

// -----

func.func @transposed(%a0: tensor<1x2x2x4xf32>, %a1: tensor<4x2x3x3xf32>) {
  // expected-error@+1 {{'ttir.conv_transpose2d' op height of the result would be -6; expected 1 or more}}
  %0 = "ttir.conv_transpose2d"(%a0, %a1) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = 1 : i32, groups = 1 : i32, height_dim = 1 : i64, output_padding = 0 : i32, padding = 5 : i32, stride = 1 : i32, width_dim = 2 : i64}> : (tensor<1x2x2x4xf32>, tensor<4x2x3x3xf32>) -> tensor<1x1x1x2xf32>
  return
}

// -----

func.func @pool_kernel(%a0: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{'ttir.max_pool2d' op attribute 'kernel' has 0; expected 1 or more}}
  %0 = "ttir.max_pool2d"(%a0) <{ceil_mode = false, dilation = 1 : i32, kernel = 0 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @pool_result(%a0: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{'ttir.max_pool2d' op result is 'tensor<1x5x4x4xf32>'; expected shape 1x4x4x4}}
  %0 = "ttir.max_pool2d"(%a0) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x8x8x4xf32>) -> tensor<1x5x4x4xf32>
  return
}

// -----

func.func @pool_too_small(%a0: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{'ttir.avg_pool2d' op the window spans 9 in height, but the padded input is only 8}}
  %0 = "ttir.avg_pool2d"(%a0) <{ceil_mode = false, dilation = 1 : i32, kernel = 9 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x8x8x4xf32>) -> tensor<1x1x1x4xf32>
  return
}

// -----

func.func @pool_of_volumes_too_small(%a0: tensor<1x4x8x8x4xf32>) {
  // expected-error@+1 {{'ttir.avg_pool3d' op the window spans 5 in depth, but the padded input is only 4}}
  %0 = "ttir.avg_pool3d"(%a0) <{ceil_mode = false, dilation = 1 : i32, kernel = array<i32: 5, 2, 2>, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x4x8x8x4xf32>) -> tensor<1x1x4x4x4xf32>
  return
}

// -----

func.func @pool_of_volumes_result(%a0: tensor<1x4x8x8x4xf32>) {
  // expected-error@+1 {{'ttir.max_pool3d_with_indices' op result 1 is 'tensor<1x2x4x5x4xi32>'; expected shape 1x2x4x4x4}}
  %0, %1 = "ttir.max_pool3d_with_indices"(%a0) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x4x8x8x4xf32>) -> (tensor<1x2x4x4x4xf32>, tensor<1x2x4x5x4xi32>)
  return
}

// -----

func.func @pool_padding_overflow(%a0: tensor<0x9223372036854775807x8x4xf32>) {
  // expected-error@+1 {{'ttir.max_pool2d' op height 9223372036854775807 with its padding and window does not fit into 64 bits}}
  %0 = "ttir.max_pool2d"(%a0) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 2147483647 : i32, stride = 2 : i32}> : (tensor<0x9223372036854775807x8x4xf32>) -> tensor<1x1x1x4xf32>
  return
}

// -----

func.func @global_rank(%a0: tensor<8x4xf32>) {
  // expected-error@+1 {{'ttir.global_avg_pool2d' op operand 'input' is 'tensor<8x4xf32>'; expected rank 4}}
  %0 = "ttir.global_avg_pool2d"(%a0) : (tensor<8x4xf32>) -> tensor<1x4xf32>
  return
}
