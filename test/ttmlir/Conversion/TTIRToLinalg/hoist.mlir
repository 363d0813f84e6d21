// RUN: ttmlir-opt %s --cpu-hoist-manually-tagged --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --cpu-hoist-manually-tagged --cpu-hoist-manually-tagged --split-input-file | FileCheck %s

// Equal ops share a function.
// CHECK: ttcore.cpu_module
// CHECK: func.func @cpu_hoisted_sigmoid_0(%[[X:.*]]: tensor<3x5xf32>) -> tensor<3x5xf32> attributes {tt.function_type = "forward_cpu"}
// CHECK-NEXT: %[[R:.*]] = "ttir.sigmoid"(%[[X]]) :
// CHECK-NEXT: return %[[R]]
// CHECK-NOT: func.func @cpu_hoisted
// CHECK: func.func @shared
// CHECK-NEXT: %[[A:.*]] = call @cpu_hoisted_sigmoid_0(%{{.*}}) {ttir.cpu_hoisted_call}
// CHECK-NEXT: %[[B:.*]] = call @cpu_hoisted_sigmoid_0(%[[A]]) {ttir.cpu_hoisted_call}
// CHECK-NEXT: return %[[B]]
// CHECK: func.func private @cpu_hoisted_sigmoid_0(tensor<3x5xf32>) -> tensor<3x5xf32> attributes {tt.function_type = "forward_cpu_declaration"}
func.func @shared(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = "ttir.sigmoid"(%x) {ttir.should_hoist} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = "ttir.sigmoid"(%0) {ttir.should_hoist} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// -----

// The host has no type for f16.
// CHECK: func.func @cpu_hoisted_abs_0(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK: func.func @half
// CHECK-NEXT: %[[W:.*]] = "ttir.typecast"(%{{.*}}) {{.*}}: (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = call @cpu_hoisted_abs_0(%[[W]])
// CHECK-NEXT: "ttir.typecast"(%[[R]]) {{.*}}: (tensor<4xf32>) -> tensor<4xf16>
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = "ttir.abs"(%x) {ttir.should_hoist} : (tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// Nothing is tagged.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: cpu_module
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: ttcore.cpu_module
// CHECK: ttcore.device_module
// CHECK: call @cpu_hoisted_abs_0
module {
  ttcore.device_module {
    builtin.module {
      func.func @wrapped(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "ttir.abs"(%x) {ttir.should_hoist} : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
  }
}
