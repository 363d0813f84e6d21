// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
// expected-error@-3 {{takes 'tensor<4xf32>'; expected tensors with a #ttnn.ttnn_layout (run ttnn-layout first)}}

// -----

#l = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @f(%a: tensor<4xf32, #l>) -> tensor<4xf32> {
  // expected-error@+1 {{'ttnn.exp' op result 0 is 'tensor<4xf32>'; expected a tensor with a #ttnn.ttnn_layout (run ttnn-layout first)}}
  %0 = "ttnn.exp"(%a) : (tensor<4xf32, #l>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#l = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @f(%a: tensor<4xf32, #l>) -> tensor<4xf32, #l> {
  // expected-error@+1 {{'ttir.exp' is TTIR, which cannot be written as Python; run ttir-to-emitpy-pipeline first}}
  %0 = "ttir.exp"(%a) : (tensor<4xf32, #l>) -> tensor<4xf32, #l>
  return %0 : tensor<4xf32, #l>
}

// -----

func.func @f() -> !ttnn.device {
  %0 = "ttnn.get_device"() : () -> !ttnn.device
  // expected-error@+1 {{returns '!ttnn.device'; a program returns tensors}}
  return %0 : !ttnn.device
}

// -----

// expected-error@+1 {{has no body; a program cannot call it}}
func.func private @f()

// -----

// expected-error@+1 {{has ttnn.inputs_of = "main"; expected the name of a function before it}}
func.func @create_inputs_for_main() attributes {tt.function_type = "input_generator", ttnn.inputs_of = "main"} { return }
