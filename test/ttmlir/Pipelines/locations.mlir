// Errors name the place, not how a pass keeps the number of an op.
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s

// CHECK-NOT: fused
// CHECK: model.py:11:0: error: 'ttir.full' op value 300 of attribute 'fill_value' does not fit into 'i8'; expected -128 to 127
// CHECK-NOT: fused
func.func @f() -> tensor<2xi8> {
  %0 = "ttir.full"() <{fill_value = 300 : i32, shape = array<i32: 2>}> : () -> tensor<2xi8> loc("model.py:11")
  return %0 : tensor<2xi8>
}
