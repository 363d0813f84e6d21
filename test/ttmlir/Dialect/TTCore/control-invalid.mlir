// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func private @cond(tensor<f32>) -> tensor<i1>
func.func private @body(tensor<f32>) -> tensor<f32>
func.func @fine(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %0 = ttcore.while(@cond, @body, [%x]) : (tensor<f32>) -> tensor<f32>
  %1 = ttcore.case([@body, @body], %i, [%0]) : tensor<i32>, (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @missing(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{calls 'cond', which is not a function of this module}}
  %0 = ttcore.while(@cond, @body, [%x]) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func private @cond(tensor<f32>) -> tensor<2xi1>
func.func private @body(tensor<f32>) -> tensor<f32>
func.func @selector(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{result of 'cond' is 'tensor<2xi1>'; expected a tensor of one element}}
  %0 = ttcore.while(@cond, @body, [%x]) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func private @cond(tensor<f32>) -> tensor<i1>
func.func private @body(tensor<f32>) -> tensor<i1>
func.func @carried(%x: tensor<f32>) -> tensor<i1> {
  // expected-error@+1 {{result 0 is 'tensor<i1>' but input 0 is 'tensor<f32>'; a loop carries values of one type}}
  %0 = ttcore.while(@cond, @body, [%x]) : (tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

func.func private @body(tensor<i32>) -> tensor<f32>
func.func @branch(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  // expected-error@+1 {{input 0 is 'tensor<f32>' but 'body' has 'tensor<i32>'}}
  %0 = ttcore.case([@body], %i, [%x]) : tensor<i32>, (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @no_branches(%i: tensor<i32>) {
  // expected-error@+1 {{has no branches; expected one or more}}
  ttcore.case([], %i, []) : tensor<i32>, () -> ()
  return
}
