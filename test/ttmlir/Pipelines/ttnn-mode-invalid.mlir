// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true available-l1-addr-range=200000,300000" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true default-input-memspace=dram" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true test-assume-l1-capacity=104000" 2>&1 | FileCheck %s --check-prefix=CAPACITY
// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true force-compile-time-args=true" 2>&1 | FileCheck %s --check-prefix=ARGS
// RUN: not ttmlir-opt %S/Inputs/exp.mlir --ttir-to-ttmetal-pipeline="ttnn-mode=true use-tensor-accessor-dma=true" 2>&1 | FileCheck %s --check-prefix=ACCESSOR
// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttir-to-ttmetal-pipeline=ttnn-mode=true

// RANGE: available-l1-addr-range has no effect with ttnn-mode: the executor finds addresses for tensors
// MEMORY: default-input-memspace has no effect with ttnn-mode: arguments lie where their layouts say
// ARGS: force-compile-time-args has no effect with ttnn-mode: addresses of tensors are known when the program runs
// ACCESSOR: use-tensor-accessor-dma has no effect with ttnn-mode: kernels address the pages of a tensor by its layout
// CAPACITY: a buffer of 4096 bytes per core does not fit in L1: of 288 bytes others take 0 at this point

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
