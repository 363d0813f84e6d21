// RUN: ttmlir-opt %s --ttcore-register-device --ttir-to-d2m | FileCheck %s

!b = !ttcore.tile<32x32, bfp_bf8>
!b4 = !ttcore.tile<32x32, bfp_bf4>

// An op on tiles reads and writes blocks, so that its registers have 16 bits.
// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: tensor<32x64x!b>, %y: tensor<32x64x!b4>) -> tensor<32x64x!b> {
  // CHECK-NOT: d2m.tile_typecast
  // CHECK: "d2m.tile_exp"(%{{.*}}) : (!ttcore.tile<32x32, bfp_bf8>) -> !ttcore.tile<32x32, bfp_bf8>
  // CHECK-NOT: d2m.tile_typecast
  // CHECK: d2m.tile_clamp_scalar{{.*}} -> !ttcore.tile<32x32, bfp_bf8>
  // CHECK-NOT: d2m.tile_typecast
  // CHECK: "d2m.tile_mul"(%{{.*}}) : (!ttcore.tile<32x32, bfp_bf8>, !ttcore.tile<32x32, bfp_bf4>) -> !ttcore.tile<32x32, bfp_bf8>
  // CHECK: return
  %0 = "ttir.exp"(%x) : (tensor<32x64x!b>) -> tensor<32x64x!b>
  %1 = "ttir.clamp_scalar"(%0) <{min = 0.5 : f32, max = 2.0 : f32}> : (tensor<32x64x!b>) -> tensor<32x64x!b>
  %2 = "ttir.multiply"(%1, %y) : (tensor<32x64x!b>, tensor<32x64x!b4>) -> tensor<32x64x!b>
  return %2 : tensor<32x64x!b>
}

// With an operand of f32, it is one of f32.
// CHECK-LABEL: func.func @wide
func.func @wide(%x: tensor<32x64x!b>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  // CHECK: "d2m.tile_typecast"(%{{.*}}) : (!ttcore.tile<32x32, bfp_bf8>) -> !ttcore.tile<32x32, f32>
  // CHECK: "d2m.tile_mul"(%{{.*}}) : (!ttcore.tile<32x32, f32>, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
  // CHECK: return
  %0 = "ttir.multiply"(%x, %y) : (tensor<32x64x!b>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// The matrix unit reads bf16, which holds blocks, and its sums in f32 are packed once.
// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<32x64x!b>, %y: tensor<64x32x!b>) -> (tensor<32x32x!b>, tensor<1x64x!b>) {
  // CHECK: "d2m.tile_typecast"(%{{.*}}) : (!ttcore.tile<32x32, bfp_bf8>) -> !ttcore.tile<32x32, bf16>
  // CHECK: d2m.generic {{.*}}f32_registers
  // CHECK: d2m.tile_matmul_block
  // CHECK: "d2m.tile_typecast"(%{{.*}}) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bfp_bf8>
  // CHECK: "d2m.tile_typecast"(%{{.*}}) : (!ttcore.tile<32x32, bfp_bf8>) -> !ttcore.tile<32x32, bf16>
  // CHECK: d2m.generic {{.*}}f32_registers
  // CHECK: d2m.tile_reduce_sum
  // CHECK: "d2m.tile_typecast"(%{{.*}}) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bfp_bf8>
  %0 = "ttir.matmul"(%x, %y) <{transpose_a = false, transpose_b = false}> : (tensor<32x64x!b>, tensor<64x32x!b>) -> tensor<32x32x!b>
  %1 = "ttir.sum"(%x) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<32x64x!b>) -> tensor<1x64x!b>
  return %0, %1 : tensor<32x32x!b>, tensor<1x64x!b>
}
