// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(stablehlo-aggressive-simplification))" | FileCheck %s --check-prefix=SIMPLE
// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(stablehlo-aggressive-folder))" | FileCheck %s --check-prefix=FOLD
// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(stablehlo-aggressive-folder{fold-op-element-limit=3 optimize-float=false assume-no-undeclared-side-effects=true}))" | FileCheck %s --check-prefix=LIMITS
// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(stablehlo-target-independent-optimization))" | FileCheck %s --check-prefix=BOTH

// Neutral elements: a zero added to a float keeps its sign only if it is negative.
// SIMPLE-LABEL: @neutral
// SIMPLE: %[[SUM:.*]] = stablehlo.add %arg0, %{{.*}} : tensor<4xf32>
// SIMPLE: return %[[SUM]], %arg0, %arg1, %arg1, %arg0, %arg1
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %negative = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %none = stablehlo.constant dense<0> : tensor<4xi32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %ones = stablehlo.constant dense<-1> : tensor<4xi32>
  %0 = stablehlo.add %zero, %x : tensor<4xf32>
  %1 = stablehlo.add %negative, %x : tensor<4xf32>
  %2 = stablehlo.add %none, %i : tensor<4xi32>
  %3 = stablehlo.and %i, %ones : tensor<4xi32>
  %4 = stablehlo.multiply %x, %one : tensor<4xf32>
  %5 = stablehlo.not %i : tensor<4xi32>
  %6 = stablehlo.not %5 : tensor<4xi32>
  return %0, %1, %2, %3, %4, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi32>
}

// The ends of a type are neutral for extrema: infinities of floats, the lowest number of integers by their sign. The other
// ends are not, nor is a number that the elements may exceed.
// SIMPLE-LABEL: @extrema
// SIMPLE: %[[F:.*]] = stablehlo.maximum %arg0, %{{.*}} : tensor<4xf32>
// SIMPLE: %[[U:.*]] = stablehlo.minimum %arg2, %{{.*}} : tensor<4xui8>
// SIMPLE: return %arg0, %arg0, %arg1, %arg2, %arg3, %arg3, %[[F]], %[[U]]
func.func @extrema(%x: tensor<4xf32>, %i: tensor<4xi8>, %u: tensor<4xui8>, %p: tensor<4xi1>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi8>, tensor<4xui8>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xui8>) {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %highest = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
  %least = stablehlo.constant dense<-128> : tensor<4xi8>
  %zero = stablehlo.constant dense<0> : tensor<4xui8>
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %true = stablehlo.constant dense<true> : tensor<4xi1>
  %0 = stablehlo.maximum %x, %lowest : tensor<4xf32>
  %1 = stablehlo.minimum %x, %highest : tensor<4xf32>
  %2 = stablehlo.maximum %i, %least : tensor<4xi8>
  %3 = stablehlo.maximum %u, %zero : tensor<4xui8>
  %4 = stablehlo.maximum %p, %false : tensor<4xi1>
  %5 = stablehlo.minimum %p, %true : tensor<4xi1>
  %6 = stablehlo.maximum %x, %highest : tensor<4xf32>
  %7 = stablehlo.minimum %u, %zero : tensor<4xui8>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<4xf32>, tensor<4xf32>, tensor<4xi8>, tensor<4xui8>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xui8>
}

// Moves that undo each other, or do nothing.
// SIMPLE-LABEL: @moves
// SIMPLE-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1]
// SIMPLE-NEXT: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<2x3x4xf32>) -> tensor<24xf32>
// SIMPLE-NEXT: return %arg0, %arg0, %[[T]], %[[R]], %arg0
func.func @moves(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<24xf32>, tensor<2x3x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = stablehlo.slice %x [0:2, 0:3, 0:4] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %4 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<6x4xf32>) -> tensor<24xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.pad %x, %cst, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %1, %2, %3, %5, %6 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<24xf32>, tensor<2x3x4xf32>
}

