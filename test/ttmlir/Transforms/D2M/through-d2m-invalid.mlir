// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttcore-register-device --ttnn-through-d2m-pipeline --ttnn-collaspe-d2m

#dram = #ttnn.buffer_type<dram>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func private @body(%a: tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d>
func.func @main(%a: tensor<32x32xf32, #d>, %o: tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d> {
  // expected-error @+1 {{'ttnn.d2m_subgraph' op calls @body; expected a function of this module with a body}}
  %0 = ttnn.d2m_subgraph @body ins(%a : tensor<32x32xf32, #d>) outs(%o : tensor<32x32xf32, #d>) : tensor<32x32xf32, #d>
  return %0 : tensor<32x32xf32, #d>
}

// -----

#dram = #ttnn.buffer_type<dram>
#d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func private @body(%a: tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d> {
  // expected-error @+1 {{'ttir.dropout' is not lowered to D2M: its prob is 1.500000; expected 0 to 1}}
  %0 = "ttnn.dropout"(%a) <{prob = 1.5 : f32, scale = 2.0 : f32, seed = 1 : ui32, use_per_device_seed = true}> : (tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d>
  return %0 : tensor<32x32xf32, #d>
}
func.func @main(%a: tensor<32x32xf32, #d>, %o: tensor<32x32xf32, #d>) -> tensor<32x32xf32, #d> {
  %0 = ttnn.d2m_subgraph @body ins(%a : tensor<32x32xf32, #d>) outs(%o : tensor<32x32xf32, #d>) : tensor<32x32xf32, #d>
  return %0 : tensor<32x32xf32, #d>
}
