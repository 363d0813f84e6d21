// Composites that no op stands for are calls, or are named.
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s
// RUN: not ttmlir-opt %s --stablehlo-to-ttir-pipeline=enable-composite-to-call=false 2>&1 | FileCheck %s --check-prefix=LEFT

// CHECK-LABEL: func.func @f
// CHECK: "ttir.erf"
// CHECK: call @impl
// LEFT: stablehlo.composite: not converted to TTIR
func.func private @impl(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "chlo.erf" %a {decomposition = @impl, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.composite "my.double" %0 {decomposition = @impl} : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
