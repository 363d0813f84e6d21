// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline | FileCheck %s --check-prefix=FE
// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline --d2m-allocate --d2m-split-unified-thread --d2m-lower-load-store-ops-to-dma | FileCheck %s --check-prefix=DMA
// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline --d2m-allocate --d2m-lower-multicast-loads --d2m-split-unified-thread --d2m-lower-load-store-ops-to-dma | FileCheck %s --check-prefix=MCAST
// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline --d2m-be-pipeline --convert-d2m-to-ttkernel --ttkernel-control-dst-section | FileCheck %s --check-prefix=KERNEL

// The product on the 2x4 cores of the result; each reads blocks of one row and one column of tiles.
// FE-LABEL: func.func @product
// FE: %[[A:.*]] = d2m.view_layout %{{.*}} remapping = #[[AMAP:.*]] : memref<2x4x1x1x!ttcore.tile<32x32, bf16>
// FE-SAME: -> memref<2x1x1x4x
// FE: %[[B:.*]] = d2m.view_layout %{{.*}} -> memref<1x4x4x1x
// FE: d2m.generic {block_factors = [1, 1, 1], f32_registers, grid = #ttcore.grid<2x4>
// FE-SAME: iterator_types = [#parallel, #parallel, #reduction]
// FE: d2m.remote_load %[[A]][{{.*}}] into %{{.*}} mcast[%c0{{.*}}]
// FE: d2m.remote_load %[[B]][{{.*}}] into %{{.*}} mcast[%c1{{.*}}]
// FE: "d2m.tile_matmul_block"

// One mover reads the blocks of A, four tiles from four cores, the other those of B; it takes the result, too.
// DMA-LABEL: func.func @product
// DMA: threads = [#d2m.thread<datamovement, dm_core = 0>, #d2m.thread<datamovement, dm_core = 1>, #d2m.thread<compute>]
// DMA-NOT: d2m.remote_load
// DMA: %[[ROOM:.*]] = d2m.reserve %{{.*}} -> memref<1x4x!ttcore.tile<32x32, bf16>, #l1>
// DMA: scf.for
// DMA: scf.for
// DMA: d2m.dma_read %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %[[ROOM]][%{{.*}}], <1> :
// DMA: d2m.dma_wait
// DMA: d2m.push
// DMA: d2m.reserve %{{.*}} -> memref<4x1x!ttcore.tile<32x32, bf16>, #l1>
// DMA: d2m.dma_read
// DMA-NOT: d2m.dma_read
// DMA: "d2m.tile_matmul_block"
// DMA-NOT: d2m.view_layout

// The first core of a row reads what all of it multiplies, and sends it when the others have room.
// MCAST-LABEL: func.func @product
// MCAST: d2m.core_index(0)
// MCAST: d2m.reserve
// MCAST: %[[FIRST:.*]] = arith.cmpi eq
// MCAST: scf.if %[[FIRST]] {
// MCAST: d2m.dma_read
// MCAST: %[[ROOM:.*]] = d2m.get_arg(0) : !d2m.local_semaphore
// MCAST: d2m.semaphore_wait %[[ROOM]], %c3{{.*}} reset %c0
// MCAST: d2m.dma_write %{{.*}}, %{{.*}} core[%{{.*}}, %c0{{.*}}] mcast[%c1{{.*}}, %c4{{.*}}], <4>
// MCAST: d2m.semaphore_set %{{.*}}, %c1{{.*}}, core[%{{.*}}] mcast[%{{.*}}]
// MCAST: } else {
// MCAST: d2m.semaphore_inc %{{.*}}, %c1{{.*}}, core[%{{.*}}, %c0{{.*}}]
// MCAST: d2m.semaphore_wait %{{.*}}, %c1{{.*}} reset %c0
// MCAST: }
// MCAST-NEXT: d2m.push

