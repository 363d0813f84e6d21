// RUN: ttmlir-opt %s --stablehlo-refine-arguments="types=tensor<4xf32>,tensor<2x!quant.uniform<i8:f32,0.5>>" | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-refine-arguments="types=tensor<4xf32>,tensor<2x!quant.uniform<i8:f32,0.5>>" --stablehlo-refine-shapes | FileCheck %s --check-prefix=BOTH
// RUN: not ttmlir-opt %s --stablehlo-refine-arguments="types=tensor<4xf32>" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not ttmlir-opt %s --stablehlo-refine-arguments="types=tensor<4xf32>,tensor<2x2xi8>" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not ttmlir-opt %s --stablehlo-refine-arguments="types=tensor<4xf32>,tensr" 2>&1 | FileCheck %s --check-prefix=TEXT

// CHECK: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<?xf32>
// CHECK: %[[SHAPE:.*]] = stablehlo.constant dense<4> : tensor<1xi64>
// CHECK: stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %[[SHAPE]]) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>
// BOTH: func.func @main(%arg0: tensor<4xf32>, %arg1: {{.*}}) -> tensor<4xf32>
// BOTH-NOT: custom_call
// BOTH: stablehlo.add %arg0, %arg0 : tensor<4xf32>
// COUNT: types: has 1; expected one for each of 2 arguments
// OTHER: types: argument 1 is 'tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>', which cannot be refined to 'tensor<2x2xi8>'
// TEXT: types: 'tensr' is no type
func.func @main(%a: tensor<?xf32>, %q: tensor<?x!quant.uniform<i8:f32, 0.5>>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
