// RUN: not ttmlir-opt %s --ttnn-layout --convert-ttir-to-ttnn 2>&1 | FileCheck %s
// RUN: not ttmlir-opt %s --ttcore-register-device --convert-ttir-to-ttnn 2>&1 | FileCheck %s --check-prefix=LAYOUT

// CHECK: error: 'ttir.zeros' is not lowered to TTNN: it needs a device but the module has none; run ttcore-register-device first
// LAYOUT: error: 'ttir.zeros' is not lowered to TTNN: it has a tensor without a #ttnn.ttnn_layout; run ttnn-layout first
func.func @f() -> tensor<4xf32> {
  %0 = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
