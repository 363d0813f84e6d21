// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-common-to-emitc-pipeline | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=CPP

// Circular buffers of one index on several cores are variables of their own.
// CHECK: cb_0 = ttnn.cb_descriptor_from_sharded_tensor(0, in0
// CHECK-NEXT: cb_0.format_descriptors =
// CHECK: cb_0_1 = ttnn.cb_descriptor_from_sharded_tensor(0, out
// CHECK-NEXT: cb_0_1.format_descriptors =
// CHECK: cbs=[cb_0, cb_0_1]
// CPP: CBDescriptor cb_0 =
// CPP: CBDescriptor cb_0_1 =
// CPP: .cbs = {cb_0, cb_0_1}
#l1 = #ttnn.buffer_type<l1>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x2>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>>
#reader = #ttnn.source_read_kernel<source = "void kernel_main() {}", core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, ct_args = [], common_rt_args = [], rt_args = []>
#program = #ttnn.program<kernels = [#reader], cbs = [<total_size = 2048, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<0>>, <total_size = 2048, core_ranges = <[#ttnn.core_range<(1,0), (1,0)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<1>>], semaphores = []>
func.func @f(%a: tensor<32x64xf32, #s>, %b: tensor<32x64xf32, #s>) -> tensor<32x64xf32, #s> {
  "ttnn.generic"(%a, %b) <{operandSegmentSizes = array<i32: 2, 0>, program = #program}> : (tensor<32x64xf32, #s>, tensor<32x64xf32, #s>) -> ()
  return %b : tensor<32x64xf32, #s>
}
