// RUN: ttmlir-opt %s --ttir-erase-inverse-ops --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops=max-iterations=0 --split-input-file | FileCheck %s --check-prefix=LOCAL
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops=enable-commute-downwards=false --split-input-file | FileCheck %s --check-prefix=LOCAL
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops=enable-commute-upwards=false --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttir-erase-inverse-ops --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK-LABEL: @merges
// CHECK-NEXT: %[[P:.*]] = "ttir.permute"(%arg0) <{permutation = array<i64: 2, 1, 0>}> : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%arg0) <{shape = [4 : i32, 6 : i32]}> : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
// Nothing passes anything.
// CHECK-NEXT: %[[U:.*]] = "ttir.reshape"(%arg1)
// CHECK-NEXT: return %[[P]], %[[R]], %arg0, %[[U]]
func.func @merges(%x: tensor<2x3x4xf32>, %y: tensor<1x5xf32>) -> (tensor<4x3x2xf32>, tensor<4x6xf32>, tensor<2x3x4xf32>, tensor<5x1xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 2, 0>}> : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = "ttir.transpose"(%0) <{dim0 = 0 : si32, dim1 = -2 : si32}> : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  %2 = "ttir.unsqueeze"(%x) <{dim = 0 : si32}> : (tensor<2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %3 = "ttir.reshape"(%2) <{shape = [4 : i32, 6 : i32]}> : (tensor<1x2x3x4xf32>) -> tensor<4x6xf32>
  %4 = "ttir.permute"(%0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %5 = "ttir.transpose"(%y) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<1x5xf32>) -> tensor<5x1xf32>
  return %1, %3, %4, %5 : tensor<4x3x2xf32>, tensor<4x6xf32>, tensor<2x3x4xf32>, tensor<5x1xf32>
}

// -----

// CHECK-LABEL: @nothing
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg1
func.func @nothing(%x: tensor<2x4xf32>, %h: tensor<2x4xbf16>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xbf16>) {
  %0 = "ttir.broadcast"(%x) <{broadcast_dimensions = array<i64: 1, 1>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32], ends = [2 : i32, 4 : i32], step = [1 : i32, 1 : i32]}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "ttir.pad"(%x) <{padding = array<i32: 0, 0, 0, 0>, value = 0.0 : f32}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = "ttir.typecast"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = "ttir.concat"(%x) <{dim = 0 : si32}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = "ttir.typecast"(%h) : (tensor<2x4xbf16>) -> tensor<2x4xf32>
  %6 = "ttir.typecast"(%5) : (tensor<2x4xf32>) -> tensor<2x4xbf16>
  return %0, %1, %2, %3, %4, %6 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xbf16>
}

// -----

// bf16 does not hold all values of f32.
// CHECK-LABEL: @something
// CHECK-COUNT-2: "ttir.typecast"
func.func @something(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.typecast"(%x) : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = "ttir.typecast"(%0) : (tensor<4xbf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Two images in another order, a constant, a number and a cast between them and the way back.
// CHECK-LABEL: @commutes
// CHECK-NOT: "ttir.permute"(%arg
// CHECK: %[[B:.*]] = "ttir.reshape"({{.*}}) <{shape = [1 : i32, 1 : i32, 1 : i32, 3 : i32]}>
// CHECK: "ttir.add"(%arg0, %[[B]]) : (tensor<1x8x8x3xf32>, tensor<1x1x1x3xf32>) -> tensor<1x8x8x3xf32>
// CHECK: "ttir.multiply"({{.*}}) : (tensor<1x8x8x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x8x8x3xf32>
// CHECK: %[[Y:.*]] = "ttir.maximum"({{.*}}, %arg1) : (tensor<1x8x8x3xf32>, tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xbf16>
// CHECK: %[[M:.*]] = "ttir.permute"(%[[Y]]) <{permutation = array<i64: 0, 3, 1, 2>}>
// CHECK: return %[[Y]], %[[M]]
// Without going through elementwise ops nothing cancels.
// LOCAL-LABEL: @commutes
// LOCAL-COUNT-3: "ttir.permute"
// The value in the order of the source is that of the movement.
// LOC-LABEL: @commutes
// LOC: "ttir.permute"{{.*}} loc(#[[MAX:.*]])
// LOC: #[[MAX]] = loc("maximum")
func.func @commutes(%x: tensor<1x8x8x3xf32>, %y: tensor<1x8x8x3xf32>, %s: tensor<f32>) -> (tensor<1x8x8x3xbf16>, tensor<1x3x8x8xbf16>) {
  %b = "ttir.constant"() <{value = dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>}> : () -> tensor<3x1x1xf32>
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %2 = "ttir.multiply"(%1, %s) : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
  %3 = "ttir.permute"(%y) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %4 = "ttir.maximum"(%2, %3) : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xbf16> loc("maximum")
  %5 = "ttir.permute"(%4) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x3x8x8xbf16>) -> tensor<1x8x8x3xbf16>
  return %5, %4 : tensor<1x8x8x3xbf16>, tensor<1x3x8x8xbf16>
}

