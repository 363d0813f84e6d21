// RUN: ttmlir-opt %s --stablehlo-legalize-quantized-op-to-qdq | FileCheck %s --check-prefix=QDQ
// RUN: ttmlir-opt %s --stablehlo-legalize-quantized-op-to-qdq --stablehlo-legalize-qdq-to-quantized-op | FileCheck %s --check-prefix=BACK

// QDQ-LABEL: func.func @add
// QDQ: %[[A:.*]] = stablehlo.uniform_dequantize %arg0 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4xf32>
// QDQ: %[[B:.*]] = stablehlo.uniform_dequantize %arg1
// QDQ: %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<4xf32>
// QDQ: stablehlo.uniform_quantize %[[SUM]] : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
// BACK-LABEL: func.func @add
// BACK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg1 : tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
// BACK-NEXT: return %[[SUM]]
func.func @add(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5>>
}

// A float next to a quantized operand, and a sum that is used twice, stay.
// BACK-LABEL: func.func @mixed
// BACK: stablehlo.add %{{.*}}, %arg1 : tensor<4xf32>
// BACK: %[[M:.*]] = stablehlo.multiply %{{.*}} : tensor<4xf32>
// BACK: return %{{.*}}, %[[M]]
func.func @mixed(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %x: tensor<4xf32>) -> (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4xf32>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  %2 = stablehlo.multiply %0, %0 : tensor<4xf32>
  %3 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return %3, %2 : tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4xf32>
}
