// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttnn-common-to-emitc-pipeline | ttmlir-translate --mlir-to-cpp | FileCheck %s

// Namespaces, macros and types of the C library are no names of functions or variables.
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
// CHECK: ttnn::Tensor tt_(ttnn::Tensor NULL_) {
func.func @tt(%x: tensor<32x32xf32, #t> {ttir.name = "NULL"}) -> tensor<32x32xf32, #t> {
  // CHECK-NEXT: ttnn::Tensor size_t_ = ttnn::exp(NULL_);
  %0 = "ttnn.exp"(%x) : (tensor<32x32xf32, #t>) -> tensor<32x32xf32, #t> loc("size_t")
  return %0 : tensor<32x32xf32, #t>
}
