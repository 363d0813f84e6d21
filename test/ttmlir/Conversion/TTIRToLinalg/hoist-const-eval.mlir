// RUN: ttmlir-opt %s --const-eval-hoist-transform --cpu-hoist-const-eval --split-input-file | FileCheck %s

// CHECK: func.func @cpu_hoisted_main_const_eval_0(%[[W:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "forward_cpu"}
// CHECK-NEXT: "ttir.abs"(%[[W]])
// CHECK-LABEL: func.func @main
// CHECK-NEXT: ttcore.load_cached(@main_const_eval_0
// CHECK: func.func private @main_const_eval_0(%[[A:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "const_eval"}
// CHECK-NEXT: %[[R:.*]] = call @cpu_hoisted_main_const_eval_0(%[[A]]) {ttir.cpu_hoisted_call}
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<4x4xf32> {
  %0 = "ttir.abs"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The host has no code for images with a mask: the device evaluates it.
// CHECK-NOT: cpu_module
// CHECK-LABEL: func.func @no_code
// CHECK-NEXT: "ttir.group_norm"
// CHECK-NEXT: "ttir.add"
func.func @no_code(%x: tensor<1x1x4x64xf32>, %w: tensor<1x1x4x64xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %m: tensor<1x2x32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<1x1x4x64xf32> {
  %0 = "ttir.group_norm"(%w, %m) <{num_groups = 2 : i64, epsilon = 1.0e-5 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x1x4x64xf32>, tensor<1x2x32x32xf32>) -> tensor<1x1x4x64xf32>
  %1 = "ttir.add"(%x, %0) : (tensor<1x1x4x64xf32>, tensor<1x1x4x64xf32>) -> tensor<1x1x4x64xf32>
  return %1 : tensor<1x1x4x64xf32>
}

// -----

// Vectors are multiplied on the host, powers of integers stay on the chip.
// CHECK: func.func @cpu_hoisted_vectors_const_eval_0
// CHECK-NEXT: "ttir.matmul"
// CHECK-LABEL: func.func @vectors
// CHECK: "ttir.pow"
func.func @vectors(%x: tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %n: tensor<4xi32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> (tensor<f32>, tensor<4xi32>) {
  %0 = "ttir.matmul"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %1 = "ttir.pow"(%n, %n) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<f32>, tensor<4xi32>
}
