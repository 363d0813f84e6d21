// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --convert-d2m-to-ttnn --ttnn-embed-kernels

#layout = #ttcore.metal_layout<logical_shape = 32x32, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
func.func @host(%x: memref<32x32xf32>) {
  %0 = memref.alloc() : memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
  // expected-error @+1 {{'ttmetal.enqueue_write_buffer' has no equivalent in TTNN programs (ttnn-mode)}}
  d2m.to_device %x, %0 layout = #layout : memref<32x32xf32> into memref<1x1x32x32xf32, #ttcore.shard<128x4, 1>, #ttcore.memory_space<l1>>
  return
}

// -----

#l1 = #ttnn.buffer_type<l1>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
#rd = #ttnn.read_kernel<symbol_ref = @reader, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [], rt_args = []>
func.func private @reader()
func.func @absent(%a: tensor<32x32xbf16, #x>) {
  // expected-error @+1 {{'ttnn.generic' op runs @reader, which is no function of the module with a body}}
  "ttnn.generic"(%a) <{operandSegmentSizes = array<i32: 1, 0>, program = #ttnn.program<kernels = [#rd], cbs = [], semaphores = []>}> : (tensor<32x32xbf16, #x>) -> ()
  return
}

// -----

#l1 = #ttnn.buffer_type<l1>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
#rd = #ttnn.read_kernel<symbol_ref = @reader, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [], rt_args = []>
// expected-error @+1 {{'func.func' op has no attribute 'd2m.thread'; it is no kernel}}
func.func private @reader() {
  return
}
func.func @no_kernel(%a: tensor<32x32xbf16, #x>) {
  "ttnn.generic"(%a) <{operandSegmentSizes = array<i32: 1, 0>, program = #ttnn.program<kernels = [#rd], cbs = [], semaphores = []>}> : (tensor<32x32xbf16, #x>) -> ()
  return
}
