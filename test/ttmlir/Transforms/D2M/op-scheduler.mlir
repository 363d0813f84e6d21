// RUN: ttmlir-opt %s --d2m-op-scheduler | FileCheck %s
// RUN: ttmlir-opt %s --d2m-op-scheduler="enable-op-scheduler=false" | FileCheck %s --check-prefix=OFF

// The sum needs two registers, and the exponential one.
// CHECK: %[[SUM:.*]] = "d2m.tile_add"
// CHECK-NEXT: %[[EXP:.*]] = "d2m.tile_exp"
// CHECK-NEXT: "d2m.tile_mul"(%[[EXP]], %[[SUM]])
// OFF: "d2m.tile_exp"
// OFF: "d2m.tile_add"
!tile = !ttcore.tile<32x32, f32>
!buffer = memref<1x1x1x1x!tile, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
!block = memref<1x1x!tile, #ttcore.memory_space<l1>>
func.func @f(%x: !buffer, %y: !buffer, %z: !buffer, %out: !buffer) {
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [],
               threads = [#d2m.thread<compute>]}
      ins(%x, %y, %z : !buffer, !buffer, !buffer) outs(%out : !buffer) {
  ^bb0(%0: !d2m.cb<!block>, %1: !d2m.cb<!block>, %2: !d2m.cb<!block>, %3: !d2m.cb<!block>):
    %c0 = arith.constant 0 : index
    %bx = d2m.wait %0 : !d2m.cb<!block> -> !block
    %by = d2m.wait %1 : !d2m.cb<!block> -> !block
    %bz = d2m.wait %2 : !d2m.cb<!block> -> !block
    %room = d2m.reserve %3 : !d2m.cb<!block> -> !block
    %tx = memref.load %bx[%c0, %c0] : !block
    %exp = "d2m.tile_exp"(%tx) : (!tile) -> !tile
    %ty = memref.load %by[%c0, %c0] : !block
    %tz = memref.load %bz[%c0, %c0] : !block
    %sum = "d2m.tile_add"(%ty, %tz) : (!tile, !tile) -> !tile
    %r = "d2m.tile_mul"(%exp, %sum) : (!tile, !tile) -> !tile
    memref.store %r, %room[%c0, %c0] : !block
  }
  return
}
