// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true test-assume-l1-capacity=900000" 2>&1 | FileCheck %s --check-prefix=CAPACITY
// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true default-input-memspace=dram" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true force-spill-to-dram-if-legal=true" 2>&1 | FileCheck %s --check-prefix=SPILL
// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttir-to-ttmetal-pipeline=ttnn-mode=true

// CAPACITY: test-assume-l1-capacity has no effect with ttnn-mode
// MEMORY: default-input-memspace has no effect with ttnn-mode
// SPILL: force-spill-to-dram-if-legal has no effect with ttnn-mode

// expected-error @+1 {{'func.func' is not lowered to D2M: tensor<32x32xf16> has elements that cores do not compute with}}
func.func @half(%x: tensor<32x32xf16>) -> tensor<32x32xf16> {
  %0 = "ttir.exp"(%x) : (tensor<32x32xf16>) -> tensor<32x32xf16>
  return %0 : tensor<32x32xf16>
}

// -----

// expected-error @+1 {{'func.func' is not lowered to D2M: tensor<64x96xf16> has elements}}
func.func @full() -> tensor<64x96xf16> {
  %0 = "ttir.full"() <{shape = array<i32: 64, 96>, fill_value = 1.0 : f32}> : () -> tensor<64x96xf16>
  return %0 : tensor<64x96xf16>
}
