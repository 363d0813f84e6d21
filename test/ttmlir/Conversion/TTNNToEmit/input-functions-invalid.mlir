// RUN: ttmlir-opt %s --ttnn-create-input-gens --verify-diagnostics
// expected-error @+1 {{'func.func' op takes 'tensor<4xf32>'; expected tensors with a #ttnn.ttnn_layout (run ttnn-layout first)}}
func.func @bare(%x: tensor<4xf32>) { return }
