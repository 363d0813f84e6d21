// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error@+1 {{map of a layout has 3 results, like its memref, found 2}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x3xf32, #ttnn.buffer_type<dram>>, <interleaved>>

// -----

// expected-error@+1 {{map of a layout has 2 results, like its memref, found 1}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0), <1x1>, memref<2x3xf32, #ttnn.buffer_type<dram>>, <interleaved>>

// -----

// expected-error@+1 {{grid 0x1 of a layout is empty}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <0x1>, memref<2x3xf32, #ttnn.buffer_type<dram>>, <interleaved>>

// -----

// expected-error@+1 {{block format bfp_bf8 needs tiles of 32x32, found 16x32}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<16x32, bfp_bf8>, #ttnn.buffer_type<dram>>, <interleaved>>

// -----

// expected-error@+1 {{memref of a layout lies in a #ttnn.buffer_type}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3xf32>, <interleaved>>

// -----

// expected-error@+1 {{tensor in dram needs a tensor memory layout, such as <interleaved>}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3xf32, #ttnn.buffer_type<dram>>>

// -----

// expected-error@+1 {{tensor in system memory has no tensor memory layout, found interleaved}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3xf32, #ttnn.buffer_type<system_memory>>, <interleaved>>

// -----

// expected-error@+1 {{core_ranges hold 4 cores but grid 1x2 2}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x2>, memref<2x3xf32, #ttnn.buffer_type<l1>>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>>

// -----

#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3xf32, #ttnn.buffer_type<dram>>, <interleaved>>
// expected-error@+1 {{layout maps 2 dimensions but the tensor has 3}}
func.func private @f(tensor<1x2x3xf32, #a>)

// -----

// expected-error@+1 {{core range ends at (0,1) before it starts at (1,0)}}
"test.op"() {a = #ttnn.core_range<(1,0), (0,1)>} : () -> ()

// -----

// expected-error@+1 {{overlap}}
"test.op"() {a = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (2,2)>, #ttnn.core_range<(2,2), (3,3)>]>} : () -> ()

// -----

// expected-error@+1 {{has a shard spec, but its tensor memory layout is not sharded}}
"test.op"() {a = #ttnn.memory_config<<l1>, <interleaved>, #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (3,0)>]>, <32x256>, <row_major>>>} : () -> ()

// -----

// expected-error@+1 {{expected a tensor memory layout or a shard spec, found 3}}
"test.op"() {a = #ttnn.memory_config<<l1>, 3>} : () -> ()

// -----

// expected-error@+1 {{total_size 100 is not a multiple of page_size 64}}
"test.op"() {a = #ttnn.kernel_cb<total_size = 100, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 64>]>} : () -> ()

// -----

// expected-error@+1 {{buffer_index 40 is not below 32, the number of circular buffers of a core}}
"test.op"() {a = #ttnn.kernel_cb_format<buffer_index = 40, dtype = bf16, page_size = 64>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at least 0}}
// expected-error@+1 {{failed to parse TTNN_Conv2dConfigAttr parameter 'act_block_h_override'}}
"test.op"() {a = #ttnn.conv2d_config<act_block_h_override = -4>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at least 0}}
// expected-error@+1 {{failed to parse TTNN_CoreCoordAttr parameter 'x'}}
"test.op"() {a = #ttnn.core_coord<-1, -2>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at least 0}}
// expected-error@+1 {{failed to parse TTNN_CoreCoordAttr parameter 'y'}}
"test.op"() {a = #ttnn.core_coord<0, x>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at least 0}}
// expected-error@+1 {{failed to parse TTNN_Conv2dSliceConfigAttr parameter 'num_slices'}}
"test.op"() {a = #ttnn.conv2d_slice_config<dram_width, -1>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at least 0}}
// expected-error@+1 {{failed to parse TTNN_MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr parameter 'per_core_m'}}
"test.op"() {a = #ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config<in0_block_w = 2, per_core_m = -1, per_core_n = 7>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at most 4294967295}}
// expected-error@+1 {{failed to parse TTNN_Conv2dConfigAttr parameter 'act_block_h_override'}}
"test.op"() {a = #ttnn.conv2d_config<act_block_h_override = 4294967296>} : () -> ()

// -----

// expected-error@+2 {{expected an integer of at most 18446744073709551615}}
// expected-error@+1 {{failed to parse TTNN_CoreCoordAttr parameter 'x'}}
"test.op"() {a = #ttnn.core_coord<18446744073709551616, 0>} : () -> ()

// -----

#l1 = #ttnn.buffer_type<l1>
// expected-error@+1 {{memref of a sharded layout has 2 dimensions, found 3}}
#layout = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0, d1, d2), <1x1x1>, memref<2x32x32xf32, #l1>, <height_sharded>>

// -----

#dram = #ttnn.buffer_type<dram>
// expected-error@+1 {{memref of a layout has 2 dimensions or more, found 1}}
#layout = #ttnn.ttnn_layout<(d0) -> (d0), <1>, memref<2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// -----

#dram = #ttnn.buffer_type<dram>
// expected-error@+1 {{grid of a layout has 2 dimensions, or 3 like its memref, found 1}}
#layout = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0, d1, d2), <1>, memref<2x32x32xf32, #dram>, <interleaved>>
