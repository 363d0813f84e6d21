// RUN: ttmlir-opt %s --ttcore-register-device -o %t.mlir
// RUN: not ttmlir-translate %t.mlir --ttnn-to-flatbuffer -o %t 2>&1 | FileCheck %s
// What the elements are said to be, and what the layout holds.
// CHECK: error: 'func.func' op argument 0 is 'tensor<32x32xf32, #ttnn.ttnn_layout<{{.*}}>>', whose elements are 'f32' where its layout holds bf16

#dram = #ttnn.buffer_type<dram>
#bf16 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @contradiction(%arg0: tensor<32x32xf32, #bf16>) -> tensor<32x32xf32, #bf16> {
  return %arg0 : tensor<32x32xf32, #bf16>
}
