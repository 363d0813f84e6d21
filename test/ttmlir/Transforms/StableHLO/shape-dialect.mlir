// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(shape-legalize-to-stablehlo))" | FileCheck %s
// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(shape-legalize-to-stablehlo))" | ttmlir-opt --stablehlo-refine-shapes | FileCheck %s --check-prefix=REFINED

// CHECK-LABEL: func.func private @broadcast
// CHECK-NOT: shape.
// CHECK: stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: stablehlo.custom_call @shape_assertion(%{{.*}}) {error_message = "Shapes cannot be broadcast to a common one", has_side_effect = true} : (tensor<i1>) -> ()
// CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %{{.*}}, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x4xf32>
func.func private @broadcast(%a: tensor<?x1xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = shape.shape_of %a : tensor<?x1xf32> -> tensor<2xindex>
  %1 = shape.shape_of %b : tensor<4xf32> -> tensor<1xindex>
  %w = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<1xindex>
  %2 = shape.assuming %w -> tensor<?x4xf32> {
    %3 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %4 = stablehlo.dynamic_broadcast_in_dim %a, %3, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    shape.assuming_yield %4 : tensor<?x4xf32>
  }
  return %2 : tensor<?x4xf32>
}

// REFINED-LABEL: func.func @main(%arg0: tensor<3x1xf32>, %arg1: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<12xf32>)
func.func @main(%a: tensor<3x1xf32>, %b: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %c = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %x = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%a, %c) : (tensor<3x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
  %0 = call @broadcast(%x, %b) : (tensor<?x1xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %s = shape.shape_of %0 : tensor<?x4xf32> -> tensor<2xindex>
  %n = shape.num_elements %s : tensor<2xindex> -> index
  %e = shape.from_extents %n : index
  %f = shape.to_extent_tensor %e : !shape.shape -> tensor<1xindex>
  %1 = stablehlo.dynamic_reshape %0, %f : (tensor<?x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?xf32>
}
