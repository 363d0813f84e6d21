// RUN: ttmlir-opt %s --convert-ttir-to-linalg --split-input-file | FileCheck %s

// Ops without code of their own are written with ops that have some, and those have rules.
// CHECK-LABEL: @softmax
// CHECK-NOT: ttir.
// CHECK: linalg.generic
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.divf
// CHECK-NOT: ttir.
func.func @softmax(%x: tensor<2x5xbf16>) -> tensor<2x5xbf16> {
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32, numericStable = true}> : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  return %0 : tensor<2x5xbf16>
}

// -----

// Rows at indices are read from a table.
// CHECK-LABEL: @embedding
// CHECK: %[[C:.*]] = arith.index_cast
// CHECK: tensor.extract %arg1[%[[C]], %{{.*}}]
func.func @embedding(%x: tensor<3xi32>, %w: tensor<7x4xf32>) -> tensor<3x4xf32> {
  %0 = "ttir.embedding"(%x, %w) : (tensor<3xi32>, tensor<7x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// Several results.
// CHECK-LABEL: @heads
// CHECK-NOT: ttir.
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>
func.func @heads(%x: tensor<1x3x24xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>) {
  %0:3 = "ttir.split_query_key_value_and_split_heads"(%x) <{num_heads = 2 : ui32, transpose_key = true}> : (tensor<1x3x24xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>
}