// The branch that runs; what is no branch is the last one.
// SIMPLE-LABEL: @branches
// SIMPLE-NEXT: %[[N:.*]] = stablehlo.negate %arg0
// SIMPLE-NEXT: return %[[N]], %arg0
func.func @branches(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.if"(%false) ({ stablehlo.return %x : tensor<f32> }, {
    %n = stablehlo.negate %x : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %1 = "stablehlo.case"(%seven) ({
    %n = stablehlo.negate %x : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }, { stablehlo.return %x : tensor<f32> }) : (tensor<i32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// FOLD-LABEL: @integers
// FOLD-DAG: dense<[-3, 3, -3, 3]> : tensor<4xi8>
// FOLD-DAG: dense<[-1, 5, -3, 3]> : tensor<4xi8>
// FOLD-DAG: dense<[-128, 127, 125, -126]> : tensor<4xi8>
// FOLD-DAG: dense<[true, false, true, false]> : tensor<4xi1>
// FOLD-DAG: dense<[-4, 0, -11, 1]> : tensor<4xi8>
// FOLD-DAG: stablehlo.divide
// FOLD-DAG: dense<[249, 7, 245, 11]> : tensor<4xui8>
// LIMITS-LABEL: @integers
// LIMITS-COUNT-2: stablehlo.divide
func.func @integers() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi1>, tensor<4xi8>, tensor<4xi8>, tensor<4xui8>) {
  %a = stablehlo.constant dense<[-7, 7, -11, 11]> : tensor<4xi8>
  %two = stablehlo.constant dense<[2, 2, 3, 3]> : tensor<4xi8>
  %four = stablehlo.constant dense<4> : tensor<4xi8>
  %zero = stablehlo.constant dense<0> : tensor<4xi8>
  %big = stablehlo.constant dense<[-121, 120, -120, 119]> : tensor<4xi8>
  %0 = stablehlo.divide %a, %two : tensor<4xi8>
  %r = stablehlo.remainder %a, %four : tensor<4xi8>
  %r3 = stablehlo.constant dense<[2, 2, 0, 0]> : tensor<4xi8>
  %1 = stablehlo.add %r, %r3 : tensor<4xi8>
  %2 = stablehlo.add %a, %big : tensor<4xi8>
  %3 = stablehlo.compare LT, %a, %zero, SIGNED : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  %s = stablehlo.constant dense<[1, 9, 0, 3]> : tensor<4xi8>
  %4 = stablehlo.shift_right_arithmetic %a, %s : tensor<4xi8>
  %5 = stablehlo.divide %a, %zero : tensor<4xi8>
  %6 = stablehlo.convert %a : (tensor<4xi8>) -> tensor<4xui8>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi1>, tensor<4xi8>, tensor<4xi8>, tensor<4xui8>
}

// FOLD-LABEL: @floats
// FOLD-DAG: dense<[2.000000e+00, -0.000000e+00]> : tensor<2xf32>
// FOLD-DAG: dense<[1, -2147483648]> : tensor<2xi32>
// FOLD-DAG: dense<[true, false]> : tensor<2xi1>
// FOLD-DAG: dense<[1.414{{.*}}, 0x{{[7F]}}FC00000]> : tensor<2xf32>
// FOLD-DAG: dense<[1.000000e+00, 1.015630e+00]> : tensor<2xbf16>
// LIMITS-LABEL: @floats
// LIMITS: stablehlo.maximum
// LIMITS-NOT: custom_call
func.func @floats() -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xf32>, tensor<2xbf16>) {
  %a = stablehlo.constant dense<[2.0, -0.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %nan = stablehlo.constant dense<[0.0, 0x7FC00000]> : tensor<2xf32>
  %0 = stablehlo.maximum %a, %b : tensor<2xf32>
  %c = stablehlo.constant dense<[1.9, -2147483648.0]> : tensor<2xf32>
  %1 = stablehlo.convert %c : (tensor<2xf32>) -> tensor<2xi32>
  %2 = stablehlo.compare GE, %a, %nan, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %d = stablehlo.constant dense<[2.0, -1.0]> : tensor<2xf32>
  %3 = stablehlo.sqrt %d : tensor<2xf32>
  %h = stablehlo.constant dense<[1.0, 1.0078125]> : tensor<2xbf16>
  %k = stablehlo.constant dense<[1.0, 1.0078125]> : tensor<2xbf16>
  %4 = stablehlo.multiply %h, %k : tensor<2xbf16>
  %5 = stablehlo.custom_call @unused(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xf32>, tensor<2xbf16>
}

// FOLD-LABEL: @rearranged
// FOLD-DAG: {{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi32>
// FOLD-DAG: dense<[4, 3, 2, 1]> : tensor<4xi32>
// FOLD-DAG: dense<[9, 1, 9, 2, 9, 3, 9, 4]> : tensor<8xi32>
// FOLD-DAG: {{\[\[}}1, 2, 1], [3, 4, 3]]> : tensor<2x3xi32>
// FOLD-DAG: dense<> : tensor<0xi32>
// FOLD-DAG: dense<7> : tensor<1000000xi32>
func.func @rearranged() -> (tensor<2x2xi32>, tensor<4xi32>, tensor<8xi32>, tensor<2x3xi32>, tensor<0xi32>, tensor<1000000xi32>) {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %flat = stablehlo.reshape %a : (tensor<2x2xi32>) -> tensor<4xi32>
  %1 = stablehlo.reverse %flat, dims = [0] : tensor<4xi32>
  %2 = stablehlo.pad %flat, %nine, low = [1], high = [0], interior = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  %first = stablehlo.slice %a [0:2, 0:1] : (tensor<2x2xi32>) -> tensor<2x1xi32>
  %3 = stablehlo.concatenate %a, %first, dim = 1 : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  %4 = stablehlo.slice %flat [2:2] : (tensor<4xi32>) -> tensor<0xi32>
  %5 = stablehlo.broadcast_in_dim %seven, dims = [] : (tensor<i32>) -> tensor<1000000xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x2xi32>, tensor<4xi32>, tensor<8xi32>, tensor<2x3xi32>, tensor<0xi32>, tensor<1000000xi32>
}

// BOTH-LABEL: @together
// BOTH-NEXT: return %arg0
func.func @together(%x: tensor<2xi32>) -> tensor<2xi32> {
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %d = stablehlo.constant dense<[-1, -2]> : tensor<2xi32>
  %zero = stablehlo.add %c, %d : tensor<2xi32>
  %0 = stablehlo.add %x, %zero : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// The smaller one of the upper bound and the larger one of the lower bound; bounds may be scalars.
// FOLD-LABEL: @clamped
// FOLD-DAG: %[[I:.*]] = stablehlo.constant dense<[0, 4, 5]> : tensor<3xi32>
// FOLD-DAG: %[[U:.*]] = stablehlo.constant dense<[1, 4, 200]> : tensor<3xui8>
// FOLD-DAG: %[[F:.*]] = stablehlo.constant dense<[0.000000e+00, 1.500000e+00, 2.000000e+00]> : tensor<3xf32>
// FOLD: return %[[I]], %[[U]], %[[F]]
func.func @clamped() -> (tensor<3xi32>, tensor<3xui8>, tensor<3xf32>) {
  %low = stablehlo.constant dense<0> : tensor<i32>
  %high = stablehlo.constant dense<[3, 4, 5]> : tensor<3xi32>
  %i = stablehlo.constant dense<[-7, 4, 9]> : tensor<3xi32>
  %0 = stablehlo.clamp %low, %i, %high : (tensor<i32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %one = stablehlo.constant dense<1> : tensor<ui8>
  %large = stablehlo.constant dense<200> : tensor<ui8>
  %u = stablehlo.constant dense<[0, 4, 255]> : tensor<3xui8>
  %1 = stablehlo.clamp %one, %u, %large : (tensor<ui8>, tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
  %two = stablehlo.constant dense<2.0> : tensor<3xf32>
  %f = stablehlo.constant dense<[-1.0, 1.5, 3.0]> : tensor<3xf32>
  %2 = stablehlo.clamp %zero, %f, %two : tensor<3xf32>
  return %0, %1, %2 : tensor<3xi32>, tensor<3xui8>, tensor<3xf32>
}

// A barrier hands its operand on, and is not folded.
// SIMPLE-LABEL: @barrier
// SIMPLE: stablehlo.optimization_barrier
// FOLD-LABEL: @barrier
// FOLD: stablehlo.optimization_barrier
func.func @barrier() -> tensor<4xi32> {
  %0 = stablehlo.constant dense<3> : tensor<4xi32>
  %1 = stablehlo.optimization_barrier %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
