// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-allocate | FileCheck %s --check-prefix=ALLOCATE
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-split-unified-thread | FileCheck %s --check-prefix=SPLIT
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-insert-dst-register-access-unscheduled --d2m-split-unified-thread --d2m-insert-dst-register-access-unscheduled --cse | FileCheck %s --check-prefix=DST
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-be-pipeline | FileCheck %s --check-prefix=FUNCS

// Buffers take the first room that is free, and go after their last use.
// ALLOCATE-LABEL: func.func @where
// ALLOCATE: %[[ROWS:.*]] = memref.alloc() {address = 103712 : i64} : memref<8x1x64x32xf32
// ALLOCATE: %[[TILES:.*]] = memref.alloc() {address = 111904 : i64} : memref<8x1x2x1x!ttcore.tile
// ALLOCATE: memref.dealloc %[[ROWS]]
// ALLOCATE: memref.alloc() {address = 103712 : i64} : memref<8x1x64x32xf32
// ALLOCATE: memref.alloc() {address = 120096 : i64}
// ALLOCATE: %[[HOST:.*]] = memref.alloc() : memref<512x32xf32>
// ALLOCATE-NOT: memref.dealloc %[[HOST]]

// SPLIT-LABEL: func.func @where
// SPLIT: threads = [#d2m.thread<datamovement, dm_core = 0>, #d2m.thread<datamovement, dm_core = 1>, #d2m.thread<compute>]
// SPLIT: ^bb0(%[[IN:.*]]: !d2m.cb<memref<32x32xf32, #l1>>, %[[OUT:.*]]: !d2m.cb
// SPLIT: scf.for
// SPLIT-NEXT: d2m.reserve %[[IN]]
// SPLIT-NEXT: d2m.push %[[IN]]
// SPLIT-NEXT: }
// SPLIT-NEXT: }, {
// SPLIT-NEXT: ^bb0(%[[IN1:.*]]: !d2m.cb<memref<32x32xf32, #l1>>, %[[OUT1:.*]]: !d2m.cb
// SPLIT: scf.for
// SPLIT-NEXT: d2m.wait %[[OUT1]]
// SPLIT-NEXT: d2m.pop %[[OUT1]]
// SPLIT: "d2m.tile_tilize_block"

// Three operands take three registers, of which the result takes the first again.
// DST-LABEL: func.func @where
// DST: %[[DST:.*]] = d2m.acquire_dst() : memref<4x!ttcore.tile<32x32, f32>, #dst>
// DST: %[[A:.*]] = memref.load
// DST: memref.store %[[A]], %[[DST]][%c0]
// DST: %[[A1:.*]] = memref.load %[[DST]][%c0]
// DST: memref.store %{{.*}}, %[[DST]][%c1]
// DST: %[[B1:.*]] = memref.load %[[DST]][%c1]
// DST: memref.store %{{.*}}, %[[DST]][%c2]
// DST: %[[C1:.*]] = memref.load %[[DST]][%c2]
// DST: %[[R:.*]] = "d2m.tile_where"(%[[A1]], %[[B1]], %[[C1]])
// DST: memref.store %[[R]], %[[DST]][%c0]
// DST: %[[R1:.*]] = memref.load %[[DST]][%c0]
// DST: memref.store %[[R1]], %{{.*}} : memref<2x1x!ttcore.tile<32x32, f32>, #l1>

// Kernels that are equal are one.
// FUNCS-LABEL: func.func @where
// FUNCS: threads = [#d2m.thread<datamovement, @[[READ:.*]], dm_core = 0>, #d2m.thread<datamovement, @[[WRITE:.*]], dm_core = 1>, #d2m.thread<compute, @[[TILIZE:.*]]>]
// FUNCS: threads = [#d2m.thread<datamovement, @[[READ]], dm_core = 0>, #d2m.thread<datamovement, @[[WRITE]], dm_core = 1>, #d2m.thread<compute, @[[TILIZE]]>]
// FUNCS: func.func private @[[READ]]() attributes {d2m.thread = #d2m.thread<datamovement, dm_core = 0>}
// FUNCS-NEXT: d2m.get_cb(0) : <memref<32x32xf32, #l1>>
// FUNCS-NOT: d2m.get_cb(1)
// FUNCS: func.func private @[[WRITE]]()
func.func @where(%c: tensor<512x32xf32>, %x: tensor<512x32xf32>, %y: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %0 = "ttir.where"(%c, %x, %y) : (tensor<512x32xf32>, tensor<512x32xf32>, tensor<512x32xf32>) -> tensor<512x32xf32>
  return %0 : tensor<512x32xf32>
}
