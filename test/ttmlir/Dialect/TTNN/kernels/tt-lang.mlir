// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-register-device -o %t.mlir
// RUN: not ttmlir-opt %t.mlir --convert-ttnn-to-emitpy 2>&1 | FileCheck %s --check-prefix=EMIT

// EMIT: error: 'ttnn.tt_lang_op'
// CHECK-LABEL: @kernel
// CHECK: ttnn.tt_lang_op(%arg0, %arg1) {arg_roles = "in,out", kernel_artifact = "k.py", kernel_id = "copy", version_tag = "v1"} : (tensor<64x64xf32, #{{.*}}>, tensor<64x64xf32, #{{.*}}>) -> (tensor<64x64xf32, #{{.*}}>)
#dram = #ttnn.buffer_type<dram>
#f32 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @kernel(%a: tensor<64x64xf32, #f32>, %o: tensor<64x64xf32, #f32>) -> tensor<64x64xf32, #f32> {
  %0 = ttnn.tt_lang_op(%a, %o) {arg_roles = "in,out", kernel_artifact = "k.py", kernel_id = "copy", version_tag = "v1"} : (tensor<64x64xf32, #f32>, tensor<64x64xf32, #f32>) -> (tensor<64x64xf32, #f32>)
  return %0 : tensor<64x64xf32, #f32>
}
