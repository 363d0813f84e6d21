// RUN: ttmlir-translate %s --mlir-to-python --split-input-file --verify-diagnostics

// expected-error@+1 {{'builtin.unrealized_conversion_cast' has no form in Python; run convert-ttnn-to-emitpy first}}
%0 = builtin.unrealized_conversion_cast to i32

// -----

func.func @f() {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' has no form in Python; run convert-ttnn-to-emitpy first}}
  %0 = builtin.unrealized_conversion_cast to i32
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

// expected-error@+1 {{the program reads 1 constants, or code of the host, from files; say with --tensor-directory where to write them}}
module attributes {ttnn.tensor_files = {a.tensorbin = {dtype = #ttcore.supportedDataTypes<f32>, layout = #ttnn.layout<tile>, value = dense<1.0> : tensor<2xf32>}}} {
}
