// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error@+1 {{mesh shape 0x4 is not that of 1 to 1024 chips}}
module attributes {t.mesh = #ttcore.mesh<"mesh" = 0x4>} {}

// -----

// expected-error@+1 {{mesh shape 64x64 is not that of 1 to 1024 chips}}
module attributes {t.mesh = #ttcore.mesh<"mesh" = 64x64>} {}

// -----

// expected-error@+1 {{core range ends at (1,1) before it starts at (2,0)}}
module attributes {t.range = #ttcore.core_range<(2,0), (1,1)>} {}

// -----

// expected-error@+1 {{tile 33x32 has a side of 33; expected 4, 8, 16 or 32}}
func.func private @tile(tensor<1x!ttcore.tile<33x32, f32>>)

// -----

// expected-error@+1 {{a tile has a height and a width, found 3 dimensions}}
func.func private @tile(tensor<1x!ttcore.tile<32x32x32, f32>>)

// -----

// expected-error@+1 {{expected 2 dimensions, found 3}}
module attributes {t.core = #ttcore<core_coord 3x5x7>} {}

// -----

// expected-error@+1 {{logical_shape has 2 dimensions but dim_alignments 3}}
module attributes {t.layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 1x32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>} {}

// -----

// expected-error@+1 {{holds 2 ops; expected one builtin.module and nothing else}}
ttcore.device_module {
  builtin.module {}
  builtin.module {}
}

// -----

func.func @cached(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{calls 'nowhere', which is not a function of this module}}
  %0 = ttcore.load_cached(@nowhere, [%a]) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @eval(%a: tensor<3xf32>) -> tensor<2xf32>
func.func @cached(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{input 0 is 'tensor<2xf32>' but 'eval' has 'tensor<3xf32>'}}
  %0 = ttcore.load_cached(@eval, [%a]) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
