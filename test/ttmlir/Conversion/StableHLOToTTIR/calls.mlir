// RUN: ttmlir-opt %s --split-input-file --stablehlo-to-ttir-pipeline | FileCheck %s

// Exact values are as good as approximate ones. The initial value says which end is requested.
// CHECK-LABEL: func.func @greatest
func.func @greatest(%x: tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  // By the bits, in the total order of floats.
  // CHECK: %[[BITS:.*]] = "ttir.bitcast_convert"(%arg0)
  // CHECK: %[[KEYS:.*]] = "ttir.where"({{.*}}, %[[BITS]])
  // CHECK: %{{.*}}, %[[PLACES:.*]] = "ttir.topk"(%[[KEYS]]) <{{.*}}k = 3 : i32
  // CHECK: "ttir.gather"(%arg0, %[[PLACES]])
  %i = stablehlo.iota dim = 1 : tensor<2x9xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {called_computations = [@before], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<2x9xf32>, tensor<2x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
func.func private @before(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

// CHECK-LABEL: func.func @least_of_columns
func.func @least_of_columns(%x: tensor<9x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  // CHECK: %[[NEG:.*]] = "ttir.neg"(%arg0)
  // CHECK: %[[ROWS:.*]] = "ttir.permute"(%[[NEG]])
  // CHECK: %{{.*}}, %[[PLACES:.*]] = "ttir.topk"
  // CHECK: %[[TOP:.*]] = "ttir.gather"(%[[ROWS]], %[[PLACES]])
  // CHECK: %[[BACK:.*]] = "ttir.permute"(%[[TOP]])
  // CHECK: "ttir.neg"(%[[BACK]])
  %i = stablehlo.iota dim = 0 : tensor<9x2xi32>
  %greatest = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %greatest, %none) {called_computations = [@before], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<9x2xf32>, tensor<9x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
func.func private @before(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

// Parts of a complex number are no numbers of their own: what the composite is made of is called.
// CHECK-LABEL: func.func @complex(%arg0: tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK-NOT: ttir.sinh
// CHECK: call @chlo.sinh.impl
func.func @complex(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.composite "chlo.sinh" %x {decomposition = @chlo.sinh.impl, version = 1 : i32} : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
func.func private @chlo.sinh.impl(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.negate %x : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @complex_iota
// CHECK: ttir.arange
func.func @complex_iota() -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.iota dim = 0 : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @scatter_subtract
// CHECK: %[[NEG:.*]] = "ttir.neg"(%arg2)
// CHECK: "ttir.scatter"({{.*}}reduce_type<sum>
func.func @scatter_subtract(%x: tensor<4x6xf32>, %i: tensor<2x1xi32>, %u: tensor<2x6xf32>) -> tensor<4x6xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
