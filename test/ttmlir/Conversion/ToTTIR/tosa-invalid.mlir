// RUN: ttmlir-opt %s --convert-tosa-to-ttir --split-input-file --verify-diagnostics

func.func @nothing(%a: tensor<4xf64>) -> tensor<4xi0> {
  // expected-error@+1 {{'tosa.cast' is not converted to TTIR: integers of 0 bits are not lowered}}
  %0 = tosa.cast %a : (tensor<4xf64>) -> tensor<4xi0>
  return %0 : tensor<4xi0>
}

// -----

func.func @unknown(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{'tosa.clz' is not converted to TTIR: TTIR has no op for it}}
  %0 = "tosa.clz"(%a) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @shifted(%a: tensor<4xi32>, %s: tensor<1xi8>) -> tensor<4xi32> {
  // expected-error@+1 {{'tosa.mul' is not converted to TTIR: the shift must be a constant of 0}}
  %0 = "tosa.mul"(%a, %a, %s) : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'tosa.exp' is not converted to TTIR: it has a tensor whose shape is not static, which TTIR has not}}
  %0 = "tosa.exp"(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @ignored_nan(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.maximum' is not converted to TTIR: nan_mode is IGNORE; TTIR's op gives NaN where it is given one}}
  %0 = "tosa.maximum"(%a, %a) <{nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @large_padding(%a: tensor<4xi32>) -> tensor<6xi32> {
  %s = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %v = "tosa.const"() <{values = dense<16777217> : tensor<1xi32>}> : () -> tensor<1xi32>
  // expected-error@+1 {{'tosa.pad' is not converted to TTIR: its value is an integer that f32, which TTIR's pad has it in, does not hold}}
  %0 = tosa.pad %a, %s, %v : (tensor<4xi32>, !tosa.shape<2>, tensor<1xi32>) -> tensor<6xi32>
  return %0 : tensor<6xi32>
}
