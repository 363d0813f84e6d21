// RUN: ttmlir-opt %s --ttnn-decompose-layouts --verify-diagnostics

#sys = #ttnn.buffer_type<system_memory>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4611686018427387904x1xbf16, #sys>>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<16x3x!ttcore.tile<32x32, f32>, #sys>>
func.func @padded_beyond_64_bits(%x: tensor<4611686018427387904x1xbf16, #rows>) -> tensor<4611686018427387904x1xf32, #tiles> {
  // expected-error@+1 {{its size exceeds 64 bits}}
  %0 = "ttnn.to_layout"(%x) : (tensor<4611686018427387904x1xbf16, #rows>) -> tensor<4611686018427387904x1xf32, #tiles>
  return %0 : tensor<4611686018427387904x1xf32, #tiles>
}