// -----

// It would only be done later, or next to a value that is in the other order.
// CHECK-LABEL: @stays
// CHECK: %[[P:.*]] = "ttir.permute"(%arg0)
// CHECK: "ttir.relu"(%[[P]])
// CHECK: "ttir.add"(%[[P]], %arg1)
func.func @stays(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = "ttir.relu"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = "ttir.add"(%0, %y) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 1, 0>}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @reshapes
// CHECK-NEXT: %[[G:.*]] = "ttir.gelu"(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[G]]
func.func @reshapes(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "ttir.gelu"(%0) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 3 : i32, 4 : i32]}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @observed
// CHECK-COUNT-2: "ttir.permute"
module attributes {ttcore.observed = array<i64: 0>} {
  func.func @observed(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(fused<0 : i64>["observed"])
    %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

// -----

// A copy is what a cache is that others read, too, before it is written to and after.
// CHECK-LABEL: @copies_for_caches
// CHECK: %[[A:.*]] = "ttir.broadcast"(%arg0)
// CHECK: "ttir.fill_cache"(%[[A]]
// CHECK: %[[B:.*]] = "ttir.permute"(%arg0)
// CHECK: %[[C:.*]] = "ttir.permute"(%[[B]])
// CHECK: "ttir.fill_cache"(%[[C]]
// CHECK: %[[D:.*]] = "ttir.typecast"(%[[C]])
// CHECK: "ttir.fill_cache"(%[[C]]
// CHECK: return %[[A]], %[[C]], %[[D]]
func.func @copies_for_caches(%x: tensor<2x2x4x8xf32>, %y: tensor<1x2x4x8xf32>) -> (tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>) {
  %0 = "ttir.broadcast"(%x) <{broadcast_dimensions = array<i64: 1, 1, 1, 1>}> : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  "ttir.fill_cache"(%0, %y) <{batch_offset = 0 : i32}> : (tensor<2x2x4x8xf32>, tensor<1x2x4x8xf32>) -> ()
  %1 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0, 2, 3>}> : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 1, 0, 2, 3>}> : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  "ttir.fill_cache"(%2, %y) <{batch_offset = 1 : i32}> : (tensor<2x2x4x8xf32>, tensor<1x2x4x8xf32>) -> ()
  %3 = "ttir.typecast"(%2) : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  "ttir.fill_cache"(%2, %y) <{batch_offset = 0 : i32}> : (tensor<2x2x4x8xf32>, tensor<1x2x4x8xf32>) -> ()
  return %0, %2, %3 : tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>
}

// -----

// What a permute gave is what was there before the cache was written to.
// CHECK-LABEL: @moved_before
// CHECK: %[[P:.*]] = "ttir.permute"(%arg0)
// CHECK: "ttir.fill_cache"
// CHECK: %[[R:.*]] = "ttir.relu"(%[[P]])
// CHECK: "ttir.permute"(%[[R]])
func.func @moved_before(%x: tensor<2x2x4x8xf32>, %y: tensor<1x2x4x8xf32>) -> tensor<2x2x4x8xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0, 2, 3>}> : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  "ttir.fill_cache"(%x, %y) <{batch_offset = 0 : i32}> : (tensor<2x2x4x8xf32>, tensor<1x2x4x8xf32>) -> ()
  %1 = "ttir.relu"(%0) : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 1, 0, 2, 3>}> : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  return %2 : tensor<2x2x4x8xf32>
}

