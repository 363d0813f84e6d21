// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1" --d2m-allocate="test-assume-l1-capacity=400000" | FileCheck %s
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1" --d2m-allocate="test-assume-l1-capacity=400000" --d2m-split-unified-thread --d2m-lower-load-store-ops-to-dma | FileCheck %s --check-prefix=DMA
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1" --d2m-allocate="force-spill-to-dram-if-legal=true" | FileCheck %s --check-prefix=ALL
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-allocate | FileCheck %s --check-prefix=NONE
// RUN: not ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1" --d2m-allocate="test-assume-l1-capacity=110000" 2>&1 | FileCheck %s --check-prefix=ERROR

// The sum of 512 KiB is computed in blocks; of L1, 0.3 MB are there.
// CHECK-LABEL: func.func @added
// CHECK: %[[X:.*]] = memref.alloc() {address = {{[0-9]+}} : i64} : memref<1x1x8x16x!ttcore.tile<32x32, f32>, #ttcore.shard<65536x4096, 1>, #dram>
// CHECK: %[[VIEW:.*]] = d2m.view_layout %[[X]] {{.*}} -> memref<8x8x1x2x!ttcore.tile<32x32, f32>, {{.*}}, #l1>
// CHECK-NEXT: memref.alloc() {{.*}} : memref<1x1x2x2x!ttcore.tile<32x32, f32>, {{.*}}, #l1>
// CHECK: d2m.generic
// CHECK: scf.for %{{.*}} to %c64
// CHECK: d2m.remote_load %[[VIEW]][{{.*}}] into
// CHECK: "d2m.tile_add"
// CHECK: d2m.push %[[OUT:.*]] :
// CHECK-NEXT: d2m.remote_store %{{.*}} from %[[OUT]] :
// CHECK: memref.dealloc %[[X]]

// DMA-LABEL: func.func @added
// DMA: d2m.dma_read %{{.*}} : (memref<1x1x256x512xf32, #ttcore.shard<2048x4, 1>, #dram>
// DMA: d2m.dma_write %{{.*}} memref<1x1x8x16x!ttcore.tile<32x32, f32>, #ttcore.shard<65536x4096, 1>, #dram>
// DMA: d2m.dma_wait %{{.*}} : !d2m.mem_tx<write>
// DMA-NEXT: d2m.pop
// DMA-NOT: d2m.remote_

// ALL-NOT: memref<1x1x8x16x!ttcore.tile<32x32, f32>, #ttcore.shard<65536x4096, 1>, #l1>
// NONE-NOT: #dram>
// ERROR: error: a buffer of {{[0-9]+}} bytes per core does not fit in L1: of {{[0-9]+}} bytes others take {{[0-9]+}} at this point
func.func @added(%x: tensor<256x512xf32>, %y: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %0 = "ttir.add"(%x, %y) : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}
