// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// Aliases name the memory, whatever the text called them.
// CHECK: #dram = #ttnn.buffer_type<dram>
// CHECK-NEXT: #l1 = #ttnn.buffer_type<l1>
// CHECK-NEXT: #system_memory = #ttnn.buffer_type<system_memory>
// CHECK-NEXT: #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<30x50xf32, #system_memory>>
#host = #ttnn.buffer_type<system_memory>
#row_major = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<30x50xf32, #host>>
// CHECK-NEXT: #ttnn_layout1 = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
#vector = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, bfp_bf8>, #ttnn.buffer_type<dram>>, <interleaved>>
// CHECK-NEXT: #ttnn_layout2 = #ttnn.ttnn_layout<() -> (0, 0), <1x1>, mesh = <"mesh">, memref<1x1x!ttcore.tile<32x32, u32>, #dram>, <interleaved>>
#scalar = #ttnn.ttnn_layout<() -> (0, 0), <1x1>, mesh = <"mesh">, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>
// CHECK-NEXT: #ttnn_layout3 = {{.*}}<2x2>, memref<2x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>>
#block = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x2>, memref<2x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>>
func.func @all(%a: tensor<30x50xf32, #row_major>, %b: tensor<40xbf16, #vector>, %c: tensor<ui32, #scalar>, %d: tensor<128x64xbf16, #block>) {
  return
}
