// RUN: not ttmlir-opt %s --ttir-quant-data-type-conversion=target-bit-width=8 2>&1 | FileCheck %s
// CHECK: error: target-bit-width is 8, too narrow for the values of '!quant.uniform<i16:f32, 1.000000e-01>'
func.func @wide(%x: tensor<4x!quant.uniform<i16:f32, 0.1>>) { return }
