// RUN: ttmlir-opt %s --pass-pipeline="builtin.module(func.func(stablehlo-legalize-composite-to-call{except=my.kept}))" | FileCheck %s --check-prefix=CALL
// RUN: ttmlir-opt %s --stablehlo-wrap-in-composite="op-names=stablehlo.tanh,stablehlo.compare version=3" | FileCheck %s --check-prefix=WRAP
// RUN: not ttmlir-opt %s --stablehlo-wrap-in-composite=op-names=stablehlo.while 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// CALL-LABEL: func.func @calls
// CALL: call @double(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CALL: stablehlo.composite "my.kept"
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.double" %x {decomposition = @double} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.kept" %0 {decomposition = @double} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// WRAP-LABEL: func.func @wrap
// WRAP: stablehlo.composite "stablehlo.tanh" %arg0 {{{.*}}decomposition = @stablehlo.tanh.impl, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
// WRAP: stablehlo.composite "stablehlo.compare" %{{.*}}, %arg0 {composite_attributes = {comparison_direction = #stablehlo<comparison_direction LT>}, decomposition = @stablehlo.compare.impl, version = 3 : i32}
// WRAP: func.func private @stablehlo.tanh.impl(%arg0: tensor<4xf32>) -> tensor<4xf32>
// WRAP-NEXT: stablehlo.tanh %arg0
// WRAP-NEXT: return
// WRAP: func.func private @stablehlo.compare.impl(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xi1>
func.func @wrap(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.compare LT, %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// OUTSIDE: 'stablehlo.while' op cannot be wrapped in a composite: its regions use values of outside
func.func @outside(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %x) : tensor<i32>
   cond {
    %less = stablehlo.compare LT, %i, %x, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
   } do {
    stablehlo.return %x : tensor<i32>
   }
  return %0 : tensor<i32>
}
