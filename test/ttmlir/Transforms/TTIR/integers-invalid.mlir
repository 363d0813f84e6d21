// RUN: ttmlir-opt %s --ttir-element-type-normalization --split-input-file --verify-diagnostics

func.func @full() -> tensor<4xui8> {
  // expected-error@+1 {{'ttir.full' op value -1 of attribute 'fill_value' does not fit into 'ui8'; expected 0 to 255}}
  %0 = "ttir.full"() <{fill_value = -1 : i32, shape = array<i32: 4>}> : () -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

func.func @full_of_a_float() -> tensor<4xi32> {
  // expected-error@+1 {{value 1.000000e+10 of attribute 'fill_value' does not fit into 'i32'}}
  %0 = "ttir.full"() <{fill_value = 1.0e10 : f32, shape = array<i32: 4>}> : () -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @arange() -> tensor<3xi64> {
  // expected-error@+1 {{'ttir.arange' op value 4294967296 at its end does not fit into 'i64', of which the chip holds 32 bits}}
  %0 = "ttir.arange"() <{start = 0 : si64, end = 4294967297 : si64, step = 2147483648 : si64, arange_dimension = 0 : i64}> : () -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

func.func @pad(%a: tensor<2xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{'ttir.pad' op value 1.280000e+02 of attribute 'value' does not fit into 'i8'; expected -128 to 127}}
  %0 = "ttir.pad"(%a) <{padding = array<i32: 1, 1>, value = 128.0 : f32}> : (tensor<2xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @constant() -> tensor<2xui64> {
  // expected-error@+1 {{'ttir.constant' op value 18446744073709551615 at position 0 does not fit into 'ui64', of which the chip holds 32 bits; expected 0 to 4294967295}}
  %0 = "ttir.constant"() <{value = dense<18446744073709551615> : tensor<2xui64>}> : () -> tensor<2xui64>
  return %0 : tensor<2xui64>
}

// -----

func.func @bitcast(%a: tensor<2xf64>) -> tensor<2xui64> {
  // expected-error@+1 {{'ttir.bitcast_convert' op reads the bits of 'f64' as 'ui64', but the chip holds either in 32 bits}}
  %0 = "ttir.bitcast_convert"(%a) : (tensor<2xf64>) -> tensor<2xui64>
  return %0 : tensor<2xui64>
}

// -----

// expected-warning@+1 {{'func.func' op has 64-bit integers, which the chip holds in 32 bits}}
func.func @warned_of_once(%a: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "ttir.abs"(%a) : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @and_not_again(%a: tensor<2xi64>) -> tensor<2xi64> {
  return %a : tensor<2xi64>
}

// -----

func.func @a_result_is_warned_of(%a: tensor<2xi32>) {
  // expected-warning@+1 {{'ttir.typecast' op has 64-bit integers}}
  %0 = "ttir.typecast"(%a) : (tensor<2xi32>) -> tensor<2xi64>
  return
}
