// RUN: ttmlir-opt %s --cpu-hoist-manually-tagged --split-input-file --verify-diagnostics

func.func @no_code(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ttir.cumsum' is marked ttir.should_hoist, but the host has no code for it}}
  %0 = "ttir.cumsum"(%x) <{dim = 0 : i64}> {ttir.should_hoist} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
