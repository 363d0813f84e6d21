// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline -o %t.mlir
// RUN: not ttmlir-translate %t.mlir --ttnn-to-flatbuffer -o %t.ttnn 2>&1 | FileCheck %s

// CHECK: error: 'ttnn.constant' op value 5000000000 at position 1 of a constant does not fit into si32
func.func @f() -> tensor<2xi64> {
  %0 = "ttir.constant"() <{value = dense<[1, 5000000000]> : tensor<2xi64>}> : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
