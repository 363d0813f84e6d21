// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#l1 = #ttcore.memory_space<l1>
#dram = #ttcore.memory_space<dram>
#map = affine_map<(d0, d1) -> (d0, d1)>
#layout = #ttcore.metal_layout<logical_shape = 64x64, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, dram, interleaved>
!tile = !ttcore.tile<32x32, bf16>
!block = memref<2x2x!ttcore.tile<32x32, bf16>, #l1>
!memory = memref<1x1x2x2x!ttcore.tile<32x32, bf16>, #dram>
!device = tensor<1x1x2x2x!ttcore.tile<32x32, bf16>, #layout>
!cb = !d2m.cb<!block>

// CHECK-LABEL: @tiles
func.func @tiles(%a: !tile, %b: !tile, %c: !tile, %x: f32, %i: i32) {
  // CHECK: "d2m.tile_add"(%{{.*}}, %{{.*}}) : (!ttcore.tile<32x32, bf16>, f32)
  %0 = "d2m.tile_add"(%a, %x) : (!tile, f32) -> !tile
  %1 = "d2m.tile_bitwise_and"(%i, %b) : (i32, !tile) -> !tile
  // CHECK: "d2m.tile_clamp_scalar"(%{{.*}}) <{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}>
  %2 = "d2m.tile_clamp_scalar"(%a) <{min = 0.0 : f32, max = 6.0 : f32}> : (!tile) -> !tile
  // CHECK: "d2m.tile_check_positions"(%{{.*}}) <{op_name = "ttir.gather", size = 4 : i64}>
  %checked = "d2m.tile_check_positions"(%a, %b, %c) <{op_name = "ttir.gather", size = 4 : i64}> : (!tile, !tile, !tile) -> !tile
  %3 = "d2m.tile_where"(%a, %b, %c) : (!tile, !tile, !tile) -> !tile
  // CHECK: <{bcast_type = #d2m.tile_bcast_type<row>}>
  %4 = "d2m.tile_bcast"(%a) <{bcast_type = #d2m.tile_bcast_type<row>}> : (!tile) -> !tile
  // CHECK: d2m.tile_fill(%{{.*}}) : f32 -> <32x32, bf16>
  %5 = d2m.tile_fill(%x) : f32 -> !tile
  // CHECK: d2m.tile_rand() {from = -1.000000e+00 : f32, seed = 7 : ui32} : <32x32, bf16>
  %6 = d2m.tile_rand() {from = -1.0 : f32, seed = 7 : ui32} : !tile
  // CHECK: <{reduce_dim = #d2m.reduce_dim<RC>}>
  %7 = "d2m.tile_reduce_sum"(%a, %b, %c) <{reduce_dim = #d2m.reduce_dim<RC>}> : (!tile, !tile, !tile) -> !tile
  %8 = "d2m.tile_sfpu_reduce_max"(%a, %c) <{reduce_dim = #d2m.reduce_dim<R>}> : (!tile, !tile) -> !tile
  %9:4 = "d2m.tile_argmax"(%a, %b) : (!tile, !tile) -> (!tile, !tile, !tile, !tile)
  // CHECK: d2m.acquire_dst() : memref<8x!ttcore.tile<32x32, bf16>, #{{.*}}>
  %10 = d2m.acquire_dst() : memref<8x!tile, #ttcore.memory_space<dst>>
  return
}

// CHECK-LABEL: @movement
func.func @movement(%memory: !memory, %block: !block, %cb: !cb, %i: index, %g: !d2m.global_semaphore) {
  // CHECK: d2m.dma_read %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}], <4> : (memref<1x1x2x2x{{.*}}>, memref<2x2x{{.*}}>) -> !d2m.mem_tx<read>
  %0 = d2m.dma_read %memory[%i, %i], %block[%i], <4> : (!memory, !block) -> !d2m.mem_tx<read>
  // CHECK: d2m.dma_wait %{{.*}} : !d2m.mem_tx<read>
  d2m.dma_wait %0 : !d2m.mem_tx<read>
  // CHECK: d2m.dma_write %{{.*}}, %{{.*}} core[%{{.*}}, %{{.*}}] mcast[%{{.*}}, %{{.*}}], <4>
  %1 = d2m.dma_write %block, %block core[%i, %i] mcast[%i, %i], <4> : (!block, !block) -> !d2m.mem_tx<mcast_write>
  %2 = d2m.dma_write %block[%i], %memory[%i, %i] startDevice[%i] deviceMcastShape[%i], <1> : (!block, !memory) -> !d2m.mem_tx<write>
  // CHECK: d2m.null_tx : !d2m.mem_tx<write>
  %3 = d2m.null_tx : !d2m.mem_tx<write>
  // CHECK: d2m.remote_load %{{.*}} %{{.*}}[%{{.*}}, %{{.*}}] : memref<2x2x{{.*}}>, memref<1x1x2x2x{{.*}}> -> memref<2x2x
  %4 = d2m.remote_load %block %memory[%i, %i] : !block, !memory -> !block
  // CHECK: d2m.remote_load %{{.*}}[%{{.*}}, %{{.*}}] into %{{.*}} mcore[%{{.*}}, %{{.*}}] mshape[%{{.*}}, %{{.*}}] : memref<1x1x2x2x{{.*}}> into !d2m.cb<
  d2m.remote_load %memory[%i, %i] into %cb mcore[%i, %i] mshape[%i, %i] : !memory into !cb
  // CHECK: mcast[%{{.*}}] : memref
  d2m.remote_load %memory[%i, %i] into %cb mcast[%i] : !memory into !cb
  // CHECK: d2m.remote_store %{{.*}}[%{{.*}}, %{{.*}}] %{{.*}} : memref<1x1x2x2x{{.*}}>, memref<2x2x{{.*}}> -> memref<1x1x2x2x
  %5 = d2m.remote_store %memory[%i, %i] %block : !memory, !block -> !memory
  // CHECK: d2m.remote_store %{{.*}}[%{{.*}}, %{{.*}}] from %{{.*}} semaphore increment %{{.*}}[%{{.*}}] : memref<1x1x2x2x{{.*}}> from
  d2m.remote_store %memory[%i, %i] from %cb semaphore increment %g[%i] : !memory from !cb
  // CHECK: d2m.local_copy %{{.*}}, %{{.*}} indexing_maps = [#map, #map]
  %6 = d2m.local_copy %block, %block indexing_maps = [#map, #map] : !block, !block -> !block
  return
}

// CHECK-LABEL: @threads
func.func @threads(%memory: !memory, %i: index, %g: !d2m.global_semaphore) {
  %0 = d2m.block_index(0) : index
  %1 = d2m.block_offset(1) : index
  %2 = d2m.get_block_factor(0) : index
  %3 = d2m.iter_index(1) : index
  // CHECK: "d2m.mesh_position"() <{dim = 1 : i64}>
  %4 = "d2m.mesh_position"() <{dim = 1 : i64}> : () -> index
  // CHECK: d2m.get_arg(3) resolution_stage = <compile> : i32
  %5 = d2m.get_arg(3) resolution_stage = <compile> : i32
  // CHECK: d2m.get_cb(0) : <memref<
  %6 = d2m.get_cb(0) : !cb
  // CHECK: d2m.create_local_semaphore <{initialValue = 2 : ui32}> -> !d2m.local_semaphore
  %7 = d2m.create_local_semaphore <{initialValue = 2 : ui32}> -> !d2m.local_semaphore
  // CHECK: d2m.semaphore_set %{{.*}}, %{{.*}}, core[%{{.*}}, %{{.*}}] mcast[%{{.*}}, %{{.*}}] : !d2m.local_semaphore
  d2m.semaphore_set %7, %i, core[%i, %i] mcast[%i, %i] : !d2m.local_semaphore
  d2m.semaphore_inc %g, %i : !d2m.global_semaphore
  // CHECK: d2m.semaphore_wait %{{.*}}, %{{.*}} reset %{{.*}} : !d2m.local_semaphore
  d2m.semaphore_wait %7, %i reset %i : !d2m.local_semaphore
  d2m.reset_global_semaphore(%g) {value = 0 : ui32} : !d2m.global_semaphore
  // CHECK: d2m.write_row_mask_tile(%{{.*}}) to %{{.*}} : index, !d2m.cb<
  d2m.write_row_mask_tile(%i) to %6 : index, !cb
  // CHECK: d2m.print("row %d", %{{.*}}) : (index) -> ()
  d2m.print("row %d", %i) : (index) -> ()
  d2m.unpack_stall_on_pack
  return
}

// CHECK-LABEL: @layouts
func.func @layouts(%host: tensor<64x64xbf16>, %a: !device) -> tensor<64x64xbf16> {
  %0 = d2m.empty() : !device
  // CHECK: d2m.to_device %{{.*}}, %{{.*}} layout = #{{.*}} : tensor<64x64xbf16> into tensor<1x1x2x2x
  %1 = d2m.to_device %host, %0 layout = #layout : tensor<64x64xbf16> into !device -> !device
  // CHECK: d2m.view_layout %{{.*}} remapping = #map{{[0-9]*}} : tensor<1x1x2x2x
  %2 = d2m.view_layout %1 remapping = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3, d2)> : !device -> !device
  // CHECK: d2m.mask %{{.*}}, %{{.*}} logical_shape = [50, 40] fill_value = <zero>
  %3 = d2m.mask %2, %0 logical_shape = [50, 40] fill_value = <zero> : !device into !device -> !device
  %4 = d2m.empty() : tensor<64x64xbf16>
  %5 = d2m.to_host %3, %4 layout = #layout : !device into tensor<64x64xbf16> -> tensor<64x64xbf16>
  return %5 : tensor<64x64xbf16>
}

// CHECK-LABEL: @ranges
func.func @ranges(%a: !memory, %o: !memory) {
  // CHECK: d2m.spatial {grid_ranges = [#ttcore.core_range<(0,0), (1,1)>]}
  // CHECK-NEXT: ins(%{{.*}} : memref<
  // CHECK-NEXT: outs(%{{.*}} : memref<
  d2m.spatial {grid_ranges = [#ttcore.core_range<(0, 0), (1, 1)>]}
      ins(%a : !memory)
      outs(%o : !memory) {
    d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<unified>]}
        ins()
        outs(%o : !memory) {
    }
  }
  return
}

// CHECK-LABEL: @nothing_on_ranges
func.func @nothing_on_ranges(%a: !memory, %o: !memory) {
  // CHECK: d2m.spatial {grid_ranges = [#ttcore.core_range<(0,0), (1,1)>]}
  // CHECK-NEXT: ins(
  // CHECK-NEXT: outs(
  // CHECK-NEXT: }
  d2m.spatial {grid_ranges = [#ttcore.core_range<(0, 0), (1, 1)>]}
      ins(%a : !memory)
      outs(%o : !memory) {
  }
  return
}
