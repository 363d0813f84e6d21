// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --split-input-file --verify-diagnostics

// Every op that is left is named, not the first alone.
func.func private @declared(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @left_over(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'ttir.tt_lang_op' is not lowered to TTNN: kernels of tt-lang are source, which nothing here compiles}}
  %0 = ttir.tt_lang_op(%a, %a) {arg_roles = "in,out", kernel_id = "k", version_tag = "1"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>)
  // expected-error@+1 {{'func.call' is not lowered to TTNN: a program on the device has no calls; 'declared' was not inlined}}
  %1 = call @declared(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
