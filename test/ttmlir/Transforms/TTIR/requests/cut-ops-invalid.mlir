// RUN: ttmlir-opt %s --ttir-cut-ops --split-input-file --verify-diagnostics

func.func @form(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op ttcore.cut is 3 : i64; expected a dimension of the result and a number of parts, as array<i64: -1, 2>}}
  %0 = "ttir.exp"(%x) {ttcore.cut = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{ttcore.cut is array<i64: 0, 0>; expected a dimension}}
  %0 = "ttir.exp"(%x) {ttcore.cut = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op is not cut into 2 parts: its result 'tensor<4xf32>' has no dimension -2}}
  %0 = "ttir.exp"(%x) {ttcore.cut = array<i64: -2, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @size(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not cut into 3 parts: dimension -1 of its result 'tensor<4xf32>' has size 4}}
  %0 = "ttir.exp"(%x) {ttcore.cut = array<i64: -1, 3>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  // expected-error @+1 {{is not cut into 2 parts: dimension 0 of its result 'tensor<0x4xf32>' has size 0}}
  %0 = "ttir.exp"(%x) {ttcore.cut = array<i64: 0, 2>} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// -----

func.func @whole(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'ttir.softmax' op is not cut into 2 parts: it needs the dimension whole}}
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32}> {ttcore.cut = array<i64: -1, 2>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @unknown(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xsi32>) {
  // expected-error @+1 {{'ttir.sort' op is not cut into 2 parts: expected one result of known sizes}}
  %0:2 = "ttir.sort"(%x) <{dim = 1 : si32, descending = false, stable = false}> {ttcore.cut = array<i64: -2, 2>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xsi32>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xsi32>
}

// -----

func.func @drawn(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'ttir.dropout' op is not cut into 2 parts: it is not known how its operands follow its result}}
  %0 = "ttir.dropout"(%x) <{prob = 0.5 : f32, scale = 2.0 : f32, seed = 3 : ui32}> {ttcore.cut = array<i64: -2, 2>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @window(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32> {
  // expected-error @+1 {{'ttir.conv2d' op ttcore.cut_window is 0 : i64; expected a number of parts of at least 1}}
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> {ttcore.cut_window = 0 : i64} : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}

// -----

func.func @places(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32> {
  // expected-error @+1 {{'ttir.conv2d' op is not computed in 2 parts: its windows have 3x3 places; expected parts of as many rows and columns each}}
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> {ttcore.cut_window = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}

// -----

func.func @volume(%x: tensor<1x4x8x8x4xf32>, %w: tensor<6x4x1x3x3xf32>) -> tensor<1x4x6x6x6xf32> {
  // expected-error @+1 {{'ttir.conv3d' op is not computed in parts of its window; expected a ttir.conv2d of images}}
  %0 = "ttir.conv3d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, groups = 1 : i32}> {ttcore.cut_window = 3 : i64} : (tensor<1x4x8x8x4xf32>, tensor<6x4x1x3x3xf32>) -> tensor<1x4x6x6x6xf32>
  return %0 : tensor<1x4x6x6x6xf32>
}
