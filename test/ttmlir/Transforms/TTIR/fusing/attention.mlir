// RUN: ttmlir-opt %s --ttir-fusing --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttir-fusing --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Scores that are scaled and masked; keys as rows.
// CHECK-LABEL: @plain
// CHECK-NEXT: %[[Y:.*]] = "ttir.scaled_dot_product_attention"(%arg0, %arg1, %arg2, %arg3) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 2.500000e-01 : f32}>
// CHECK-NEXT: return %[[Y]]
// LOC-LABEL: @plain
// LOC: "ttir.scaled_dot_product_attention"{{.*}} loc(#[[LAST:.*]])
// LOC: #[[LAST]] = loc("last")
func.func @plain(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x32x16xf32>, %v: tensor<2x4x32x16xf32>, %m: tensor<2x1x8x32xf32>) -> tensor<2x4x8x16xf32> {
  %c = "ttir.full"() <{fill_value = 0.25 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  %0 = "ttir.matmul"(%q, %k) <{transpose_b = true}> : (tensor<2x4x8x16xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x32xf32>
  %1 = "ttir.multiply"(%0, %c) : (tensor<2x4x8x32xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x8x32xf32>
  %2 = "ttir.add"(%1, %m) : (tensor<2x4x8x32xf32>, tensor<2x1x8x32xf32>) -> tensor<2x4x8x32xf32>
  %3 = "ttir.softmax"(%2) <{dimension = 3 : si32}> : (tensor<2x4x8x32xf32>) -> tensor<2x4x8x32xf32>
  %4 = "ttir.matmul"(%3, %v) : (tensor<2x4x8x32xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x16xf32> loc("last")
  return %4 : tensor<2x4x8x16xf32>
}

// -----

// Keys as columns, each side scaled by itself, no mask.
// CHECK-LABEL: @columns
// CHECK: %[[K:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 1, 3, 2>}>
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%arg0, %[[K]], %arg2) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 2.500000e-01 : f32}>
// CHECK-NEXT: return
func.func @columns(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x16x32xf32>, %v: tensor<2x4x32x16xf32>) -> tensor<2x4x8x16xf32> {
  %c = "ttir.full"() <{fill_value = 0.5 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.multiply"(%q, %c) : (tensor<2x4x8x16xf32>, tensor<1xf32>) -> tensor<2x4x8x16xf32>
  %1 = "ttir.multiply"(%k, %c) : (tensor<2x4x16x32xf32>, tensor<1xf32>) -> tensor<2x4x16x32xf32>
  %2 = "ttir.matmul"(%0, %1) : (tensor<2x4x8x16xf32>, tensor<2x4x16x32xf32>) -> tensor<2x4x8x32xf32>
  %3 = "ttir.softmax"(%2) <{dimension = -1 : si32}> : (tensor<2x4x8x32xf32>) -> tensor<2x4x8x32xf32>
  %4 = "ttir.matmul"(%3, %v) : (tensor<2x4x8x32xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// -----

// As PyTorch writes it: three dimensions for the products, four for the mask, scores in f32, heads that several share.
// CHECK-LABEL: @torch
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%arg0, %arg1, %arg2, %arg3) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 1.250000e-01 : f32}> : (tensor<2x4x8x64xbf16>, tensor<2x2x8x64xbf16>, tensor<2x2x8x64xbf16>, tensor<1x1x8x8xf32>) -> tensor<2x4x8x64xbf16>
// CHECK-NEXT: "ttir.reshape"
// CHECK-NEXT: return
func.func @torch(%q: tensor<2x4x8x64xbf16>, %k: tensor<2x2x8x64xbf16>, %v: tensor<2x2x8x64xbf16>, %m: tensor<1x1x8x8xf32>) -> tensor<8x8x64xbf16> {
  %c = "ttir.full"() <{fill_value = 8.0 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xbf16>
  %k0 = "ttir.repeat_interleave"(%k) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x64xbf16>) -> tensor<2x4x8x64xbf16>
  %v0 = "ttir.repeat_interleave"(%v) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x64xbf16>) -> tensor<2x4x8x64xbf16>
  %k1 = "ttir.permute"(%k0) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x8x64xbf16>) -> tensor<2x4x64x8xbf16>
  %q2 = "ttir.reshape"(%q) <{shape = [8 : i32, 8 : i32, 64 : i32]}> : (tensor<2x4x8x64xbf16>) -> tensor<8x8x64xbf16>
  %k2 = "ttir.reshape"(%k1) <{shape = [8 : i32, 64 : i32, 8 : i32]}> : (tensor<2x4x64x8xbf16>) -> tensor<8x64x8xbf16>
  %v2 = "ttir.reshape"(%v0) <{shape = [8 : i32, 8 : i32, 64 : i32]}> : (tensor<2x4x8x64xbf16>) -> tensor<8x8x64xbf16>
  %0 = "ttir.matmul"(%q2, %k2) : (tensor<8x8x64xbf16>, tensor<8x64x8xbf16>) -> tensor<8x8x8xbf16>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 4 : i32, 8 : i32, 8 : i32]}> : (tensor<8x8x8xbf16>) -> tensor<2x4x8x8xbf16>
  %2 = "ttir.div"(%1, %c) : (tensor<2x4x8x8xbf16>, tensor<1x1x1x1xbf16>) -> tensor<2x4x8x8xbf16>
  %3 = "ttir.typecast"(%2) : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
  %4 = "ttir.add"(%3, %m) : (tensor<2x4x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = "ttir.softmax"(%4) <{dimension = 3 : si32}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = "ttir.typecast"(%5) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
  %7 = "ttir.reshape"(%6) <{shape = [8 : i32, 8 : i32, 8 : i32]}> : (tensor<2x4x8x8xbf16>) -> tensor<8x8x8xbf16>
  %8 = "ttir.matmul"(%7, %v2) : (tensor<8x8x8xbf16>, tensor<8x8x64xbf16>) -> tensor<8x8x64xbf16>
  return %8 : tensor<8x8x64xbf16>
}

