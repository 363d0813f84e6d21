// RUN: ttmlir-opt %s --ttcore-mark-functions-as-forward --ttcore-optimization-barrier-fold --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-mark-functions-as-forward --ttcore-optimization-barrier-fold --split-input-file --ttcore-mark-functions-as-forward | FileCheck %s

// CHECK-LABEL: func.func @barriers
// CHECK-SAME: attributes {tt.function_type = "forward_device"}
// CHECK-NEXT: "ttir.add"(%arg1, %arg0)
// CHECK-NEXT: return
func.func @barriers(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = "ttcore.optimization_barrier"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = "ttcore.optimization_barrier"(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
  "ttcore.optimization_barrier"() : () -> ()
  %2 = "ttir.add"(%1, %0#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK: func.func private @helper() {
func.func private @helper() { return }
// CHECK: func.func @marked() attributes {tt.function_type = "const_eval"}
func.func @marked() attributes {tt.function_type = "const_eval"} { return }

// -----

// CHECK: ttcore.cpu_module
// CHECK: func.func @host() attributes {tt.function_type = "forward_cpu"}
ttcore.cpu_module {
  builtin.module {
    func.func @host() { return }
  }
}
