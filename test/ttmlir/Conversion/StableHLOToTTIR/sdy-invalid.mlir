// RUN: ttmlir-opt %s --convert-sdy-to-ttcore --split-input-file --verify-diagnostics

// expected-error@+1 {{sdy.mesh: not converted: a mesh of 3 axes; expected 2 or fewer}}
sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>

// -----

// expected-error@+1 {{sdy.mesh: not converted: devices in an order of their own: #sdy.mesh<["x"=2], device_ids=[1, 0]>}}
sdy.mesh @m = <["x"=2], device_ids=[1, 0]>

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"m" = 1x4>]>} {
  // expected-error@+1 {{sdy.mesh: the module has mesh #ttcore.mesh<"m" = 1x4> of that name}}
  sdy.mesh @m = <["x"=2]>
}

// -----

sdy.mesh @m = <["x"=2]>
// expected-error@+1 {{func.func: not converted to TTIR: #sdy.sharding<@m, [{"x"}]> splits a tensor over several devices of mesh #sdy.mesh<["x"=2]>}}
func.func @split(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  // expected-error@+1 {{sdy.all_gather: not converted to TTIR: it exchanges values between several devices of mesh #sdy.mesh<["x"=2]>}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@m, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{sdy.mesh: not converted: mesh shape 1x2048 is not that of 1 to 1024 chips}}
sdy.mesh @m = <["x"=1, "y"=2048]>

// -----

// expected-error@+1 {{mesh has 9223372036854775807 devices; expected 1 to 65536}}
sdy.mesh @m = <["x"=9223372036854775807]>
