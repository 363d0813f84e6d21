// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --d2m-split-unified-thread --d2m-insert-dst-register-access-unscheduled --d2m-generic-regions-to-funcs

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
!block = memref<1x1x!ttcore.tile<32x32, f32>, #ttcore.memory_space<l1>>
func.func @outside(%a: !t) {
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<unified>]}
      ins() outs(%a : !t) {
  ^bb0(%out: !d2m.cb<!block>):
    %0 = d2m.get_cb(0) : !d2m.cb<!block>
    // expected-error @+1 {{uses a circular buffer that is no argument of its thread}}
    d2m.push %0 : !d2m.cb<!block>
  }
  return
}

// -----

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
func.func @argument(%a: !t) {
  // expected-error @+1 {{argument 0 of its thread is 'index'; expected a !d2m.cb}}
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<unified>]}
      ins() outs(%a : !t) {
  ^bb0(%i: index):
  }
  return
}

// -----

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
!tile = !ttcore.tile<32x32, f32>
func.func @registers(%a: !t, %p: !tile, %q: !tile, %r: !tile, %s: !tile, %v: !tile) {
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>]}
      ins() outs(%a : !t) {
    %0 = "d2m.tile_where"(%p, %q, %r) : (!tile, !tile, !tile) -> !tile
    %1 = "d2m.tile_where"(%s, %q, %r) : (!tile, !tile, !tile) -> !tile
    // expected-error @+1 {{needs more than the 4 registers there are}}
    %2 = "d2m.tile_where"(%v, %q, %r) : (!tile, !tile, !tile) -> !tile
    %3 = "d2m.tile_where"(%0, %1, %2) : (!tile, !tile, !tile) -> !tile
    %4 = "d2m.tile_where"(%3, %q, %r) : (!tile, !tile, !tile) -> !tile
  }
  return
}

// -----

!t = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>
!tile = !ttcore.tile<32x32, f32>
func.func @in_place(%a: !t, %p: !tile) {
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>]}
      ins() outs(%a : !t) {
    // expected-error @+1 {{computes in the place of its operand, which is used again}}
    %0 = "d2m.tile_exp"(%p) : (!tile) -> !tile
    %1 = "d2m.tile_add"(%0, %p) : (!tile, !tile) -> !tile
  }
  return
}