// -----

// Attention as an op: heads that several share are not repeated, also where a cache is written before.
// CHECK-LABEL: @shared_heads
// CHECK-NEXT: "ttir.update_cache"(%arg1
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%arg0, %arg1, %arg2, %arg5) {{.*}} scale = 5.000000e-01 : f32}> : (tensor<2x4x1x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<1x1x1x8xf32>)
// CHECK-NEXT: return
func.func @shared_heads(%q: tensor<2x4x1x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x16xf32>, %row: tensor<1x2x2x16xf32>, %i: tensor<1xi32>, %m: tensor<1x1x1x8xf32>) -> tensor<2x4x1x16xf32> {
  "ttir.update_cache"(%k, %row, %i) <{batch_offset = 0 : i32}> : (tensor<2x2x8x16xf32>, tensor<1x2x2x16xf32>, tensor<1xi32>) -> ()
  %k0 = "ttir.repeat_interleave"(%k) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %v0 = "ttir.repeat_interleave"(%v) <{dim = -3 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %0 = "ttir.scaled_dot_product_attention"(%q, %k0, %v0, %m) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 5.000000e-01 : f32}> : (tensor<2x4x1x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<1x1x1x8xf32>) -> tensor<2x4x1x16xf32>
  return %0 : tensor<2x4x1x16xf32>
}

// -----

