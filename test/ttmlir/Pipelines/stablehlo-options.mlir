// What the pipeline from StableHLO takes, and what it says of parts that are not here.
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline="enable-cpu-fallback=false enable-composite-to-call=false" | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline=enable-arith-to-stablehlo=false | FileCheck %s --check-prefix=WITHOUT
// RUN: not ttmlir-opt %s --stablehlo-to-ttir-pipeline=enable-cpu-fallback=true 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not ttmlir-opt %s --d2m-be-pipeline=fast-math=true 2>&1 | FileCheck %s --check-prefix=BACKEND

// HOST: for the --enable-cpu-fallback option: true is not possible: no op runs on the host; expected false, or nothing
// BACKEND: no such option fast-math

// CHECK-LABEL: func.func @f
// CHECK: "ttir.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
// WITHOUT: arith.constant
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %a, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
