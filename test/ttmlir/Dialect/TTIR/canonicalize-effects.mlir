// RUN: ttmlir-opt %s --canonicalize --cse | FileCheck %s

// A tensor that is written to is neither read instead of its copy nor written to instead of it.
// CHECK-LABEL: @written
// CHECK: ttir.reshape
// CHECK: ttir.update_cache
// CHECK: ttir.typecast
// CHECK: ttir.fill_cache
// CHECK: ttir.transpose
// CHECK: ttir.transpose
// CHECK: return
func.func @written(%cache: tensor<1x1x4x8xf32>, %other: tensor<1x1x8x8xf32>, %third: tensor<1x1x8x8xf32>,
                   %row: tensor<1x1x1x8xf32>, %all: tensor<1x1x8x8xf32>, %at: tensor<1xi32>)
    -> (tensor<1x1x4x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) {
  %0 = "ttir.reshape"(%cache) <{shape = [1 : i32, 1 : i32, 4 : i32, 8 : i32]}> : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  "ttir.update_cache"(%cache, %row, %at) <{batch_offset = 0 : i32}> : (tensor<1x1x4x8xf32>, tensor<1x1x1x8xf32>, tensor<1xi32>) -> ()
  %1 = "ttir.typecast"(%other) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  "ttir.fill_cache"(%1, %all) <{batch_offset = 0 : i32}> : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> ()
  %2 = "ttir.transpose"(%third) <{dim0 = 2 : si32, dim1 = 3 : si32}> : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  "ttir.fill_cache"(%third, %all) <{batch_offset = 0 : i32}> : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> ()
  %3 = "ttir.transpose"(%2) <{dim0 = 2 : si32, dim1 = 3 : si32}> : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  return %0, %1, %3 : tensor<1x1x4x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>
}

// Two draws are two draws, and a barrier stays. What is drawn for nobody goes.
// CHECK-LABEL: @effects
// CHECK: ttir.rand
// CHECK: ttir.rand
// CHECK: ttir.dropout
// CHECK: ttir.dropout
// CHECK-NOT: ttir.rand
// CHECK: ttir.empty
// CHECK: ttir.empty
// CHECK: ttcore.optimization_barrier
// CHECK: return
func.func @effects(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "ttir.rand"() <{size = [4 : i32], low = 0.0 : f32, high = 1.0 : f32, seed = 0 : ui32}> : () -> tensor<4xf32>
  %1 = "ttir.rand"() <{size = [4 : i32], low = 0.0 : f32, high = 1.0 : f32, seed = 0 : ui32}> : () -> tensor<4xf32>
  %2 = "ttir.dropout"(%x) <{prob = 0.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.dropout"(%x) <{prob = 0.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %unused = "ttir.rand"() <{size = [9 : i32], low = 0.0 : f32, high = 1.0 : f32, seed = 0 : ui32}> : () -> tensor<9xf32>
  %4 = ttir.empty() : tensor<4xf32>
  %5 = ttir.empty() : tensor<4xf32>
  %6 = "ttcore.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Ops without effects are merged and dropped, collectives among them: every chip runs the same program.
// CHECK-LABEL: @pure
// CHECK-NEXT: %[[R:.*]] = "ttir.all_reduce"
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @pure(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "ttir.all_reduce"(%x) <{reduce_type = #ttcore.reduce_type<sum>, cluster_axis = 0 : ui32}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.all_reduce"(%x) <{reduce_type = #ttcore.reduce_type<sum>, cluster_axis = 0 : ui32}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
