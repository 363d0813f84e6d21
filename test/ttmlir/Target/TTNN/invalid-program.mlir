// RUN: ttmlir-opt %s --ttcore-register-device --mlir-print-debuginfo -o %t.mlir
// RUN: not ttmlir-translate %t.mlir --ttnn-to-flatbuffer -o %t.ttnn 2>&1 | FileCheck %s

// CHECK: error: 'ttir.exp' is TTIR, which cannot be written as a flatbuffer; run ttir-to-ttnn-backend-pipeline first
#l = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @f(%a: tensor<4xf32, #l>) -> tensor<4xf32, #l> {
  %0 = "ttir.exp"(%a) : (tensor<4xf32, #l>) -> tensor<4xf32, #l>
  return %0 : tensor<4xf32, #l>
}