// KERNEL-LABEL: func.func @product
// KERNEL: ttkernel.get_common_arg_val(0)
// KERNEL: ttkernel.my_logical_y_()
// KERNEL: ttkernel.cb_reserve_back
// KERNEL-NEXT: ttkernel.get_write_ptr
// KERNEL: ttkernel.get_noc_addr
// KERNEL: ttkernel.noc_async_read(
// KERNEL: ttkernel.noc_async_read_barrier()
// KERNEL: ttkernel.cb_push_back
// KERNEL: ttkernel.mm_block_init
// KERNEL: ttkernel.tile_regs_acquire()
// KERNEL: ttkernel.experimental.matmul_block
// KERNEL: ttkernel.tile_regs_commit()
// KERNEL: ttkernel.pack_tile
// KERNEL: ttkernel.tile_regs_release()
func.func @product(%a: tensor<64x128xbf16>, %b: tensor<128x128xbf16>) -> tensor<64x128xbf16> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<64x128xbf16>, tensor<128x128xbf16>) -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}

// -----

// Rows of 64 elements follow each other on both sides in pieces of 32: a core has a column of tiles.
// FE-LABEL: func.func @permute
// FE: threads = [#d2m.thread<datamovement, dm_core = 0>]
// FE: d2m.dma_read %{{.*}}, <32> : (memref<8x2x32x32xf32,
func.func @permute(%x: tensor<16x16x64xf32>) -> tensor<16x16x64xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0, 2>}> : (tensor<16x16x64xf32>) -> tensor<16x16x64xf32>
  return %0 : tensor<16x16x64xf32>
}

// -----

// The sum of a row of tiles stays in one register; what pads the columns is zero.
// KERNEL-LABEL: func.func @sum
// KERNEL: scf.for
// KERNEL: ttkernel.tile_regs_acquire()
// KERNEL: scf.for
// KERNEL: ttkernel.cb_wait_front
// KERNEL: ttkernel.reduce_init
// KERNEL-NEXT: ttkernel.reduce_tile
// KERNEL-NEXT: ttkernel.reduce_uninit
// KERNEL: ttkernel.cb_pop_front
// KERNEL: ttkernel.tile_regs_commit()
func.func @sum(%x: tensor<64x96xf32>) -> tensor<64x1xf32> {
  %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x96xf32>) -> tensor<64x1xf32>
  return %0 : tensor<64x1xf32>
}

// -----

// Each core reads its column of the row's tiles once, and the unpacker repeats their first row.
// FE-LABEL: func.func @bias
// FE: %[[ROW:.*]] = d2m.view_layout %{{.*}} : memref<1x3x1x1x!ttcore.tile<32x32, bf16>{{.*}} -> memref<1x3x1x1x
// FE: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x3>, indexing_maps = [#[[ONE:.*]], #[[ALL:.*]], #[[ALL]]]
// FE-NEXT: ins(%[[ROW]], %{{.*}} :
// FE: d2m.remote_load %[[ROW]][%c0{{.*}}, %{{.*}}] into %[[RING:.*]] :
// FE: d2m.wait %[[RING]]
// FE: %[[TILE:.*]] = "d2m.tile_bcast"(%{{.*}}) <{bcast_type = #d2m.tile_bcast_type<row>}>
// FE: "d2m.tile_add"(%{{.*}}, %[[TILE]])
// KERNEL-LABEL: func.func @bias
// KERNEL: ttkernel.tile_regs_acquire()
// KERNEL: ttkernel.unary_bcast_init(%[[CB:.*]], %[[CB]])
// KERNEL-NEXT: ttkernel.unary_bcast(%[[CB]], %{{.*}}, %{{.*}})
// KERNEL: ttkernel.add_binary_tile(
func.func @bias(%x: tensor<64x96xbf16>, %row: tensor<96xbf16>) -> tensor<64x96xbf16> {
  %0 = "ttir.add"(%x, %row) : (tensor<64x96xbf16>, tensor<96xbf16>) -> tensor<64x96xbf16>
  return %0 : tensor<64x96xbf16>
}
