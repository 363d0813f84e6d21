// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

// CHECK: func.func private @tiles(memref<2x3x1x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048, 1>, #{{.*}}>)
func.func private @tiles(memref<2x3x1x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048, 1>, #ttcore.memory_space<l1>>)
// CHECK: func.func private @rows(memref<1x1x64x32xf32, #ttcore.shard<128x4, 2>, #{{.*}}>)
func.func private @rows(memref<1x1x64x32xf32, #ttcore.shard<128x4, 2>, #ttcore.memory_space<l1>>)
