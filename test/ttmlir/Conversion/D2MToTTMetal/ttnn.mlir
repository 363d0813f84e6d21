// RUN: ttmlir-opt %s --d2m-fe-pipeline=ttnn-mode=true --d2m-be-pipeline=ttnn-mode=true --convert-d2m-to-ttnn | FileCheck %s
// RUN: ttmlir-opt %s --d2m-fe-pipeline=ttnn-mode=true --d2m-be-pipeline=ttnn-mode=true --d2m-to-ttnn-pipeline=ttnn-mode=true | FileCheck %s --check-prefix=WHOLE
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline=ttnn-mode=true | FileCheck %s --check-prefix=WHOLE
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="ttnn-mode=true force-spill-to-dram-if-legal=true" | FileCheck %s --check-prefix=SPILLED

// Arguments are read where they are, and the result is written to its place: into and from circular buffers that are no
// tensors. What kernels of one program hold for another one is a tensor, with its padding.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<50x70xf32, #[[DRAM:.*]]>, %[[ROW:.*]]: tensor<1x70xf32, #{{.*}}>) -> tensor<50x50xf32, #{{.*}}>
// CHECK: %[[DEVICE:.*]] = "ttnn.get_device"
// CHECK-NOT: to_layout
// CHECK: %[[SUM:.*]] = "ttnn.empty"(%[[DEVICE]]) <{shape = #ttnn.shape<64x96>}>
// CHECK: "ttnn.generic"(%[[ROW]], %[[X]], %[[SUM]])
// CHECK-SAME: #ttnn.data_movement_kernel<symbol_ref = @[[READER:[a-z0-9_]*]], core_ranges = <[#ttnn.core_range<(0,0), (2,1)>]>, processor = riscv0, noc_index = noc0, noc_mode = dedicated_noc, ct_args = [#ttnn.kernel_arg_cb_buffer_index<0>, #ttnn.kernel_arg_cb_buffer_index<1>, #ttnn.kernel_arg_cb_buffer_index<2>], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<0>, #ttnn.kernel_arg_address_of_tensor<1>, #ttnn.kernel_arg_address_of_tensor<2>, #ttnn.kernel_named_arg<name = "operand_3", value = 0>, #ttnn.kernel_named_arg<name = "operand_4", value = 0>], rt_args = []>
// CHECK-SAME: #ttnn.compute_kernel<symbol_ref = @{{[a-z0-9_]*}}, {{.*}}math_fidelity = hifi4, fp32_dest_acc_en = true
// CHECK-SAME: buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<2>>, <total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (2,1)>]>, formats = [<buffer_index = 1, dtype = f32, page_size = 4096>]>, <total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (2,1)>]>, formats = [<buffer_index = 2, dtype = f32, page_size = 4096>]>]
// The product: its operands are multicast, with two semaphores for each.
// CHECK: semaphores = [<id = 0, core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>, initial_value = 0>, <id = 1
// CHECK: func.func private @[[READER]]()
// CHECK-NOT: memref.alloc
// Without room in L1, the sum lies in DRAM: six parts, of a tile each.
// SPILLED: #[[WORDS:.*]] = #ttnn.ttnn_layout<{{.*}}memref<6x1024xui32, #dram>
// SPILLED: "ttnn.empty"{{.*}} -> tensor<6x1024xui32, #[[WORDS]]>
// WHOLE-LABEL: func.func @main(
// WHOLE-NOT: to_layout
// WHOLE: "ttnn.generic"
// WHOLE-SAME: #ttnn.source_read_kernel<source = "#include
// WHOLE-NOT: func.func private
func.func @main(%x: tensor<50x70xf32>, %row: tensor<1x70xf32>) -> tensor<50x50xf32> {
  %0 = "ttir.add"(%x, %row) : (tensor<50x70xf32>, tensor<1x70xf32>) -> tensor<50x70xf32>
  %1 = "ttir.matmul"(%0, %x) <{transpose_a = false, transpose_b = true}> : (tensor<50x70xf32>, tensor<50x70xf32>) -> tensor<50x50xf32>
  return %1 : tensor<50x50xf32>
}
