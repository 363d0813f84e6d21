// RUN: ttmlir-opt %s --split-input-file --ttir-micro-batches="count=4" | FileCheck %s

// Whatever rows have with each other: broadcasts, attributes with the size of the batch, constants for all of its rows.
// CHECK-LABEL: func.func @shapes(
// CHECK-SAME: tensor<2x6xf32> {ttcore.micro_batch}, %{{.*}}: tensor<6xf32>) -> (tensor<6x4xf32> {ttcore.micro_batch}
// CHECK-SAME: ttcore.micro_batches = 4 : i64
func.func @shapes(%x: tensor<8x6xf32>, %bias: tensor<6xf32>) -> tensor<24x4xf32> {
  // CHECK: "ttir.add"{{.*}} : (tensor<2x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  %0 = "ttir.add"(%x, %bias) : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  // CHECK: %[[ONES:.*]] = "ttir.ones"() <{shape = array<i32: 2, 6>}>
  // CHECK: "ttir.multiply"(%{{.*}}, %[[ONES]])
  %ones = "ttir.ones"() <{shape = array<i32: 8, 6>}> : () -> tensor<8x6xf32>
  %1 = "ttir.multiply"(%0, %ones) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: "ttir.constant"() <{value = dense<2.000000e+00> : tensor<2x6xf32>}>
  %two = "ttir.constant"() <{value = dense<2.0> : tensor<8x6xf32>}> : () -> tensor<8x6xf32>
  %2 = "ttir.maximum"(%two, %1) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: "ttir.concat"{{.*}} -> tensor<2x12xf32>
  %3 = "ttir.concat"(%1, %2) <{dim = 1 : si32}> : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x12xf32>
  // CHECK: "ttir.slice_static"{{.*}} <{begins = [0 : i32, 0 : i32], ends = [2 : i32, 12 : i32]
  %4 = "ttir.slice_static"(%3) <{begins = [0 : i32, 0 : i32], ends = [8 : i32, 12 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x12xf32>) -> tensor<8x12xf32>
  // CHECK: "ttir.reshape"{{.*}} <{shape = [6 : i32, 4 : i32]}>
  %5 = "ttir.reshape"(%4) <{shape = [24 : i32, 4 : i32]}> : (tensor<8x12xf32>) -> tensor<24x4xf32>
  return %5 : tensor<24x4xf32>
}

// -----

// Inputs are cut, other arguments are not, nor is what depends on them alone.
// CHECK-LABEL: func.func @inputs(
// CHECK-SAME: %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<2x8xf32> {{[^}]*}}ttcore.micro_batch}
// CHECK-SAME: -> (tensor<2x8xf32> {ttcore.micro_batch}, tensor<8x8xf32>)
func.func @inputs(%w: tensor<8x8xf32>, %x: tensor<8x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: "ttir.exp"{{.*}} -> tensor<8x8xf32>
  %0 = "ttir.exp"(%w) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: "ttir.matmul"{{.*}} -> tensor<2x8xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
