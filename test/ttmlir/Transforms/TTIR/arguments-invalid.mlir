// RUN: ttmlir-opt %s --ttir-propagate-weight-dtype --split-input-file --verify-diagnostics
// expected-error @+1 {{argument 1 of 'name': ttcore.weight_dtype is "bf8"; expected the name of a float format: "f32", "bf16", "bfp_bf8" or "bfp_bf4"}}
func.func @name(%x: tensor<32x32xbf16>, %w: tensor<32x32xbf16> {ttcore.weight_dtype = "bf8"}) { return }

// -----

// expected-error @+1 {{argument 0 of 'integers': ttcore.weight_dtype is "si32"; expected}}
func.func @integers(%w: tensor<32x32xbf16> {ttcore.weight_dtype = "si32"}) { return }

// -----

// expected-error @+1 {{argument 0 of 'kind': ttcore.weight_dtype is 8 : i64; expected}}
func.func private @kind(%w: tensor<32x32xbf16> {ttcore.weight_dtype = 8}) -> ()
