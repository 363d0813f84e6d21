// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline --d2m-generic-fusion="enable-eltwise-reduction-fusion=true" | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline --d2m-generic-fusion="enable-eltwise-reduction-fusion=true" --d2m-be-pipeline --d2m-to-ttkernel-pipeline | FileCheck %s --check-prefix=KERNEL
// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline="enable-elementwise-fusion=false" --d2m-generic-fusion="enable-elementwise-fusion=false enable-eltwise-reduction-fusion=true" | FileCheck %s --check-prefix=ALONE

// The reduction reads the operands of the product, and reduces tiles of a circular buffer.
// CHECK-LABEL: func.func @product
// CHECK-NOT: ins(%{{.*}} : {{.*}}) {
// CHECK: d2m.generic {block_factors = [1, 1, 4], {{.*}} iterator_types = [#parallel, #parallel, #reduction]
// CHECK: ^bb0(%{{[^:]*}}: {{.*}}, %[[TILES:[a-z0-9]+]]: !d2m.cb<memref<1x1x!ttcore.tile<32x32, f32>, #l1>>, %{{[^:]*}}: {{[^%]*}}, %[[X:[a-z0-9]+]]: {{[^%]*}}, %[[Y:[a-z0-9]+]]: {{[^%]*}}):
// CHECK: d2m.remote_load {{.*}} into %[[X]]
// CHECK: d2m.remote_load {{.*}} into %[[Y]]
// CHECK: d2m.reserve %[[TILES]]
// CHECK: "d2m.tile_mul"
// CHECK: d2m.push %[[TILES]]
// CHECK: d2m.acquire_dst
// CHECK: d2m.wait %[[TILES]]
// CHECK: "d2m.tile_reduce_sum"
// CHECK: d2m.pop %[[TILES]]
// KERNEL: call_opaque "mul_binary_tile"
// KERNEL: call_opaque "pack_tile"
// KERNEL: call_opaque "reduce_tile"
func.func @product(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %0 = "ttir.multiply"(%x, %y) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x128xf32>) -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
}

// -----

// 64 tiles in chunks of 8. What is reduced so far waits in f32, and is in the register before the next chunk.
// CHECK-LABEL: func.func @chunks
// CHECK: d2m.generic {block_factors = [1, 1, 64]
// CHECK: scf.for %[[CHUNK:.*]] = %c0{{.*}} to %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8
// CHECK: "d2m.tile_exp"
// CHECK: scf.if
// CHECK: } else {
// CHECK: d2m.wait
// CHECK: memref.store {{.*}}#dst>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8
// CHECK: "d2m.tile_reduce_sum"
func.func @chunks(%x: tensor<32x2048xf32>) -> tensor<32x1xf32> {
  %0 = "ttir.exp"(%x) : (tensor<32x2048xf32>) -> tensor<32x2048xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x2048xf32>) -> tensor<32x1xf32>
  return %1 : tensor<32x1xf32>
}

// -----

// Registers of 32 bits round the difference as those of 16 bits did. The exponential is rounded when it is packed.
// CHECK-LABEL: func.func @rounded
// CHECK: f32_registers
// CHECK: %[[WIDE:.*]] = "d2m.tile_sub"(%{{.*}}) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT: %[[NARROW:.*]] = "d2m.tile_typecast"(%[[WIDE]])
// CHECK-NEXT: "d2m.tile_exp"(%[[NARROW]])
// CHECK: "d2m.tile_reduce_max"
func.func @rounded(%x: tensor<64x128xbf16>, %y: tensor<64x128xbf16>) -> tensor<64x1xbf16> {
  %0 = "ttir.subtract"(%x, %y) : (tensor<64x128xbf16>, tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %1 = "ttir.exp"(%0) : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %2 = "ttir.max"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x128xbf16>) -> tensor<64x1xbf16>
  return %2 : tensor<64x1xbf16>
}

// -----

// Another op reads the exponential.
// CHECK-LABEL: func.func @shared
// CHECK: "d2m.tile_exp"
// CHECK: d2m.generic
// CHECK: "d2m.tile_reduce_sum"
func.func @shared(%x: tensor<64x128xf32>) -> (tensor<64x1xf32>, tensor<64x128xf32>) {
  %0 = "ttir.exp"(%x) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x128xf32>) -> tensor<64x1xf32>
  return %1, %0 : tensor<64x1xf32>, tensor<64x128xf32>
}

// -----

// 56 tiles more, with two ops each, would keep a core longer than another program takes.
// CHECK-LABEL: func.func @slower
// CHECK: "d2m.tile_exp"
// CHECK: "d2m.tile_sin"
// CHECK: d2m.generic
// CHECK: "d2m.tile_reduce_sum"
func.func @slower(%x: tensor<32x2048xf32>) -> tensor<32x1xf32> {
  %0 = "ttir.exp"(%x) : (tensor<32x2048xf32>) -> tensor<32x2048xf32>
  %1 = "ttir.sin"(%0) : (tensor<32x2048xf32>) -> tensor<32x2048xf32>
  %2 = "ttir.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x2048xf32>) -> tensor<32x1xf32>
  return %2 : tensor<32x1xf32>
}

// -----

// Without elementwise fusion, the producer of a producer stays outside.
// ALONE-LABEL: func.func @twice
// ALONE: "d2m.tile_sin"
// ALONE: d2m.generic {block_factors = [1, 1, 4]
// ALONE-NOT: "d2m.tile_sin"
// ALONE: "d2m.tile_exp"
// ALONE: "d2m.tile_reduce_sum"
func.func @twice(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %0 = "ttir.sin"(%x) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = "ttir.exp"(%0) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %2 = "ttir.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x128xf32>) -> tensor<64x1xf32>
  return %2 : tensor<64x1xf32>
}
