// RUN: ttmlir-opt %s --split-input-file --stablehlo-refine-shapes --stablehlo-canonicalize-dynamism --stablehlo-check-shape-assertions | FileCheck %s

// Sizes are computed, and passed to functions.
// CHECK-LABEL: func.func @main(%arg0: tensor<3x4xf32>) -> (tensor<6x4xf32>, tensor<12xf32>)
// CHECK: stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
// CHECK: stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-NOT: custom_call
// CHECK-NOT: @callee
// CHECK-NOT: @halve
func.func @main(%a: tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<3x4xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %large = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%large, %n) {error_message = "n is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0:2 = call @callee(%n, %a) : (tensor<i32>, tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?x4xf32>, tensor<?xf32>
}
func.func private @callee(%n: tensor<i32>, %a: tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %four = stablehlo.constant dense<4> : tensor<i32>
  %cast = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%a, %n) : (tensor<3x4xf32>, tensor<i32>) -> tensor<?x4xf32>
  %0 = stablehlo.concatenate %cast, %cast, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %count = stablehlo.multiply %n, %four : tensor<i32>
  %half = call @halve(%count) : (tensor<i32>) -> tensor<i32>
  %whole = stablehlo.add %half, %half : tensor<i32>
  %shape = stablehlo.reshape %whole : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_reshape %cast, %shape : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?xf32>
}
func.func private @halve(%n: tensor<i32>) -> tensor<i32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.divide %n, %two : tensor<i32>
  return %0 : tensor<i32>
}

// -----

