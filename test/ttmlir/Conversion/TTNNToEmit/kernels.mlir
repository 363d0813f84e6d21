// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-common-to-emitc-pipeline | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=CPP

// Kernels are described by a function of their tensors, behind their sources; two ops that run the same ones share both.
// CHECK: import ttnn
// CHECK: twice_kernels_reader = """\
// CHECK-NEXT: void kernel_main() {
// CHECK-EMPTY:
// CHECK-NEXT:   DPRINT << "\\n";
// CHECK-NEXT: }"""
// CHECK: twice_kernels_compute = """\
// CHECK-NEXT: void MAIN {}"""
// CHECK: def twice_kernels(in0, out):
// CHECK-NEXT: cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x=0, y=0), ttnn.CoreCoord(x=1, y=0))])
// CHECK-NEXT: cores_1 = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x=1, y=0), ttnn.CoreCoord(x=1, y=0))])
// CHECK-NEXT: ttnn.generic_op(
// CHECK-NEXT: [in0, out],
// CHECK-NEXT: ttnn.ProgramDescriptor(
// CHECK: kernel_source=twice_kernels_reader,
// CHECK-NEXT: source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
// CHECK-NEXT: core_ranges=cores,
// CHECK-NEXT: compile_time_args=[2, 0],
// CHECK-NEXT: runtime_args=[(ttnn.CoreCoord(x=1, y=0), [3])],
// CHECK-NEXT: common_runtime_args=[in0.buffer_address(), out.buffer_address(), 7],
// CHECK-NEXT: config=ttnn.ReaderConfigDescriptor(),
// CHECK: kernel_source=twice_kernels_compute,
// CHECK: core_ranges=cores_1,
// CHECK-NEXT: config=ttnn.ComputeConfigDescriptor(
// CHECK-NEXT: math_fidelity=ttnn.MathFidelity.HiFi2,
// CHECK-NEXT: fp32_dest_acc_en=True,
// CHECK-NEXT: unpack_to_dest_mode=[ttnn.UnpackToDestMode.Default, ttnn.UnpackToDestMode.UnpackToDestFp32],
// CHECK: semaphores=[ttnn.SemaphoreDescriptor(id=3, core_ranges=cores, initial_value=1)],
// CHECK: ttnn.cb_descriptor_from_sharded_tensor(0, in0, total_size=4096, core_ranges=cores),
// CHECK-NEXT: ttnn.CBDescriptor(
// CHECK-NEXT: total_size=8192,
// CHECK-NEXT: core_ranges=cores,
// CHECK-NEXT: format_descriptors=[
// CHECK-NEXT: ttnn.CBFormatDescriptor(buffer_index=2, data_format=ttnn.bfloat16, page_size=2048)
// CHECK-NOT: def twice_kernels_
// CHECK: def f(arg0, arg1):
// CHECK-NEXT: twice_kernels(arg0, arg1)
// CHECK-NEXT: twice_kernels(arg1, arg0)
// CHECK-NEXT: return arg1

// CPP: #include <ttnn/generic_op.hpp>
// CPP: static const char *const twice_kernels_reader = R"kernel(void kernel_main() {
// CPP-EMPTY:
// CPP-NEXT: {{^}}  DPRINT << "\n";
// CPP-NEXT: {{^}}})kernel";
// CPP: static void twice_kernels(const ttnn::Tensor &in0, const ttnn::Tensor &out) {
// CPP: ttnn::generic_op(
// CPP-NEXT: {in0, out},
// CPP-NEXT: tt::tt_metal::ProgramDescriptor{
// CPP: .source_type = tt::tt_metal::KernelDescriptor::SourceType::SOURCE_CODE,
// CPP-NEXT: .core_ranges = cores,
// CPP-NEXT: .compile_time_args = {2, 0},
// CPP-NEXT: .runtime_args = {{[{][{]}}ttnn::CoreCoord{.x = 1, .y = 0}, {3}{{[}][}]}},
// CPP-NEXT: .common_runtime_args = {tt::tt_metal::buffer_address(in0), tt::tt_metal::buffer_address(out), 7},
// CPP-NEXT: .config = tt::tt_metal::ReaderConfigDescriptor{}
// CPP: tt::tt_metal::cb_descriptor_from_sharded_tensor(0, in0, /*address_offset=*/0, 4096, cores)
// CPP: ttnn::Tensor f(ttnn::Tensor arg0, ttnn::Tensor arg1) {
// CPP-NEXT: twice_kernels(arg0, arg1);
// CPP-NEXT: twice_kernels(arg1, arg0);
// CPP-NEXT: return arg1;
#l1 = #ttnn.buffer_type<l1>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x2>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>>
#reader = #ttnn.source_read_kernel<source = "void kernel_main() {\0A\0A  DPRINT << \22\\n\22;\0A}", core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, ct_args = [#ttnn.kernel_arg_cb_buffer_index<2>, #ttnn.kernel_arg_cb_buffer_index<0>], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<0>, #ttnn.kernel_arg_address_of_tensor<1>, #ttnn.kernel_named_arg<name = "steps", value = 7>], rt_args = [#ttnn.core_runtime_args<core_coord = #ttnn.core_coord<1, 0>, args = [#ttnn.kernel_arg_semaphore_at<3>]>]>
#compute = #ttnn.source_compute_kernel<source = "void MAIN {}", core_ranges = <[#ttnn.core_range<(1,0), (1,0)>]>, math_fidelity = hifi2, fp32_dest_acc_en = true, dst_full_sync_en = false, unpack_to_dest_modes = [default, fp32], bfp8_pack_precise = false, math_approx_mode = false, ct_args = [], common_rt_args = [], rt_args = []>
#program = #ttnn.program<kernels = [#reader, #compute], cbs = [<total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, formats = [<buffer_index = 0, dtype = f32, page_size = 4096>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<0>>, <total_size = 8192, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, formats = [<buffer_index = 2, dtype = bf16, page_size = 2048>]>], semaphores = [<id = 3, core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, initial_value = 1>]>
func.func @f(%a: tensor<32x64xf32, #s>, %b: tensor<32x64xf32, #s>) -> tensor<32x64xf32, #s> {
  "ttnn.generic"(%a, %b) <{operandSegmentSizes = array<i32: 2, 0>, program = #program}> : (tensor<32x64xf32, #s>, tensor<32x64xf32, #s>) -> () loc("twice")
  "ttnn.generic"(%b, %a) <{operandSegmentSizes = array<i32: 2, 0>, program = #program}> : (tensor<32x64xf32, #s>, tensor<32x64xf32, #s>) -> ()
  return %b : tensor<32x64xf32, #s>
}
