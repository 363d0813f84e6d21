// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#l1 = #ttcore.memory_space<l1>
#dram = #ttcore.memory_space<dram>
#dst = #ttcore.memory_space<dst>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
!device = tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #layout>
!tile = !ttcore.tile<32x32, f32>
!block = memref<1x1x!ttcore.tile<32x32, f32>, #l1>

module {
  // CHECK-LABEL: func.func @sigmoid
  func.func @sigmoid(%a: tensor<64x96xf32>) -> tensor<64x96xf32> {
    // CHECK: d2m.empty() : tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #{{.*}}>
    %0 = d2m.empty() : !device
    // CHECK: d2m.to_layout %{{.*}}, %{{.*}} : tensor<64x96xf32> into tensor<2x3x1x1x
    %1 = d2m.to_layout %a, %0 : tensor<64x96xf32> into !device -> !device
    %2 = d2m.empty() : !device
    // CHECK: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x3>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement, dm_core = 0>, #d2m.thread<compute, @kernels::@sigmoid>]}
    // CHECK-NEXT: ins(%{{.*}} : tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #{{.*}}>)
    // CHECK-NEXT: outs(%{{.*}} : tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #{{.*}}>) {
    %3 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x3>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement, dm_core = 0>, #d2m.thread<compute, @kernels::@sigmoid>]}
        ins(%1 : !device)
        outs(%2 : !device) {
    ^bb0(%in: !d2m.cb<!block>, %out: !d2m.cb<!block>):
      %row = d2m.core_index(0) : index
      %column = d2m.core_index(1) {phys_to_virt_map = affine_map<(d0, d1) -> (d1, d0)>} : index
      // CHECK: d2m.reserve %{{.*}} : <memref<1x1x!ttcore.tile<32x32, f32>, #l1>> -> memref<1x1x!ttcore.tile<32x32, f32>, #l1>
      %room = d2m.reserve %in : !d2m.cb<!block> -> !block
      // CHECK: d2m.push
      d2m.push %in : !d2m.cb<!block>
    }, {
    ^bb0(%in: !d2m.cb<!block>, %out: !d2m.cb<!block>):
      %c0 = arith.constant 0 : index
      %x = d2m.wait %in : !d2m.cb<!block> -> !block
      %y = d2m.reserve %out : !d2m.cb<!block> -> !block
      %tile = memref.load %x[%c0, %c0] : !block
      // CHECK: "d2m.tile_sigmoid"(%{{.*}}) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
      %result = "d2m.tile_sigmoid"(%tile) : (!tile) -> !tile
      memref.store %result, %y[%c0, %c0] : !block
      d2m.push %out : !d2m.cb<!block>
      d2m.pop %in : !d2m.cb<!block>
    // CHECK: } : tensor<2x3x1x1x
    } : !device
    %4 = d2m.empty() : tensor<64x96xf32>
    %5 = d2m.to_layout %3, %4 : !device into tensor<64x96xf32> -> tensor<64x96xf32>
    return %5 : tensor<64x96xf32>
  }

  // An empty block has its label, without which the region would have no block.
  // CHECK-LABEL: func.func @empty
  func.func @empty(%a: memref<1x1x1x1xf32>, %b: memref<1x1x1x1xf32>) {
    // CHECK: outs(%arg1 : memref<1x1x1x1xf32>) {
    // CHECK-NEXT: ^bb0:
    // CHECK-NEXT: }, {
    // CHECK-NEXT: }
    // CHECK-NEXT: return
    d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute>, #d2m.thread<datamovement, dm_core = 0>]}
        ins(%a : memref<1x1x1x1xf32>)
        outs(%b : memref<1x1x1x1xf32>) {
    ^bb0:
    }, {
    }
    return
  }
}