// -----

// Permutes pass through what goes by dimension, past constants that were reshaped and values whose order they keep.
// CHECK-LABEL: @channels
// CHECK-NOT: ttir.permute
// CHECK: %[[C:.*]] = "ttir.concat"(%arg0, %arg1) <{dim = 3 : si32}>
// CHECK: %[[S:.*]] = "ttir.slice_static"(%[[C]]) <{begins = [0 : i32, 0 : i32, 1 : i32, 2 : i32], ends = [1 : i32, 5 : i32, 6 : i32, 8 : i32], step = [1 : i32, 1 : i32, 1 : i32, 2 : i32]}> {{.*}} -> tensor<1x5x5x3xf32>
// CHECK: %[[P:.*]] = "ttir.pad"(%[[S]]) <{padding = array<i32: 0, 0, 1, 0, 0, 2, 0, 0>, value = 0.000000e+00 : f32}> {{.*}} -> tensor<1x6x7x3xf32>
// CHECK: %[[T:.*]] = "ttir.multiply"(%{{.*}}, %[[P]])
// CHECK: %[[M:.*]] = "ttir.mean"(%[[T]]) <{dim_arg = [1 : i32, 2 : i32], keep_dim = true}> {{.*}} -> tensor<1x1x1x3xf32>
// CHECK: %[[G:.*]] = "ttir.multiply"(%[[T]], %{{.*}}) : (tensor<1x6x7x3xf32>, tensor<1x1x1x3xf32>)
// CHECK-NOT: ttir.permute
// CHECK: return %[[G]]
func.func @channels(%x: tensor<1x5x6x4xf32>, %y: tensor<1x5x6x4xf32>) -> tensor<1x6x7x3xf32> {
  %c = "ttir.constant"() <{value = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "ttir.reshape"(%c) <{shape = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = "ttir.permute"(%y) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 1 : si32}> : (tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>) -> tensor<1x8x5x6xf32>
  %3 = "ttir.slice_static"(%2) <{begins = [0 : i32, 2 : i32, 0 : i32, 1 : i32], ends = [1 : i32, 8 : i32, 5 : i32, 6 : i32], step = [1 : i32, 2 : i32, 1 : i32, 1 : i32]}> : (tensor<1x8x5x6xf32>) -> tensor<1x3x5x5xf32>
  %4 = "ttir.pad"(%3) <{padding = array<i32: 0, 0, 0, 0, 1, 0, 0, 2>, value = 0.0 : f32}> : (tensor<1x3x5x5xf32>) -> tensor<1x3x6x7xf32>
  %5 = "ttir.multiply"(%two, %4) : (tensor<1x1x1x1xf32>, tensor<1x3x6x7xf32>) -> tensor<1x3x6x7xf32>
  %6 = "ttir.mean"(%5) <{dim_arg = [-2 : i32, -1 : i32], keep_dim = true}> : (tensor<1x3x6x7xf32>) -> tensor<1x3x1x1xf32>
  %7 = "ttir.reshape"(%6) <{shape = [1 : i32, 1 : i32, 1 : i32, 3 : i32]}> : (tensor<1x3x1x1xf32>) -> tensor<1x1x1x3xf32>
  %8 = "ttir.relu"(%7) : (tensor<1x1x1x3xf32>) -> tensor<1x1x1x3xf32>
  %9 = "ttir.reshape"(%8) <{shape = [1 : i32, 3 : i32, 1 : i32, 1 : i32]}> : (tensor<1x1x1x3xf32>) -> tensor<1x3x1x1xf32>
  %10 = "ttir.multiply"(%5, %9) : (tensor<1x3x6x7xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x6x7xf32>
  %11 = "ttir.permute"(%10) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x3x6x7xf32>) -> tensor<1x6x7x3xf32>
  return %11 : tensor<1x6x7x3xf32>
}
