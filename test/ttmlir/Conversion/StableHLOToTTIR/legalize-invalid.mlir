// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-deprecated-ops))"

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'chlo.erf' op is not expressed in StableHLO; expected static shapes, and elements that it is made for}}
  %0 = chlo.erf %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @unused(%x: tensor<f32>) -> tensor<2xf32> {
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.rng' op is deprecated, and no op stands for it}}
  %0 = stablehlo.rng %x, %x, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
