// RUN: ttmlir-opt %s --ttir-fusing | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK-NEXT: %[[Y:.*]] = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}> : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @matmul(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "ttir.matmul"(%0, %w) <{transpose_b = true}> : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 3 : i32, 5 : i32]}> : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// CHECK-LABEL: @linear
// CHECK-NEXT: %[[Y:.*]] = "ttir.linear"(%arg0, %arg1, %arg2) {{.*}} : (tensor<7x2x3x4xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<7x2x3x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @linear(%x: tensor<7x2x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<7x2x3x5xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [42 : i32, 4 : i32]}> : (tensor<7x2x3x4xf32>) -> tensor<42x4xf32>
  %1 = "ttir.matmul"(%0, %w) : (tensor<42x4xf32>, tensor<4x5xf32>) -> tensor<42x5xf32>
  %2 = "ttir.add"(%1, %b) : (tensor<42x5xf32>, tensor<5xf32>) -> tensor<42x5xf32>
  %3 = "ttir.reshape"(%2) <{shape = [7 : i32, 2 : i32, 3 : i32, 5 : i32]}> : (tensor<42x5xf32>) -> tensor<7x2x3x5xf32>
  return %3 : tensor<7x2x3x5xf32>
}

// Rows that are split in another way, a bias of each row, and a product that something else reads.
// CHECK-LABEL: @others
// CHECK-COUNT-6: ttir.reshape
func.func @others(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<6x5xf32>) -> (tensor<3x2x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<6x5xf32>) {
  %0 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "ttir.matmul"(%0, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = "ttir.reshape"(%1) <{shape = [3 : i32, 2 : i32, 5 : i32]}> : (tensor<6x5xf32>) -> tensor<3x2x5xf32>
  %3 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %4 = "ttir.linear"(%3, %w, %b) : (tensor<6x4xf32>, tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %5 = "ttir.reshape"(%4) <{shape = [2 : i32, 3 : i32, 5 : i32]}> : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %6 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %7 = "ttir.matmul"(%6, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %8 = "ttir.reshape"(%7) <{shape = [2 : i32, 3 : i32, 5 : i32]}> : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %2, %5, %8, %7 : tensor<3x2x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<6x5xf32>
}
