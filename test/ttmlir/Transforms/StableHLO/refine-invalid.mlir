// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --stablehlo-refine-shapes --stablehlo-check-shape-assertions

func.func @assertion(%a: tensor<3x4xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<3x4xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %large = stablehlo.compare GE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error@+1 {{the batch is 3, not {1}, {x}}}
  stablehlo.custom_call @shape_assertion(%large, %n) {error_message = "the batch is {0}, not {1}, {x}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %b : tensor<?xf32>
}

// -----

func.func @unknown(%b: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %large = stablehlo.compare GE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error@+1 {{'stablehlo.custom_call' op @shape_assertion has a condition that is not constant; expected shapes that are known, as after stablehlo-refine-shapes}}
  stablehlo.custom_call @shape_assertion(%large, %n) {error_message = "{0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %b : tensor<?xf32>
}

// -----

func.func @malformed(%b: tensor<2xi1>) {
  // expected-error@+1 {{@shape_assertion has other operands, results or attributes; expected a condition}}
  stablehlo.custom_call @shape_assertion(%b) : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @wrapper(%b: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{@stablehlo.shape_refinement_operand_wrapper has 0 operands and 1 results; expected operand and shape, and one result}}
  %0 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper() : () -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @twice(%b) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @twice(%b: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{does @twice call itself?}}
  %0 = call @twice(%b) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
