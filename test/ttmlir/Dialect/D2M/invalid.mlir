// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

!t = !ttcore.tile<32x32, f32>
func.func @wrong_thread(%o: memref<1x1x1x1x!t>, %a: !t) {
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<datamovement>]}
      ins() outs(%o : memref<1x1x1x1x!t>) {
    // expected-error @+1 {{'d2m.tile_exp' op is in a datamovement thread of d2m.generic; expected a compute thread}}
    %0 = "d2m.tile_exp"(%a) : (!t) -> !t
  }
  return
}

// -----

func.func @threads(%o: memref<1x1x1x1xf32>) {
  // expected-error @+1 {{threads has 2 entries for 1 regions}}
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>, #d2m.thread<compute>]}
      ins() outs(%o : memref<1x1x1x1xf32>) {
  }
  return
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @maps(%o: memref<1x1x1x1xf32>) {
  // expected-error @+1 {{indexing_maps[0] has 1 results for an operand of 4 dimensions; expected half as many, those of its grid}}
  d2m.generic {block_factors = [1], grid = #ttcore.grid<1x1>, indexing_maps = [#map], iterator_types = [#ttcore.iterator_type<parallel>], threads = [#d2m.thread<compute>]}
      ins() outs(%o : memref<1x1x1x1xf32>) {
  }
  return
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @count(%o: memref<1x1xf32>) {
  // expected-error @+1 {{indexing_maps has 2 entries for 1 operands}}
  d2m.generic {block_factors = [1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#ttcore.iterator_type<parallel>], threads = [#d2m.thread<compute>]}
      ins() outs(%o : memref<1x1xf32>) {
  }
  return
}

// -----

func.func @results(%o: tensor<1x1xf32>) {
  // expected-error @+1 {{has 0 results and 1 outputs that are tensors}}
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>]}
      ins() outs(%o : tensor<1x1xf32>) {
  }
  return
}

// -----

func.func @block(%cb: !d2m.cb<memref<1x1xf32>>) {
  // expected-error @+1 {{gives 'memref<2x1xf32>'; expected a block of '!d2m.cb<memref<1x1xf32>>'}}
  %0 = d2m.wait %cb : !d2m.cb<memref<1x1xf32>> -> memref<2x1xf32>
  return
}

// -----

func.func @buffers(%m: memref<1x1x2x2xf32>, %i: index) {
  // expected-error @+1 {{has neither a local buffer nor a circular buffer}}
  %0 = d2m.remote_load %m[%i, %i] : memref<1x1x2x2xf32> -> memref<2x2xf32>
  return
}

// -----

func.func @indices(%m: memref<1x1x2x2xf32>, %b: memref<2x2xf32>, %i: index) {
  // expected-error @+1 {{has 3 indices for an operand of 4 dimensions; expected 4 or half of that}}
  %0 = d2m.remote_load %b %m[%i, %i, %i] : memref<2x2xf32>, memref<1x1x2x2xf32> -> memref<2x2xf32>
  return
}

// -----

func.func @registers() {
  // expected-error @+1 {{must be memref in the destination registers}}
  %0 = d2m.acquire_dst() : memref<8xf32>
  return
}

// -----

// expected-error @+1 {{thread type is 'reader'; expected compute, datamovement or unified}}
func.func private @thread() attributes {t = #d2m.thread<reader>}