// Each dynamic op.
// CHECK-LABEL: func.func @ops
// CHECK-SAME: -> (tensor<4xf32>, tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<2x2xf32>, tensor<2x1x4xf32>, tensor<1x2x2x1xf32>, tensor<3x4xi32>)
// CHECK: stablehlo.iota dim = 0 : tensor<4xf32>
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: stablehlo.pad %arg0, %{{.*}}, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x4xf32>
// CHECK: stablehlo.slice %arg0 [1:3, 0:4:2] : (tensor<3x4xf32>) -> tensor<2x2xf32>
// CHECK: "stablehlo.gather"
// CHECK: stablehlo.convolution
// CHECK: stablehlo.bitcast_convert %arg0 : (tensor<3x4xf32>) -> tensor<3x4xi32>
func.func @ops(%a: tensor<3x4xf32>, %i: tensor<2x1xi32>, %x: tensor<1x3x3x1xf32>, %k: tensor<2x2x1x1xf32>)
    -> (tensor<?xf32>, tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?xi32>) {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %0 = stablehlo.dynamic_iota %four, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %shape = stablehlo.constant dense<[2, 3, 4]> : tensor<3xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %a, %shape, dims = [1, 2] : (tensor<3x4xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %edge = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %2 = stablehlo.dynamic_pad %a, %zero, %edge, %edge, %none : (tensor<3x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %limit = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %stride = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %3 = stablehlo.real_dynamic_slice %a, %edge, %limit, %stride : (tensor<3x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %sizes = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
  %4 = "stablehlo.dynamic_gather"(%a, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>}>
    : (tensor<3x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<?x?x?xf32>
  %padding = stablehlo.constant dense<0> : tensor<2x2xi32>
  %5 = "stablehlo.dynamic_conv"(%x, %k, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}>
    : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi32>) -> tensor<?x?x?x?xf32>
  %cast = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%a, %limit) : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %6 = stablehlo.bitcast_convert %cast : (tensor<?x?xf32>) -> tensor<?x?xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?xf32>, tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?xi32>
}

// -----

// The size of a slice is how much further its limit is, wherever it starts.
// CHECK-LABEL: func.func @started(%arg0: tensor<9x4xf32>, %arg1: tensor<1xi32>) -> tensor<2x4xf32>
// CHECK: stablehlo.dynamic_slice %arg0, %{{.*}}, %{{.*}}, sizes = [2, 4]
func.func @started(%x: tensor<9x4xf32>, %i: tensor<1xi32>) -> tensor<?x?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %sizes = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %start = stablehlo.concatenate %i, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %limit = stablehlo.add %start, %sizes : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %one : (tensor<9x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Loops and branches carry what their operands are; a composite gets a decomposition of its own.
// CHECK-LABEL: func.func @regions(%arg0: tensor<3xf32>, %arg1: tensor<i1>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK: stablehlo.while
// CHECK-SAME: tensor<3xf32>
// CHECK: "stablehlo.if"
// CHECK: stablehlo.composite "my.double" %{{.*}} {decomposition = @double_0} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: func.func private @double_0(%arg0: tensor<3xf32>) -> tensor<3xf32>
func.func @regions(%a: tensor<3xf32>, %p: tensor<i1>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %x = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%a, %c) : (tensor<3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<?xf32>
   cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %less = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
   } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %sum = stablehlo.add %v, %v : tensor<?xf32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<?xf32>
   }
  %1 = "stablehlo.if"(%p) ({
    %n = stablehlo.negate %x : tensor<?xf32>
    stablehlo.return %n : tensor<?xf32>
  }, {
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %2 = stablehlo.composite "my.double" %x {decomposition = @double} : (tensor<?xf32>) -> tensor<?xf32>
  return %0#1, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func private @double(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// What custom calls of dynamic shape stand for.
// CHECK-LABEL: func.func @calls
// CHECK-SAME: -> (tensor<4xf32>, tensor<2xui64>, tensor<3xui32>, tensor<2xf32>, tensor<2xi32>)
// CHECK: "stablehlo.reduce_window"(%arg0, %{{.*}}) <{base_dilations = array<i64: 1>, padding = dense<{{.*}}1, 0{{.*}}> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}>
// CHECK: stablehlo.rng_bit_generator %arg1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
// CHECK: chlo.top_k(%arg0, k = 2)
func.func @calls(%a: tensor<4xf32>, %s: tensor<2xui64>) -> (tensor<?xf32>, tensor<2xui64>, tensor<?xui32>, tensor<?xf32>, tensor<?xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %pad = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%a, %zero, %two, %one, %one, %one, %pad) {called_computations = [@sum]}
    : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %1:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %three) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<?xui32>)
  %k = stablehlo.constant dense<2> : tensor<i32>
  %2:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%a, %k) : (tensor<4xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
  return %0, %1#0, %1#1, %2#0, %2#1 : tensor<?xf32>, tensor<2xui64>, tensor<?xui32>, tensor<?xf32>, tensor<?xi32>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Operands that are only shapes go.
// CHECK-LABEL: func.func @shape_operand
// CHECK: stablehlo.custom_call @my.fill(%arg0) : (tensor<f32>) -> tensor<3xf32>
module attributes {test.no_ttir} {
  func.func @shape_operand(%a: tensor<f32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %0 = stablehlo.custom_call @my.fill(%a, %c) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

// Transforms from real numbers keep half of the last dimension, those to real numbers have its size.
// CHECK-LABEL: func.func @transforms
// CHECK-SAME: -> (tensor<4x8xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<4x8xf32>)
module attributes {test.no_ttir} {
  func.func @transforms(%a: tensor<4x8xcomplex<f32>>, %b: tensor<4x8xf32>, %c: tensor<4x5xcomplex<f32>>) -> (tensor<?x8xcomplex<f32>>, tensor<?x5xcomplex<f32>>, tensor<?x8xf32>) {
    %0 = stablehlo.fft %a, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<?x8xcomplex<f32>>
    %1 = stablehlo.fft %b, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<?x5xcomplex<f32>>
    %2 = stablehlo.fft %c, type = IRFFT, length = [8] : (tensor<4x5xcomplex<f32>>) -> tensor<?x8xf32>
    return %0, %1, %2 : tensor<?x8xcomplex<f32>>, tensor<?x5xcomplex<f32>>, tensor<?x8xf32>
  }
}
