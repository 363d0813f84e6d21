// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

module attributes {
  ex.a = #ttir.should_hoist,
  ex.b = #ttir.cpu_hoisted_call,
  ex.c = #ttir<reduce_dim RC>,
  ex.d = #ttir.thread<compute>,
  ex.e = #ttir.thread<datamovement, @reader>,
  ex.f = #ttir<convolution_layout input_batch = 0, input_feature = 3, input_spatial_dimensions = 1x2, kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = 2x3, output_batch = 0, output_feature = 3, output_spatial_dimensions = 1x2>
} {
  func.func @lang(%a: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // CHECK: ttir.tt_lang_op
    %0 = ttir.tt_lang_op(%a, %o) {arg_roles = "in,out", kernel_id = "copy_tiles", version_tag = "v1"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>)
    return %0 : tensor<64x64xf32>
  }
}
