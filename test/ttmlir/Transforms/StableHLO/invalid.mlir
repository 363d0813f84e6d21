// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --stablehlo-pipeline

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error@+1 {{splits dimension 0 of 'tensor<6xf32>' into 4 parts by #sdy.sharding<@mesh, [{"y"}]>; expected a divisor of 6}}
func.func @not_divisible(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error@+1 {{'sdy.mesh' op is a second mesh of the module, after @mesh; expected one mesh}}
sdy.mesh @other = <["x"=4, "y"=2]>
func.func @two(%a: tensor<6xf32>) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}

// -----

// expected-error@+1 {{'sdy.mesh' op has 3 axes; expected 2 or fewer}}
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @three(%a: tensor<6xf32>) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @rule(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op xla.sdy.custom_sharding_rule is #sdy.mesh<[]>; expected #sdy.op_sharding_rule}}
  %0 = stablehlo.custom_call @mine(%a) {mhlo.frontend_attributes = {xla.sdy.custom_sharding_rule = "#sdy.mesh<[]>"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
