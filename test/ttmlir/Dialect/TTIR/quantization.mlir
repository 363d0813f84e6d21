// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @quant(%x: tensor<4x28xf32>) -> tensor<4x28xf32> {
  // CHECK: ttir.quantize
  %0 = "ttir.quantize"(%x) : (tensor<4x28xf32>) -> tensor<4x28x!quant.uniform<i32:f32, 2.500000e-01:3>>
  // CHECK: ttir.requantize
  %1 = "ttir.requantize"(%0) : (tensor<4x28x!quant.uniform<i32:f32, 2.500000e-01:3>>) -> tensor<4x28x!quant.uniform<i32:f32, 5.000000e-01>>
  // CHECK: ttir.dequantize
  %2 = "ttir.dequantize"(%1) : (tensor<4x28x!quant.uniform<i32:f32, 5.000000e-01>>) -> tensor<4x28xf32>
  return %2 : tensor<4x28xf32>
}
