// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=enable-cpu-hoisted-const-eval=true | FileCheck %s --check-prefix=CONST

// CHECK: llvm.func @cpu_hoisted_sigmoid_0_helper
// CHECK-NOT: llvm.func @cpu_hoisted_main
// CHECK-LABEL: func.func @main
// CHECK: "debug.host_call"(%{{.*}}) <{function = "cpu_hoisted_sigmoid_0"}>
// CHECK-NOT: forward_cpu_declaration
// CONST: llvm.func @cpu_hoisted_main_const_eval_0_helper
// CONST: func.func private @main_const_eval_0
// CONST: "debug.host_call"(%{{.*}}) <{function = "cpu_hoisted_main_const_eval_0"}>
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<4x4xf32> {
  %0 = "ttir.abs"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "ttir.sigmoid"(%1) {ttir.should_hoist} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
