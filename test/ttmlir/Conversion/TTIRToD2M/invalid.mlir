// RUN: ttmlir-opt %s --split-input-file --ttcore-register-device --ttir-to-d2m --verify-diagnostics

func.func @seed() -> tensor<32x32xf32> {
  // expected-error @+1 {{'ttir.rand' is not lowered to D2M: its seed is 0, which draws other numbers in every run; cores draw those of a seed above 0}}
  %0 = "ttir.rand"() <{size = [32 : i32, 32 : i32]}> : () -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

func.func @mixed(%x: tensor<32x32xf32>, %y: tensor<32x32xi32>) -> tensor<32x32xf32> {
  // expected-error @+1 {{'ttir.matmul' is not lowered to D2M: it multiplies 'f32' and 'i32' to 'f32'; expected floats, or integers}}
  %0 = "ttir.matmul"(%x, %y) : (tensor<32x32xf32>, tensor<32x32xi32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// expected-error @+1 {{tensor<4xf16> has elements that cores do not compute with; expected f32, bf16, i32, ui32, ui16, ui8, i1, bfp_bf8 or bfp_bf4}}
func.func @type(%x: tensor<4xf16>) -> tensor<4xf16> {
  return %x : tensor<4xf16>
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

// -----

func.func @drawn() -> tensor<65536x65536xf32> {
  // expected-error @+1 {{'ttir.rand' is not lowered to D2M: its 4294967296 elements have positions of more than 31 bits}}
  %0 = "ttir.rand"() <{size = [65536 : i32, 65536 : i32], seed = 1 : ui32}> : () -> tensor<65536x65536xf32>
  return %0 : tensor<65536x65536xf32>
}
