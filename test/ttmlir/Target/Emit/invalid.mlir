// RUN: ttmlir-translate %s --mlir-to-python --split-input-file --verify-diagnostics

// expected-error@+1 {{'ttnn.get_device' has no form in Python; run convert-ttnn-to-emitpy first}}
%0 = "ttnn.get_device"() : () -> !ttnn.device

// -----

func.func @f() {
  // expected-error@+1 {{'ttnn.get_device' has no form in Python; run convert-ttnn-to-emitpy first}}
  %0 = "ttnn.get_device"() : () -> !ttnn.device
  return
}

// -----

// expected-error@+1 {{'func.func' op has no body; a Python function has one}}
func.func private @f()

// -----

// expected-error@+1 {{'func.func' op is not a Python name}}
func.func @"a b"() {
  return
}

// -----

// expected-error@+1 {{the program reads 1 constants from files; say with --tensor-directory where to write them}}
module attributes {ttnn.tensor_files = {a.tensorbin = {dtype = #ttcore.supportedDataTypes<f32>, layout = #ttnn.layout<tile>, value = dense<1.0> : tensor<2xf32>}}} {
}