// What is written after heads were repeated is not seen by attention, and positions are no heads.
// CHECK-LABEL: @kept_repeats
// CHECK: %[[K:.*]] = "ttir.repeat_interleave"(%arg1)
// CHECK: %[[V:.*]] = "ttir.repeat_interleave"(%arg2)
// CHECK: "ttir.scaled_dot_product_attention"(%arg0, %[[K]], %[[V]])
// CHECK: %[[L:.*]] = "ttir.repeat_interleave"(%arg1)
// CHECK: "ttir.scaled_dot_product_attention"(%arg0, %[[L]], %[[L]])
func.func @kept_repeats(%q: tensor<2x4x1x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x16xf32>, %row: tensor<1x2x2x16xf32>, %i: tensor<1xi32>) -> (tensor<2x4x1x16xf32>, tensor<2x4x1x16xf32>) {
  %k0 = "ttir.repeat_interleave"(%k) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %v0 = "ttir.repeat_interleave"(%v) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  "ttir.update_cache"(%k, %row, %i) <{batch_offset = 0 : i32}> : (tensor<2x2x8x16xf32>, tensor<1x2x2x16xf32>, tensor<1xi32>) -> ()
  %0 = "ttir.scaled_dot_product_attention"(%q, %k0, %v0) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x1x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x1x16xf32>
  %l0 = "ttir.repeat_interleave"(%k) <{dim = 2 : si32, repeats = 2 : ui32}> : (tensor<2x2x8x16xf32>) -> tensor<2x2x16x16xf32>
  %1 = "ttir.scaled_dot_product_attention"(%q, %l0, %l0) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x1x16xf32>, tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x4x1x16xf32>
  return %0, %1 : tensor<2x4x1x16xf32>, tensor<2x4x1x16xf32>
}

// -----

// A condition as the mask, and a softmax written out.
// CHECK-LABEL: @condition
// CHECK: %[[M:.*]] = "ttir.where"(%arg3, {{.*}}) : (tensor<1x1x8x8xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x8x8xf32>
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%arg0, %arg1, %arg2, %[[M]]) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 1.000000e+00 : f32}>
// CHECK-NEXT: return
func.func @condition(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>, %v: tensor<2x4x8x16xf32>, %m: tensor<1x1x8x8xi1>) -> tensor<2x4x8x16xf32> {
  %c = "ttir.full"() <{fill_value = 0xFF800000 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  %0 = "ttir.matmul"(%q, %k) <{transpose_b = true}> : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = "ttir.where"(%m, %0, %c) : (tensor<1x1x8x8xi1>, tensor<2x4x8x8xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x8x8xf32>
  %2 = "ttir.max"(%1) <{dim_arg = [3 : i32], keep_dim = false}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8xf32>
  %3 = "ttir.reshape"(%2) <{shape = [2 : i32, 4 : i32, 8 : i32, 1 : i32]}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
  %4 = "ttir.subtract"(%1, %3) : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %5 = "ttir.exp"(%4) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = "ttir.sum"(%5) <{dim_arg = [3 : i32], keep_dim = true}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x1xf32>
  %7 = "ttir.div"(%5, %6) : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %8 = "ttir.matmul"(%7, %v) : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %8 : tensor<2x4x8x16xf32>
}

// -----

// Scores that something else reads, a value that hides nothing, softmax along columns, and sides of different batches.
// CHECK-LABEL: @none
// CHECK-NOT: attention
func.func @none(%q: tensor<2x4x8x8xf32>, %k: tensor<1x4x8x8xf32>, %m: tensor<1x1x8x8xi1>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) {
  %c = "ttir.full"() <{fill_value = -10.0 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  %0 = "ttir.matmul"(%q, %q) <{transpose_b = true}> : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 3 : si32}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = "ttir.matmul"(%1, %q) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = "ttir.matmul"(%q, %q) <{transpose_b = true}> : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = "ttir.where"(%m, %3, %c) : (tensor<1x1x8x8xi1>, tensor<2x4x8x8xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x8x8xf32>
  %5 = "ttir.softmax"(%4) <{dimension = 3 : si32}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = "ttir.matmul"(%5, %q) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %7 = "ttir.matmul"(%q, %q) <{transpose_b = true}> : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %8 = "ttir.softmax"(%7) <{dimension = 2 : si32}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %9 = "ttir.matmul"(%8, %q) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %10 = "ttir.matmul"(%q, %k) <{transpose_b = true}> : (tensor<2x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %11 = "ttir.softmax"(%10) <{dimension = 3 : si32}> : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %12 = "ttir.matmul"(%11, %k) : (tensor<2x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  return %0, %2, %6, %9, %12 : tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>
}
