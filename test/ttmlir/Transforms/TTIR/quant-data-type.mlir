// RUN: ttmlir-opt %s --ttir-quant-data-type-conversion | FileCheck %s
// RUN: ttmlir-opt %s --ttir-quant-data-type-conversion=target-bit-width=8 | FileCheck %s --check-prefix=SAME
// RUN: ttmlir-opt %s --ttir-quant-data-type-conversion --ttir-quant-data-type-conversion=target-bit-width=8 | FileCheck %s --check-prefix=SAME
// RUN: not ttmlir-opt %s --ttir-quant-data-type-conversion=target-bit-width=12 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not ttmlir-opt %s --ttir-quant-data-type-conversion=target-bit-width=x 2>&1 | FileCheck %s --check-prefix=NUMBER
// WIDTH: error: target-bit-width is 12; expected 8, 16 or 32
// NUMBER: target-bit-width

// CHECK-LABEL: func.func @quantised
// CHECK-SAME: tensor<4x!quant.uniform<i32<-128:127>:f32, 1.000000e-01>>
// SAME-LABEL: func.func @quantised
// SAME-SAME: tensor<4x!quant.uniform<i8:f32, 1.000000e-01>>
func.func @quantised(%x: tensor<4x!quant.uniform<i8:f32, 0.1>>) -> tensor<4x!quant.uniform<i8:f32, 0.1>> {
  // CHECK: "ttir.dequantize"(%arg0) : (tensor<4x!quant.uniform<i32<-128:127>:f32, 1.000000e-01>>) -> tensor<4xf32>
  %0 = "ttir.dequantize"(%x) : (tensor<4x!quant.uniform<i8:f32, 0.1>>) -> tensor<4xf32>
  %1 = "ttir.quantize"(%0) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1>>
  return %1 : tensor<4x!quant.uniform<i8:f32, 0.1>>
}

// Scales of each channel, unsigned values; other types stay.
// CHECK-LABEL: func.func @channels
// CHECK-SAME: !quant.uniform<u32<0:255>:f32:0, {1.000000e-01:1,2.000000e-01:2}>
// CHECK-SAME: tensor<2x2xi8>
func.func @channels(%x: tensor<2x2x!quant.uniform<u8:f32:0, {0.1:1, 0.2:2}>>, %y: tensor<2x2xi8>) { return }
