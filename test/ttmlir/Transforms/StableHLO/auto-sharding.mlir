// RUN: ttmlir-opt %s --split-input-file --auto-sharding | FileCheck %s
// RUN: not ttmlir-opt %s --split-input-file --auto-sharding=dram-bytes=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not ttmlir-opt %s --split-input-file --auto-sharding=report-file=%t/none/report.json 2>&1 | FileCheck %s --check-prefix=FOLDER

// NEGATIVE: error: auto-sharding: dram-bytes is -1; expected 0 or more
// FOLDER: error: auto-sharding: cannot write {{.*}}/none/report.json: No such file or directory

// Each chip computes its rows, and nothing is sent.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %arg0: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}
// CHECK-SAME: %arg1: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
// CHECK-NOT: sdy.reshard
// CHECK: return
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @rows(%x: tensor<4096x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<4096x1024xf32>
  return %1 : tensor<4096x1024xf32>
}

// -----

// One row: matrices are split by columns, then by rows, and their parts of the sums combined.
// CHECK-LABEL: func.func @columns_then_rows
// CHECK-SAME: %arg1: tensor<4096x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
// CHECK-SAME: %arg2: tensor<16384x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}
// CHECK: stablehlo.dot_general %arg0, %arg1{{.*}}[{}, {"y"}]
sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @columns_then_rows(%x: tensor<1x4096xf32>, %up: tensor<4096x16384xf32>, %down: tensor<16384x4096xf32>) -> tensor<1x4096xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<1x4096xf32>, tensor<4096x16384xf32>) -> tensor<1x16384xf32>
  %1 = stablehlo.tanh %0 : tensor<1x16384xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<1x16384xf32>, tensor<16384x4096xf32>) -> tensor<1x4096xf32>
  return %2 : tensor<1x4096xf32>
}

// -----

// What is annotated stays.
// CHECK-LABEL: func.func @annotated
// CHECK-SAME: %arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @annotated(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %a : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// A loop has no rule: it is computed whole, with what its body captures.
// CHECK-LABEL: func.func @loop
// CHECK: stablehlo.while
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @loop(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %n: tensor<i32>) -> tensor<2048x2048xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.tanh %b : tensor<2048x2048xf32>
  %0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<2048x2048xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %w = stablehlo.add %v, %c : tensor<2048x2048xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<2048x2048xf32>
  }
  return %0#1 : tensor<2048x2048xf32>
}

// -----

// Without a mesh there is nothing to choose.
// CHECK-LABEL: func.func @no_mesh
// CHECK-NOT: sdy.sharding
func.func @no_mesh(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %a : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// What has no static shape is whole on every chip; all else is split.
// CHECK-LABEL: func.func @unknown_rows
// CHECK-SAME: %arg1: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}
// CHECK: stablehlo.tanh %arg0 : tensor<?x3xf32>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @unknown_rows(%x: tensor<?x3xf32>, %y: tensor<4096x1024xf32>) -> (tensor<?x3xf32>, tensor<4096x1024xf32>) {
  %0 = stablehlo.tanh %x : tensor<?x3xf32>
  %1 = stablehlo.tanh %y : tensor<4096x1024xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<4096x1024xf32>
}

// -----

// CHECK-LABEL: func.func @shape_operand
// CHECK: stablehlo.custom_call @my.fill(%arg0, %{{.*}}) {indices_of_shape_operands = dense<1> : tensor<1x1xi64>}
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @shape_operand(%a: tensor<f32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<3> : tensor<1x1xi32>
  %0 = stablehlo.custom_call @my.fill(%a, %c) {indices_of_shape_operands = dense<1> : tensor<1x1xi64>} : (tensor<f32>, tensor<1x1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
