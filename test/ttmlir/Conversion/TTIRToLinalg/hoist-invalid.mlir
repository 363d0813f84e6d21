// RUN: ttmlir-opt %s --cpu-hoist-manually-tagged --split-input-file --verify-diagnostics

func.func @no_code(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ttir.all_reduce' is marked ttir.should_hoist, but the host has no code for it}}
  %0 = "ttir.all_reduce"(%x) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> {ttir.should_hoist} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
