// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s

// CHECK: constant-range.mlir:[[#@LINE+2]]:{{.*}} error: 'ttir.constant' op value 5000000000 at position 1 does not fit into 'i64', of which the chip holds 32 bits; expected -2147483648 to 2147483647
func.func @f() -> tensor<2xi64> {
  %0 = "ttir.constant"() <{value = dense<[1, 5000000000]> : tensor<2xi64>}> : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
