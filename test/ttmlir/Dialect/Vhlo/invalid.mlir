// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --vhlo-legalize-to-stablehlo

// expected-error @+1 {{vhlo has no type f31_v1}}
"vhlo.create_token_v1"() : () -> !vhlo.f31_v1

// -----

// expected-error @+1 {{vhlo.precision_v1: value is LOW, which is none of its values}}
"vhlo.create_token_v1"() {a = #vhlo.precision_v1<LOW>} : () -> ()

// -----

// expected-error @+1 {{vhlo.integer_v1: value is 1 : i32, an attribute of another kind}}
"vhlo.create_token_v1"() {a = #vhlo.integer_v1<!vhlo.i64_v1, 1 : i32>} : () -> ()

// -----

// expected-error @+1 {{ops of vhlo are written in the generic form, with quotes}}
vhlo.create_token_v1

// -----

// expected-error @+1 {{'vhlo.iota_v1' op has no attribute iota_dimension}}
%0 = "vhlo.iota_v1"() : () -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

// -----

// expected-error @+1 {{'vhlo.sine_v1' is no op of the current version, 1.20.0}}
%0 = "vhlo.sine_v1"(%0) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

// -----

// expected-error @+1 {{'vhlo.constant_v1' has 3 bytes for 'tensor<4xf32>'; expected 16, or 4 for all elements the same}}
%0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<!vhlo.tensor_v1<4x!vhlo.f32_v1>, "0x010203">}> : () -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

// -----

// expected-error @+1 {{'vhlo.constant_v1' has 3 bytes for 'tensor<9xi1>'; expected 2, 9 or one}}
%0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<!vhlo.tensor_v1<9x!vhlo.bool_v1>, "0x010203">}> : () -> !vhlo.tensor_v1<9x!vhlo.bool_v1>

// -----

// expected-error @+1 {{'vhlo.create_token_v1' has the type '!vhlo.witness_v1', which StableHLO has not}}
%0 = "vhlo.create_token_v1"() : () -> !vhlo.witness_v1

// -----

// expected-error @+1 {{'vhlo.iota_v1' has the attribute #vhlo.mesh_axis_v1<#vhlo.string_v1<"x">, 1 : i64>, which this version of StableHLO has not}}
%0 = "vhlo.iota_v1"() <{iota_dimension = #vhlo.mesh_axis_v1<#vhlo.string_v1<"x">, 1>}> : () -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

// -----

// expected-error @+1 {{'vhlo.reverse_v1' has the attribute dimensions #vhlo.string_v1<"x">, which is of another kind}}
%0 = "vhlo.reverse_v1"(%0) <{dimensions = #vhlo.string_v1<"x">}> : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

// -----

// expected-error @+1 {{vhlo.abs_v1 has no attribute 'x'}}
%0 = "vhlo.abs_v1"(%0) <{x = 1 : i32}> : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
