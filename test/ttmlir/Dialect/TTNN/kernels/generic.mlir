// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#l1 = #ttnn.buffer_type<l1>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
#one = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (0,0)>]>
#cb = #ttnn.kernel_cb<total_size = 2048, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>], buffer = <0>>
#rd = #ttnn.read_kernel<symbol_ref = @reader, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [#ttnn.kernel_arg_cb_buffer_index<0>], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<0>], rt_args = []>
#wr = #ttnn.write_kernel<symbol_ref = @writer, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<1>], rt_args = []>
#co = #ttnn.compute_kernel<symbol_ref = @compute, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, math_fidelity = hifi4, fp32_dest_acc_en = false, dst_full_sync_en = false, unpack_to_dest_modes = [default], bfp8_pack_precise = false, math_approx_mode = false, ct_args = [], common_rt_args = [], rt_args = []>
func.func private @reader()
func.func private @writer()
func.func private @compute()
func.func @run(%a: tensor<32x32xbf16, #x>, %b: tensor<32x32xbf16, #x>) {
  // CHECK: ttnn.generic
  "ttnn.generic"(%a, %b) <{operandSegmentSizes = array<i32: 2, 0>, program = #ttnn.program<kernels = [#rd, #wr, #co], cbs = [<total_size = 2048, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>]>], semaphores = [<id = 0, core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, initial_value = 1>]>}> : (tensor<32x32xbf16, #x>, tensor<32x32xbf16, #x>) -> ()
  return
}
