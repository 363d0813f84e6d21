// RUN: ttmlir-opt %s --stablehlo-legalize-quant-to-math --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2xbf16>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize' op has an operand of 'bf16' and a result that stands for 'f32'; expected the same float type}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xbf16>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of integers quantized with one scale or integers quantized with a scale for each index values}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.uniform_dequantize' op has results ('tensor<2xbf16>'); expected ('tensor<2xf32>')}}
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xbf16>
  return
}

// -----

// Three scales for two rows.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25, 1.5}>>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.convert' op operand #0 must be}}
  %0 = stablehlo.convert %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error@+1 {{expected the element type of 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>', which operand 0 has}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'stablehlo.constant' op has results}}
  %0 = stablehlo.constant() {value = dense<[1, 2]> : tensor<2xi16>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.reshape' op has elements of type '!quant.uniform<i8:f32, 5.000000e-01>' and a result of 'i8'; expected the same}}
  %0 = stablehlo.reshape %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xi8>
  return
}

// -----

func.func @f(%x: tensor<?x!quant.uniform<u8:f32, 0.5:128>>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.uniform_dequantize' op has the type 'tensor<?x!quant.uniform<u8:f32, 5.000000e-01:128>>'; expected a static shape, to compute with it}}
  %0 = stablehlo.uniform_dequantize %x : (tensor<?x!quant.uniform<u8:f32, 0.5:128>>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
