// RUN: ttmlir-opt %s --chlo-pre-serialization-pipeline | FileCheck %s --check-prefix=CHLO
// RUN: ttmlir-opt %s --chlo-pre-serialization-pipeline --stablehlo-legalize-to-vhlo --vhlo-to-version=target=1.0.0 --stablehlo-deserialize | FileCheck %s --check-prefix=BACK

// What has a name keeps it; the rest is written out, within the decompositions, too.
// CHLO-LABEL: func.func @f
// CHLO: stablehlo.composite "chlo.erf" %arg0 {composite_attributes = {}, decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
// CHLO: stablehlo.multiply
// CHLO-NOT: chlo.{{[a-z_]+}} %
// CHLO: func.func private @chlo.erf.impl
// BACK-LABEL: func.func @f
// BACK: stablehlo.composite "chlo.erf"
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.square %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
