// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --stablehlo-legalize-to-vhlo --vhlo-to-version=target=0.16.0

func.func @new_op(%a: tensor<4xf32>) {
  // expected-error @+1 {{'vhlo.tan_v1' is of version 1.4.0; version 0.16.0 has no such op}}
  %0 = stablehlo.tan %a : tensor<4xf32>
  return
}

// -----

func.func @new_attribute(%a: tensor<4xf32>) {
  // expected-error @+1 {{'vhlo.sine_v2' is of version 1.10.0 and has what sine_v1 cannot say; version 0.16.0 has no such op}}
  %0 = "stablehlo.sine"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @several_operands(%a: tensor<4xf32>) {
  // expected-error @+1 {{'vhlo.all_gather_v2' is of version 1.5.0 and has what all_gather_v1 cannot say}}
  %0:2 = "stablehlo.all_gather"(%a, %a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @new_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{'vhlo.convert_v1' has the type !vhlo.f8E4M3_v1, which version 0.16.0 has not}}
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3>
  return
}

// -----

func.func @promotion(%a: tensor<4xbf16>, %z: tensor<bf16>) {
  // expected-error @+1 {{'vhlo.reduce_v1' makes '!vhlo.f32_v1' of '!vhlo.bf16_v1'; version 0.16.0 keeps the type of elements}}
  %0 = "stablehlo.reduce"(%a, %z) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xbf16>, tensor<bf16>) -> tensor<f32>
  return
}

// -----

func.func @typed_call(%a: tensor<4xf32>) {
  // expected-error @+1 {{'vhlo.custom_call_v1' has a backend_config that is a dictionary, which version 0.16.0 has not}}
  %0 = stablehlo.custom_call @f(%a) {backend_config = {}, api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
