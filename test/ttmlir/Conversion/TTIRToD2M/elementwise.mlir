// RUN: ttmlir-opt %s --ttcore-register-device --ttir-to-d2m | FileCheck %s

// CHECK: memref.global "private" constant @constant : memref<2xsi32> = dense<[3, 4]>

// Rows and columns go to as many cores as divide their tiles evenly: 3 of 8, and 5.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[X:.*]]: memref<2x33x150xf32>, %[[Y:.*]]: memref<2x33x150xf32>) -> memref<2x33x150xf32>
func.func @add(%x: tensor<2x33x150xf32>, %y: tensor<2x33x150xf32>) -> tensor<2x33x150xf32> {
  // CHECK: %[[ROWS:.*]] = memref.alloc() : memref<3x5x32x32xf32, #ttcore.shard<128x4, 1>, #l1>
  // CHECK: d2m.to_device %[[X]], %[[ROWS]] layout = #{{.*}} : memref<2x33x150xf32> into memref<3x5x32x32xf32
  // CHECK: %[[A:.*]] = memref.alloc() : memref<3x5x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>
  // CHECK: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<3x5>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<unified>]}
  // CHECK-NEXT: ins(%[[ROWS]] :
  // CHECK-NEXT: outs(%[[A]] :
  // CHECK: "d2m.tile_tilize_block"
  // CHECK: d2m.to_device %[[Y]]
  // CHECK: ins(%[[A]], %[[B:.*]] :
  // CHECK-NEXT: outs(%{{.*}} :
  // CHECK-NEXT: ^bb0(%[[IN0:.*]]: !d2m.cb<memref<1x1x!ttcore.tile<32x32, f32>, #l1>>, %[[IN1:.*]]: !d2m.cb<{{.*}}>, %[[OUT:.*]]: !d2m.cb<{{.*}}>):
  // CHECK: %[[P:.*]] = d2m.wait %[[IN0]]
  // CHECK: %[[Q:.*]] = d2m.wait %[[IN1]]
  // CHECK: %[[ROOM:.*]] = d2m.reserve %[[OUT]]
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: %[[S:.*]] = memref.load %[[P]]
  // CHECK: %[[T:.*]] = memref.load %[[Q]]
  // CHECK: %[[SUM:.*]] = "d2m.tile_add"(%[[S]], %[[T]]) : (!ttcore.tile<32x32, f32>, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
  // CHECK: memref.store %[[SUM]], %[[ROOM]]
  // CHECK: d2m.push %[[OUT]]
  // CHECK: d2m.pop %[[IN0]]
  // CHECK: d2m.pop %[[IN1]]
  %0 = "ttir.add"(%x, %y) : (tensor<2x33x150xf32>, tensor<2x33x150xf32>) -> tensor<2x33x150xf32>
  // CHECK: "d2m.tile_untilize_block"
  // CHECK: %[[HOST:.*]] = memref.alloc() : memref<2x33x150xf32>
  // CHECK: d2m.to_host %{{.*}}, %[[HOST]]
  // CHECK: return %[[HOST]] : memref<2x33x150xf32>
  return %0 : tensor<2x33x150xf32>
}

// A shard of several tiles is tilized row by row.
// CHECK-LABEL: func.func @blocks
func.func @blocks(%x: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  // CHECK: memref.alloc() : memref<8x8x128x64xbf16, #ttcore.shard<128x2, 1>, #l1>
  // CHECK: memref.alloc() : memref<8x8x4x2x!ttcore.tile<32x32, bf16>, #ttcore.shard<4096x2048, 1>, #l1>
  // CHECK: d2m.generic {block_factors = [4, 1], grid = #ttcore.grid<8x8>
  // CHECK: ^bb0(%{{.*}}: !d2m.cb<memref<32x64xbf16, #l1>>, %{{.*}}: !d2m.cb<memref<1x2x!ttcore.tile<32x32, bf16>, #l1>>):
  %0 = "ttir.exp"(%x) : (tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

// A reshape that keeps rows, and values used again, cost nothing.
// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%x: tensor<4x8x32xf32>) -> tensor<32x32xf32> {
  // CHECK-COUNT-1: d2m.to_device
  // CHECK-NOT: d2m.to_device
  // CHECK: "d2m.tile_negative"
  // CHECK-NEXT: memref.store
  %0 = "ttir.reshape"(%x) <{shape = [32 : i32, 32 : i32]}> : (tensor<4x8x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.neg"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  // CHECK: "d2m.tile_mul"
  %2 = "ttir.multiply"(%1, %0) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<f32>, %i: tensor<2xsi32>) -> (tensor<f32>, tensor<2xsi32>) {
  // CHECK: %[[C:.*]] = arith.constant 2.500000e+00 : f32
  // CHECK: d2m.tile_fill(%[[C]]) : f32 -> <32x32, f32>
  %0 = "ttir.constant"() <{value = dense<2.5> : tensor<f32>}> : () -> tensor<f32>
  // CHECK: "d2m.tile_pow"
  %1 = "ttir.pow"(%x, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: "d2m.tile_clamp_scalar"(%{{.*}}) <{max = 1.000000e+00 : f32, min = -1.000000e+00 : f32}>
  %2 = "ttir.clamp_scalar"(%1) <{min = -1.0 : f32, max = 1.0 : f32}> : (tensor<f32>) -> tensor<f32>
  // CHECK: memref.get_global @constant : memref<2xsi32>
  %3 = "ttir.constant"() <{value = dense<[3, 4]> : tensor<2xsi32>}> : () -> tensor<2xsi32>
  // CHECK: "d2m.tile_bitwise_and"(%{{.*}}) : (!ttcore.tile<32x32, si32>, !ttcore.tile<32x32, si32>)
  %4 = "ttir.bitwise_and"(%i, %3) : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  return %2, %4 : tensor<f32>, tensor<2xsi32>
}

// A boolean is a byte of a tile.
// CHECK-LABEL: func.func @booleans
// CHECK-SAME: %[[X:.*]]: memref<40x70xf32>, %[[P:.*]]: memref<40x70xi1>) -> memref<40x70xi1>
func.func @booleans(%x: tensor<40x70xf32>, %p: tensor<40x70xi1>) -> tensor<40x70xi1> {
  // CHECK: "d2m.tile_gt"(%{{.*}}) : (!ttcore.tile<32x32, f32>, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, i1>
  %0 = "ttir.gt"(%x, %x) : (tensor<40x70xf32>, tensor<40x70xf32>) -> tensor<40x70xi1>
  // CHECK: "d2m.tile_logical_not"(%{{.*}}) : (!ttcore.tile<32x32, i1>) -> !ttcore.tile<32x32, i1>
  %1 = "ttir.bitwise_not"(%p) : (tensor<40x70xi1>) -> tensor<40x70xi1>
  // CHECK: "d2m.tile_logical_and"
  %2 = "ttir.logical_and"(%0, %1) : (tensor<40x70xi1>, tensor<40x70xi1>) -> tensor<40x70xi1>
  return %2 : tensor<40x70xi1>
}
