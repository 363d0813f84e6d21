// RUN: ttmlir-opt %s --ttir-number-ops --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: ttmlir-opt %s --ttir-number-ops --ttir-number-ops --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: ttmlir-opt %s --ttir-number-ops --ttir-inline-functions --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=INLINED

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "ttir.relu"{{.*}} loc(fused<0 : i64>["{{.*}}":{{[0-9]+}}:8])
  %0 = "ttir.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @twice{{.*}} loc(fused<1 : i64>
  // INLINED: "ttir.exp"{{.*}} loc(callsite(fused<2 : i64>[{{.*}}] at fused<1 : i64>[{{.*}}]))
  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// INLINED-NOT: @twice
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "ttir.exp"{{.*}} loc(fused<2 : i64>
  %0 = "ttir.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
