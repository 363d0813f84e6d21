// RUN: ttmlir-opt %s --split-input-file --ttcore-register-device --ttir-to-d2m --verify-diagnostics

func.func @op(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error @+1 {{'ttir.matmul' is not lowered to D2M; there are elementwise ops, constants, and reshapes that keep rows}}
  %0 = "ttir.matmul"(%x, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

func.func @broadcast(%x: tensor<32x32xf32>, %y: tensor<1x32xf32>) -> tensor<32x32xf32> {
  // expected-error @+1 {{'ttir.add' is not lowered to D2M: operand 1 is 'tensor<1x32xf32>' and the result 'tensor<32x32xf32>'; tiles are not broadcast}}
  %0 = "ttir.add"(%x, %y) : (tensor<32x32xf32>, tensor<1x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

func.func @reshape(%x: tensor<4x16xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'ttir.reshape' is not lowered to D2M: it moves elements to other rows of tiles}}
  %0 = "ttir.reshape"(%x) <{shape = [8 : i32, 8 : i32]}> : (tensor<4x16xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// expected-error @+1 {{'func.func' is not lowered to D2M: tensor<0x4xf32> has no elements}}
func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  return %x : tensor<0x4xf32>
}

// -----

// expected-error @+1 {{tensor<4xi1> has elements that cores do not compute with; expected f32, bf16, i32, ui32, ui16 or ui8}}
func.func @type(%x: tensor<4xi1>) -> tensor<4xi1> {
  return %x : tensor<4xi1>
}

// -----

// expected-error @+1 {{tensor<?x4xf32> has dynamic dimensions}}
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{'func.func' is not lowered to D2M: 'index' is no ranked tensor}}
func.func @index(%x: index) {
  return
}

// -----

// expected-error @+1 {{has more elements than the memories of a device}}
func.func @huge(%x: tensor<4000000000000x4000000000000xf32>) -> tensor<4000000000000x4000000000000xf32> {
  return %x : tensor<4000000000000x4000000000000xf32>
}
